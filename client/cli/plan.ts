/** `papilio plan`: prints a schedule, its counts and its proof, or lists all algorithms. */
import { parseArgs } from 'node:util'
import { ArgumentError, ScheduleError } from '../../shared/base/errors.ts'
import { buildPart, buildSchedule, completeSettings } from '../../shared/schedule/build.ts'
import { countRank, countSchedule } from '../../shared/schedule/counts.ts'
import { algorithms, findAlgorithm } from '../../shared/schedule/registry.ts'
import { FORMAT, serializeSchedule, VERSION } from '../../shared/schedule/serialize.ts'
import { formatPart, formatTimetable } from '../../shared/schedule/timetable.ts'
import type { Algorithm, Collective, Counts, ScheduleShape } from '../../shared/schedule/types.ts'
import { type Verification, verifySchedule } from '../../shared/schedule/verify.ts'
import type { Output } from './output.ts'
import { describeAlgorithms, listAlgorithms } from './planList.ts'
import { type PredictRequest, printPrediction } from './planPredict.ts'

/** A whole schedule beyond these is too much for one JSON text; one rank's part is not. */
const MOST_RANKS = 1024
const MOST_RANK_STEPS = 2 ** 20

const flags = {
  algorithm: 'name, default butterfly; --list shows all',
  collective: 'allreduce (default), reduceScatter, allgather, reduce, broadcast, ...',
  size: 'number of ranks',
  rank: 'only the part of this rank',
  bytes: 'with --predict: length of the vector',
  network: 'with --predict: a file (docs/cost-model.md), or guess, loopback, classroom, internet',
  consistency: 'with --predict: fast (default), or identical for the same bits on all ranks',
} as const

const switches = {
  predict: 'price every candidate for --bytes on --network, and say which a group would choose',
  verify: 'prove the schedule: every contribution exactly once, on every rank that should have it',
  json: 'print JSON (docs/schedule-format.md)',
  list: 'list all algorithms; with --size also what they are for that many ranks',
  help: 'this text',
} as const

/** Resolves with the exit status: 0, 1 (the proof failed) or 2 (wrong use). */
export async function plan(argv: readonly string[], out: Output): Promise<number> {
  try {
    const request = readRequest(argv)
    if (request.help) out.line(help())
    else if (request.list) printList(request, out)
    else if (request.predict) printPrediction(request.predict, out)
    else printPlan(request, out)
    return 0
  } catch (error) {
    if (error instanceof ScheduleError) {
      out.error(error.message)
      return 1
    }
    if (!(error instanceof ArgumentError)) throw error
    out.error(`${error.message}\npapilio plan --help says what can be asked.`)
    return 2
  }
}

interface Request {
  readonly help: boolean
  readonly list: boolean
  readonly json: boolean
  readonly verify: boolean
  readonly predict: PredictRequest | undefined
  readonly size: number | undefined
  readonly rank: number | undefined
  readonly algorithm: string
  readonly collective: Collective
  /** As typed: what is a number is for the algorithm's parameters to say. */
  readonly settings: Readonly<Record<string, string>>
}

const parameterNames = () => [...new Set(algorithms.flatMap((a) => a.parameters.map(({ name }) => name)))]

function readRequest(argv: readonly string[]): Request {
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
  const common = {
    json: values.json === true,
    size: wholeNumber('size', text('size')),
    collective: readCollective(text('collective')),
  }
  const predict = {
    ...common,
    bytes: wholeNumber('bytes', text('bytes')),
    network: text('network'),
    consistency: text('consistency'),
    algorithm: text('algorithm'),
    r: text('r'),
  }
  return {
    ...common,
    help: values.help === true,
    list: values.list === true,
    verify: values.verify === true,
    predict: values.predict === true ? predict : undefined,
    rank: wholeNumber('rank', text('rank')),
    algorithm: text('algorithm') ?? 'butterfly',
    settings: Object.fromEntries(settings),
  }
}

function readFlags(
  argv: readonly string[],
  options: Readonly<Record<string, { type: 'string' | 'boolean' }>>,
) {
  try {
    return parseArgs({ args: [...argv], options, strict: true, allowPositionals: false }).values
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new ArgumentError('argv', error.message)
  }
}

function wholeNumber(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  if (!/^\d{1,9}$/.test(value))
    throw new ArgumentError(name, `--${name} takes a whole number, not "${value}"`)
  return Number(value)
}

function readCollective(value: string | undefined): Collective {
  const known = [...new Set(algorithms.map((algorithm) => algorithm.collective))]
  const found = known.find((collective) => collective === (value ?? 'allreduce'))
  if (found === undefined)
    throw new ArgumentError('collective', `--collective is one of ${known.join(', ')}, not "${value}"`)
  return found
}

function printList({ size, json }: Request, out: Output): void {
  if (json) out.line(JSON.stringify(describeAlgorithms(size), null, 2))
  else for (const line of listAlgorithms(size)) out.line(line)
}

function printPlan(request: Request, out: Output): void {
  const { size, rank, json, verify } = request
  if (size === undefined) throw new ArgumentError('size', 'Say for how many ranks: --size 7')
  const algorithm = findAlgorithm(request.algorithm, request.collective)
  const settings = completeSettings(algorithm, size, readSettings(algorithm, size, request.settings))
  const shape = algorithm.shape(size, settings)
  const part = rank === undefined ? undefined : buildPart(algorithm, size, settings, rank)
  const isWhole = part === undefined || verify
  if (isWhole && (size > MOST_RANKS || size * shape.steps > MOST_RANK_STEPS))
    throw new ArgumentError(
      'size',
      `${size} ranks with ${shape.steps} steps are too many to print or prove at once; --rank N makes the part of one rank`,
    )
  const schedule = isWhole ? buildSchedule(algorithm, size, settings) : undefined
  const verification =
    verify && schedule
      ? verifySchedule(schedule, { idempotent: algorithm.restrictions.idempotent })
      : undefined
  const proof = verification === undefined ? {} : { verification }

  if (part !== undefined) {
    const rankCounts = countRank(shape, part)
    if (json) {
      out.line(JSON.stringify({ format: FORMAT, version: VERSION, ...shape, part, rankCounts, ...proof }))
      return
    }
    printHead(algorithm, shape, out)
    out.line(
      `Rank ${rank}: ${rankCounts.messages} messages, ${rankCounts.chunksSent} chunks sent, ${rankCounts.chunkCombines} combined, ${rankCounts.peers} peers.`,
    )
    printProof(verification, out)
    out.line(`\n${formatPart(part)}`)
  } else if (schedule !== undefined) {
    const counts = countSchedule(schedule)
    if (json) {
      out.line(JSON.stringify({ ...serializeSchedule(schedule), counts, ...proof }))
      return
    }
    printHead(algorithm, shape, out)
    printCounts(counts, schedule, out)
    printProof(verification, out)
    out.line(`\n${formatTimetable(schedule, schedule.ranks)}`)
    out.line('\n>4:1-3 sends chunks 1 to 3 to rank 4; + combines what came in.')
  }
}

/** Settings typed as digits are numbers where the parameter takes numbers; 2x3 and xor stay text. */
function readSettings(algorithm: Algorithm, size: number, typed: Readonly<Record<string, string>>) {
  return Object.fromEntries(
    Object.entries(typed).map(([name, value]) => {
      const parameter = algorithm.parameters.find((candidate) => candidate.name === name)
      const takesNumbers = typeof parameter?.values(size)[0] === 'number'
      return [name, takesNumbers ? (wholeNumber(name, value) ?? value) : value]
    }),
  )
}

function printHead(algorithm: Algorithm, { size, settings, collective }: ScheduleShape, out: Output): void {
  const set = Object.entries(settings).map(([name, value]) => `${name} ${value}`)
  out.line(`${[algorithm.title, collective, `${size} ranks`, ...set].join(', ')}`)
  out.line(`Source: ${algorithm.source}`)
  if (algorithm.baseline) out.line('A baseline to compare with; never chosen by itself.')
  const identical = algorithm.identical(size, settings)
  out.line(
    identical
      ? 'Every rank ends with the same bits.'
      : 'Float results may differ between ranks in the last bits.',
  )
}

function printCounts(counts: Counts, { chunks }: ScheduleShape, out: Output): void {
  out.line(
    `${counts.steps} steps; the busiest rank sends ${counts.chunksSentPerRank} chunks, combines ${counts.chunkCombinesPerRank} and has ${counts.peersPerRank} peers. ${
      chunks === 1 ? 'The vector is one chunk.' : `The vector has ${chunks} chunks.`
    }`,
  )
}

function printProof(verification: Verification | undefined, out: Output): void {
  if (verification === undefined) return
  const { identical, ordered, once } = verification
  out.line(
    [
      `Proved: ${once ? 'every contribution exactly once' : 'every contribution, some more than once (idempotent operators only)'}`,
      identical ? 'same bits on all ranks' : 'ranks combine in different orders',
      ordered ? 'operands in rank order' : 'operands not in rank order',
    ].join('; '),
  )
}

function help(): string {
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
