/** What `papilio plan` is asked: its flags, read once and refused in words. */
import { ArgumentError } from '../../shared/base/errors.ts'
import { collectives } from '../../shared/schedule/collectives.ts'
import { algorithms } from '../../shared/schedule/registry.ts'
import type { Algorithm, Collective } from '../../shared/schedule/types.ts'
import { readFlags } from './flags.ts'

const flags = {
  algorithm: 'name; --list shows all. Default: the first that is listed for the collective',
  collective: 'allreduce (default), reduceScatter, allgather, reduce, broadcast, ...',
  size: 'number of ranks',
  rank: 'only the part of this rank',
  bytes: 'with --predict: length of the vector',
  network: 'with --predict: a file (docs/cost-model.md), or guess, loopback, classroom, internet',
  consistency: 'with --predict: identical (default) for the same bits on all ranks, or fast',
} as const

const switches = {
  predict: 'price every candidate for --bytes on --network, and say which a group would choose',
  verify: 'prove the schedule: every contribution exactly once, on every rank that should have it',
  json: 'print JSON (docs/schedule-format.md)',
  list: 'list all algorithms; with --size also what they are for that many ranks',
  help: 'this text',
} as const

export interface PlanRequest {
  readonly help: boolean
  readonly list: boolean
  readonly json: boolean
  readonly verify: boolean
  readonly predict: boolean
  /** With predict the default is that of the network file. */
  readonly size: number | undefined
  readonly rank: number | undefined
  readonly bytes: number | undefined
  /** A name or a file. */
  readonly network: string | undefined
  readonly consistency: string | undefined
  readonly algorithm: string | undefined
  readonly collective: Collective
  /** As typed: what is a number is for the algorithm's parameters to say. */
  readonly settings: Readonly<Record<string, string>>
}

const parameterNames = () => [...new Set(algorithms.flatMap((a) => a.parameters.map(({ name }) => name)))]

/** @throws ArgumentError for a flag that is unknown or has a value that it does not take. */
export function readRequest(argv: readonly string[]): PlanRequest {
  const names = parameterNames()
  const options = {
    ...Object.fromEntries(
      [...Object.keys(flags), ...names].map((name) => [name, { type: 'string' as const }]),
    ),
    ...Object.fromEntries(Object.keys(switches).map((name) => [name, { type: 'boolean' as const }])),
  }
  const values = readFlags(argv, options)
  const text = (name: string) => {
    const value = values[name]
    return typeof value === 'string' ? value : undefined
  }
  const settings = names.flatMap((name) => {
    const value = text(name)
    return value === undefined ? [] : [[name, value] as const]
  })
  return {
    help: values.help === true,
    list: values.list === true,
    json: values.json === true,
    verify: values.verify === true,
    predict: values.predict === true,
    size: wholeNumber('size', text('size')),
    rank: wholeNumber('rank', text('rank')),
    bytes: wholeNumber('bytes', text('bytes')),
    network: text('network'),
    consistency: text('consistency'),
    algorithm: text('algorithm'),
    collective: readCollective(text('collective')),
    settings: Object.fromEntries(settings),
  }
}

function wholeNumber(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  if (!/^\d{1,9}$/.test(value))
    throw new ArgumentError(name, `--${name} takes a whole number, not "${value}"`)
  return Number(value)
}

function readCollective(value: string | undefined): Collective {
  const found = collectives.find((collective) => collective === (value ?? 'allreduce'))
  if (found === undefined)
    throw new ArgumentError('collective', `--collective is one of ${collectives.join(', ')}, not "${value}"`)
  return found
}

/** Settings typed as digits are numbers where the parameter takes numbers; 2x3 and xor stay text. */
export function readSettings(
  parameters: Algorithm['parameters'],
  size: number,
  typed: PlanRequest['settings'],
): Record<string, number | string> {
  return Object.fromEntries(
    Object.entries(typed).map(([name, value]) => {
      const parameter = parameters.find((candidate) => candidate.name === name)
      const takesNumbers = typeof parameter?.values(size)[0] === 'number'
      return [name, takesNumbers ? (wholeNumber(name, value) ?? value) : value]
    }),
  )
}

export function help(): string {
  const rows = [
    ...Object.entries(flags).map(([name, text]) => [`--${name} …`, text] as const),
    ...Object.entries(switches).map(([name, text]) => [`--${name}`, text] as const),
  ]
  return [
    'Usage: papilio plan --size 7 [--algorithm butterfly] [--r 1] [--group xor] ...',
    '',
    ...rows.map(([name, text]) => `  ${name.padEnd(16)}${text}`),
    '',
    `Settings, for the algorithms that have them: ${parameterNames()
      .map((name) => `--${name}`)
      .join(' ')}`,
  ].join('\n')
}
