/** The command `papilio`: finds the subcommand and hands the rest of the line to it. */
import { endWithReader, type Output, standardOutput } from './output.ts'

/** Runs a subcommand; resolves with the exit status. */
type Run = (argv: readonly string[], out: Output) => Promise<number>

interface Command {
  readonly help: string
  /** Loaded when called: a schedule can be printed without loading a server. */
  readonly load: () => Promise<Run>
}

const commands: Readonly<Record<string, Command>> = {
  serve: {
    help: 'start the server and the page',
    load: async () => (await import('./serve.ts')).serve,
  },
  peer: {
    help: 'join a room with peers that need no browser',
    load: async () => (await import('./peer.ts')).peer,
  },
  bench: {
    help: 'time a collective between peers, in the manner of nccl-tests',
    load: async () => (await import('./bench.ts')).bench,
  },
  plan: {
    help: 'print a schedule and what it costs',
    load: async () => (await import('./plan.ts')).plan,
  },
  learn: {
    help: 'train a model together, each peer on samples of its own',
    load: async () => (await import('./learn.ts')).learn,
  },
}

export async function main(argv: readonly string[], out: Output): Promise<number> {
  const [name, ...rest] = argv
  if (name === undefined) {
    out.error(help())
    return 2
  }
  if (name === 'help' || name === '--help' || name === '-h') {
    out.line(help())
    return 0
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!command) {
    out.error(`There is no command ${name}.\n\n${help()}`)
    return 2
  }
  const run = await command.load()
  return run(rest, out)
}

function help(): string {
  const names = Object.keys(commands)
  const width = Math.max(...names.map((name) => name.length))
  return [
    'Usage: papilio <command> [options]',
    '',
    ...names.map((name) => `  ${name.padEnd(width)}  ${commands[name]?.help}`),
    '',
    'papilio <command> --help says what a command takes.',
  ].join('\n')
}

if (import.meta.filename === process.argv[1]) {
  endWithReader()
  process.exitCode = await main(process.argv.slice(2), standardOutput)
}
