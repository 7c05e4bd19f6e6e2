/** What `papilio bench` is asked: the flags of nccl-tests and some more, read once and refused in words. */
import { ArgumentError } from '../../shared/base/errors.ts'
import { typeNamed } from '../../shared/bench/format.ts'
import { type BenchPlan, type BenchRequest, baselines, completePlan } from '../../shared/bench/plan.ts'
import { isRoomCode } from '../../shared/signaling/events.ts'
import { limits } from '../../shared/signaling/limits.ts'
import { type DType, dtypes } from '../../shared/wire/dtype.ts'
import { type OperatorName, operatorNames } from '../../shared/wire/operator.ts'
import { readFlags } from './flags.ts'

/** help, letter */
const flags = {
  peers: ['peers on this machine [4]', 'p'],
  collective: [
    'allreduce [allreduce], reduceScatter, allgather, reduce, broadcast, gather, scatter, alltoall, barrier',
    undefined,
  ],
  minbytes: ['smallest size; K, M and G are 1024 each [8]', 'b'],
  maxbytes: ['largest size [4M]', 'e'],
  stepfactor: ['from size to size: times [4]', 'f'],
  stepbytes: ['from size to size: plus, instead of a factor', 'i'],
  iters: ['timed iterations of each size and row [20]', 'n'],
  warmup_iters: ['iterations before them, not timed, one at least [5]', 'w'],
  agg_iters: ['calls in a row that are timed as one [1]', 'm'],
  check: ['calls whose results are compared with the exact ones; 0: none [1]', 'c'],
  op: ['sum, avg, prod, min, max, band, bor, bxor, a list of them, or all [sum]', 'o'],
  datatype: ['float, double, half, bfloat16, int8 ... uint64, a list of them, or all [float]', 'd'],
  root: ['rank that gives or gets, or all [0]', 'r'],
  average: ['time of an iteration: 0 rank 0, 1 mean, 2 fastest, 3 slowest rank [3]', 'a'],
  run_cycles: ['all of it so many times [1]', 'N'],
  timeout: ['seconds that one call may take [60]', 'T'],
  algo: ['auto, all, or names: ring,butterfly:r=1,ports:ports=3 [auto]', undefined],
  'steps-removed': ['r of the algorithms that have one: a number, auto or all [auto]', undefined],
  r: ['the same', undefined],
  baseline: ['compare with raw (the same channels without Papilio), star, send-to-all; a list', undefined],
  consistency: ['what auto may choose: identical (same bits on all ranks) or fast [identical]', undefined],
  'time-per-size': ['no more than so many seconds for the timed iterations of a size', undefined],
  seed: ['of the values [1]', undefined],
  format: ['nccl, osu, csv, json or jsonl [nccl]', undefined],
  unit: ['of bandwidths in the nccl format: GB/s or MB/s [GB/s]', undefined],
  'min-bw': ['fail when the average bus bandwidth is below 90 % of so many GB/s', undefined],
  output_file: ['also write the result as JSON; a file that is there is kept', 'J'],
  trace: ['write what moved when in the last timed call of the largest size, for Perfetto', undefined],
  room: ['of a server: with the peers of other machines that are in it', undefined],
  url: [
    'address of that server [http://localhost:3000]. Default: a server of its own on this machine',
    undefined,
  ],
  size: ['with --room: peers on all machines together', undefined],
  processes: [
    'processes, or tabs, to spread the peers over [one for each peer; 8 processes at most]',
    undefined,
  ],
} as const

const switches = {
  browser: [
    'peers in tabs of a Chromium, which is found (PAPILIO_CHROMIUM names another) and started',
    undefined,
  ],
  'no-in-place': ['only with results in a place of their own', undefined],
  report_timestamps: ['time of day at the head of each row', 'S'],
  plain: ['only the columns of nccl-tests', undefined],
  quiet: ['no progress on standard error', 'q'],
  'no-color': ['no colours', undefined],
  help: ['this text', 'h'],
} as const

const formats = ['nccl', 'osu', 'csv', 'json', 'jsonl'] as const
export type FormatName = (typeof formats)[number]

export interface BenchCommand {
  readonly plan: BenchPlan
  readonly peers: number
  /** On all machines. */
  readonly size: number
  /** Or tabs. */
  readonly processes: number
  readonly isInBrowser: boolean
  /** Undefined: a server of its own. */
  readonly place: { readonly url: URL; readonly room: string } | undefined
  readonly format: FormatName
  readonly unit: 'GB/s' | 'MB/s'
  readonly minBandwidth: number | undefined
  readonly outputFile: string | undefined
  readonly traceFile: string | undefined
  readonly hasTimestamps: boolean
  readonly isPlain: boolean
  readonly isQuiet: boolean
  readonly hasColor: boolean
}

/** Beyond this the machine has nothing left to measure with. */
const mostProcesses = 8
const factors: Readonly<Record<string, number>> = { '': 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3 }

/** Undefined: help is asked for. @throws ArgumentError for a flag that is unknown or has a value that it does not take. */
export function readBenchRequest(argv: readonly string[]): BenchCommand | undefined {
  const option = (type: 'string' | 'boolean', short: string | undefined) => ({
    type,
    ...(short && { short }),
  })
  const values = readFlags(argv, {
    ...Object.fromEntries(Object.entries(flags).map(([name, [, short]]) => [name, option('string', short)])),
    ...Object.fromEntries(
      Object.entries(switches).map(([name, [, short]]) => [name, option('boolean', short)]),
    ),
  })
  if (values.help) return undefined
  const text = (name: keyof typeof flags) => values[name] as string | undefined
  const whole = (name: keyof typeof flags, least: number, most: number) =>
    numberOf(name, text(name), least, most, true)
  const real = (name: keyof typeof flags, most: number) => numberOf(name, text(name), 0, most, false)
  const among = <T extends string>(name: keyof typeof flags, known: readonly T[]) => {
    const typed = text(name)
    const found = known.find((each) => each === typed)
    if (typed !== undefined && found === undefined)
      throw new ArgumentError(name, `--${name} is one of ${known.join(', ')}, not "${typed}"`)
    return found
  }

  const peers = whole('peers', 1, limits.peersPerRoom) ?? 4
  const isInBrowser = values.browser === true
  const place = placeOf(text('room'), text('url'))
  const size = whole('size', 1, limits.peersPerRoom) ?? peers
  if (size < peers)
    throw new ArgumentError('size', `--size ${size} is fewer than the ${peers} peers of --peers alone`)
  if (size > peers && !place)
    throw new ArgumentError('size', '--size needs --room: where the other peers are')
  return {
    plan: planOf(),
    peers,
    size,
    processes: Math.min(whole('processes', 1, 64) ?? (isInBrowser ? peers : mostProcesses), peers),
    isInBrowser,
    place,
    format: among('format', formats) ?? 'nccl',
    unit: among('unit', ['GB/s', 'MB/s']) ?? 'GB/s',
    minBandwidth: real('min-bw', 1e6),
    outputFile: text('output_file'),
    traceFile: text('trace'),
    hasTimestamps: values.report_timestamps === true,
    isPlain: values.plain === true,
    isQuiet: values.quiet === true,
    hasColor: values['no-color'] !== true,
  }

  function planOf(): BenchPlan {
    const minBytes = bytesOf('minbytes', text('minbytes'))
    const stepBytes = bytesOf('stepbytes', text('stepbytes'))
    const factor = real('stepfactor', 1e6)
    if (stepBytes !== undefined && factor !== undefined)
      throw new ArgumentError('stepfactor', 'Give --stepfactor or --stepbytes, not both')
    const removed = removedOf(text('steps-removed') ?? text('r'))
    const dtypesAsked = typesOf(text('datatype'))
    const ops = operatorsOf(text('op'))
    const average = whole('average', 0, 3)
    const typedRoot = text('root')
    const root = typedRoot === 'all' ? typedRoot : whole('root', 0, limits.peersPerRoom)
    const algorithms = namesOf(text('algo'))
    const baseline = text('baseline')?.split(',')
    const request = {
      collective: text('collective'),
      minBytes,
      // As in nccl-tests: a smallest size above the usual largest one is the only one.
      maxBytes:
        bytesOf('maxbytes', text('maxbytes')) ??
        (minBytes === undefined ? undefined : Math.max(minBytes, 4 * 1024 ** 2)),
      step: stepBytes !== undefined ? { bytes: stepBytes } : factor === undefined ? undefined : { factor },
      dtypes: dtypesAsked,
      ops,
      root,
      // Who asks for r asks for the algorithm that has it.
      algorithms: algorithms ?? (removed === undefined ? undefined : ['butterfly']),
      stepsRemoved: removed,
      baselines: baseline,
      consistency: text('consistency'),
      iterations: whole('iters', 1, 100_000),
      warmup: whole('warmup_iters', 0, 100_000),
      aggregate: whole('agg_iters', 1, 100_000),
      check: whole('check', 0, 100_000),
      average: average === undefined ? undefined : (['rank0', 'avg', 'min', 'max'] as const)[average],
      inPlace: values['no-in-place'] ? false : undefined,
      cycles: whole('run_cycles', 1, 100_000),
      secondsPerSize: real('time-per-size', 86_400),
      timeoutSeconds: real('timeout', 86_400),
      seed: whole('seed', 0, 2 ** 32 - 1),
      trace: text('trace') === undefined ? undefined : true,
    }
    const known = baselines as readonly string[]
    const wrong = baseline?.find((name) => !known.includes(name))
    if (wrong !== undefined)
      throw new ArgumentError('baseline', `--baseline is a list of ${known.join(', ')}, not "${wrong}"`)
    // The schema says whether the words are known.
    return completePlan(withoutUndefined(request) as BenchRequest)
  }
}

function withoutUndefined(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined))
}

function numberOf(
  name: string,
  typed: string | undefined,
  least: number,
  most: number,
  isWhole: boolean,
): number | undefined {
  if (typed === undefined) return undefined
  const value = Number(typed)
  if (typed.trim() === '' || !(value >= least && value <= most) || (isWhole && !Number.isInteger(value)))
    throw new ArgumentError(
      name,
      `--${name} is a ${isWhole ? 'whole ' : ''}number from ${least} to ${most}, not "${typed}"`,
    )
  return value
}

/** 1K is 1024 bytes. */
function bytesOf(name: string, typed: string | undefined): number | undefined {
  if (typed === undefined) return undefined
  const match = /^(\d+(?:\.\d+)?)([KMG]?)B?$/.exec(typed.trim().toUpperCase())
  if (!match) throw new ArgumentError(name, `--${name} is a size such as 425, 64K or 4M, not "${typed}"`)
  return Math.floor(Number(match[1]) * factors[match[2]!]!)
}

function removedOf(typed: string | undefined): number | 'auto' | 'all' | undefined {
  if (typed === 'auto' || typed === 'all') return typed
  return numberOf('steps-removed', typed, 0, 32, true)
}

/** A comma also stands between the settings of one algorithm: what has an = and no colon belongs to the one before. */
function namesOf(typed: string | undefined): string[] | undefined {
  return typed?.split(',').reduce<string[]>((names, piece) => {
    const last = names.at(-1)
    if (last?.includes(':') && piece.includes('=') && !piece.includes(':'))
      names[names.length - 1] = `${last},${piece}`
    else names.push(piece)
    return names
  }, [])
}

function typesOf(typed: string | undefined): DType[] | undefined {
  if (typed === 'all') return Object.keys(dtypes) as DType[]
  return typed?.split(',').map((name) => {
    const found = typeNamed(name)
    if (found) return found
    throw new ArgumentError(
      'datatype',
      `--datatype is float, double, half, bfloat16, int8 ... uint64, or one of ${Object.keys(dtypes).join(', ')}, not "${name}"`,
    )
  })
}

function operatorsOf(typed: string | undefined): OperatorName[] | undefined {
  if (typed === 'all') return [...operatorNames]
  return typed?.split(',').map((name) => {
    const found = operatorNames.find((op) => op === (name === 'avg' ? 'mean' : name))
    if (found) return found
    throw new ArgumentError('op', `--op is one of sum, avg, prod, min, max, band, bor, bxor, not "${name}"`)
  })
}

function placeOf(room: string | undefined, address: string | undefined): BenchCommand['place'] {
  if (room === undefined) {
    if (address === undefined) return undefined
    throw new ArgumentError('url', '--url needs --room: the code of a room there')
  }
  const code = room.trim().toLowerCase()
  if (!isRoomCode(code))
    throw new ArgumentError('room', `--room is letters and digits, with hyphens, not "${room}"`)
  const typed = address ?? 'http://localhost:3000'
  const url = URL.canParse(typed) ? new URL(typed) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return { url, room: code }
  throw new ArgumentError('url', `--url is an address such as http://192.168.0.5:3000, not "${typed}"`)
}

export function benchHelp(): string {
  const row = ([name, [help, short]]: readonly [string, readonly [string, string | undefined]], value = '') =>
    [`${short ? `-${short}, ` : '    '}--${name}${value}`, help] as const
  const rows = [
    ...Object.entries(flags).map((entry) => row(entry, ` ${entry[0].toUpperCase()}`)),
    ...Object.entries(switches).map((entry) => row(entry)),
  ]
  const width = Math.max(...rows.map(([flag]) => flag.length))
  return [
    'Usage: papilio bench [-p 7] [-b 8] [-e 4M] [-f 4] [--algo all] [--baseline raw,star,send-to-all] ...',
    '',
    'Times a collective between peers, checks its results, and prints the table of nccl-tests. With --room the same command on',
    'several machines makes one group. Ends with 0 when all went well, 1 after wrong values or a bandwidth below --min-bw, 2 for a',
    'wrong flag, 3 when there is no group, 4 for another version, 5 when the room is full, locked or unknown, 6 when a peer was',
    'lost, 130 when it was interrupted; what was measured until then is printed and written.',
    '',
    ...rows.map(([flag, help]) => `  ${flag.padEnd(width)}  ${help}`),
  ].join('\n')
}
