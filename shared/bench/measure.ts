/**
 * One size on one rank: all variants in turns, so that whatever disturbs the machine disturbs them alike. A timed iteration begins after a
 * barrier and ends when this rank has its result; what the ranks have seen is put together afterwards by a call of the group itself.
 */
import type { Clock } from '../base/clock.ts'
import { AbortedError } from '../base/errors.ts'
import type { CollectiveOptions, Group, Report, TraceMessage } from '../collective/types.ts'
import { dtypes, type NumericArray } from '../wire/dtype.ts'
import type { BenchCase, BenchPlan } from './plan.ts'
import type { Values } from './values.ts'
import type { Variant } from './variants.ts'

/** Bytes to send to and to expect from a rank. */
export interface LinkTraffic {
  readonly rank: number
  readonly sent: number
  readonly received: number
}

/** The channels of the group, driven without it. */
export interface RawLinks {
  /** Every rank at once moves so many bytes; seconds until all of this rank's have arrived. */
  move(traffic: readonly LinkTraffic[]): Promise<number>
}

/** In the order in which a variant runs in them. */
export const modes = ['outOfPlace', 'inPlace'] as const
export type Mode = (typeof modes)[number]

export interface MeasureConfig {
  readonly group: Group
  readonly plan: BenchPlan
  readonly variants: readonly Variant[]
  readonly clock: Clock
  /** Smallest difference that the clock of any rank shows, seconds. */
  readonly tick: number
  readonly raw?: RawLinks | undefined
  readonly signal?: AbortSignal | undefined
  /** After each timed iteration. */
  onIteration(done: number, total: number): void
}

/** A series of a variant in a mode. */
export interface Series {
  readonly variant: number
  readonly mode: Mode
}

export interface Measured {
  readonly series: readonly Series[]
  readonly iterations: number
  /** Calls that are timed as one. */
  readonly aggregate: number
  /** seconds[rank][series][iteration], of one call. */
  readonly seconds: readonly (readonly (readonly number[])[])[]
  /** Wrong elements of all checked calls on all ranks, by series; undefined where none was checked. */
  readonly wrong: readonly (number | undefined)[]
  /** By variant: this rank's report of the last call; of raw channels none. */
  readonly reports: readonly (Report | undefined)[]
  /** By variant: bytes that the busiest rank has sent in one call. */
  readonly bytesSent: readonly number[]
}

/** A clock is read this often within what is timed, or several calls are timed as one. */
const leastTicks = 20
const mostAggregate = 64

export async function measureCase(
  config: MeasureConfig,
  given: BenchCase,
  values: Values,
): Promise<Measured> {
  const { group, plan, variants, clock, tick, onIteration } = config
  const series = variants.flatMap((variant, at): Series[] => {
    const isBoth = plan.inPlace && plan.collective !== 'barrier' && variant.baseline !== 'raw'
    return modes.slice(0, isBoth ? 2 : 1).map((mode) => ({ variant: at, mode }))
  })
  const calls = createCalls(config, given, values)
  const reports: (Report | undefined)[] = variants.map(() => undefined)
  const time = async ({ variant, mode }: Series, times: number) => {
    await calls.begin()
    const { options, of } = variants[variant]!
    const begin = clock.now()
    if (of === undefined) for (let i = 0; i < times; i++) reports[variant] = await calls.run(options, mode)
    else return await calls.move(reports[of]!)
    return (clock.now() - begin) / times
  }

  calls.prepare('outOfPlace')
  const first: number[] = []
  for (let warmup = 0; warmup < Math.max(1, plan.warmup); warmup++)
    for (const [at, each] of series.entries()) first[at] = await time(each, 1)
  const slowest = await agree(first, Math.max)
  const fastest = await agree(first, Math.min)

  const needed = tick > 0 ? Math.ceil((leastTicks * tick) / Math.max(Math.min(...fastest), tick)) : 1
  const aggregate = Math.max(plan.aggregate, Math.min(needed, mostAggregate))
  const round = slowest.reduce((sum, seconds) => sum + seconds * aggregate, 0)
  const most = plan.secondsPerSize === undefined ? plan.iterations : Math.floor(plan.secondsPerSize / round)
  const iterations = Math.max(1, Math.min(plan.iterations, most))

  const own = series.map((): number[] => [])
  for (let iteration = 0; iteration < iterations; iteration++) {
    for (const [at, each] of series.entries()) own[at]!.push(await time(each, aggregate))
    onIteration(iteration + 1, iterations)
  }

  const wrong = series.map(() => 0)
  const isChecked = series.map(({ variant }) => plan.check > 0 && variants[variant]!.of === undefined)
  for (let check = 0; check < plan.check; check++)
    for (const [at, { variant, mode }] of series.entries()) {
      if (!isChecked[at]) continue
      calls.prepare(mode)
      await calls.run(variants[variant]!.options, mode)
      wrong[at]! += calls.countWrong()
    }

  const sent = reports.map((report) => report?.bytesSent ?? 0)
  const rows = await share([...wrong, ...sent, ...own.flat()])
  const column = (place: number) => rows.map((row) => row[place]!)
  return {
    series,
    iterations,
    aggregate,
    seconds: rows.map((row) =>
      series.map((_, at) => {
        const begin = series.length + variants.length + at * iterations
        return [...row.subarray(begin, begin + iterations)]
      }),
    ),
    wrong: series.map((_, at) =>
      isChecked[at] ? column(at).reduce((sum, count) => sum + count, 0) : undefined,
    ),
    reports,
    bytesSent: variants.map(({ of }, at) => Math.max(...column(series.length + (of ?? at)))),
  }

  /** The same numbers of every rank, by rank. */
  async function share(numbers: readonly number[]): Promise<Float64Array[]> {
    const { data } = await group.allgather(Float64Array.from(numbers), calls.options)
    return Array.from({ length: group.size }, (_, rank) =>
      data.subarray(rank * numbers.length, (rank + 1) * numbers.length),
    )
  }

  async function agree(numbers: readonly number[], choose: (...values: number[]) => number) {
    const rows = await share(numbers)
    return numbers.map((_, at) => choose(...rows.map((row) => row[at]!)))
  }
}

/** Every rank has its result when it has heard of all others. */
const asBarrier = { op: 'max', algorithm: 'dissemination', settings: { ports: 'auto' } } as const

/** The calls of one size, on buffers that are made once. */
function createCalls(config: MeasureConfig, { dtype, op, root, amounts }: BenchCase, values: Values) {
  const { group, plan, raw, signal } = config
  const { rank, size } = group
  const { collective } = plan
  const { sent, received, count: part } = amounts
  const source = dtypes[dtype].create(sent)
  // As in nccl-tests: in place, input and result overlap where they would if the result took the input's memory.
  const target = dtypes[dtype].create(Math.max(sent, received))
  const own = <T extends NumericArray>(array: T, length: number) =>
    length === array.length ? array : (array.subarray(rank * part, rank * part + length) as T)
  const input = (mode: Mode) => (mode === 'outOfPlace' ? source : own(target, sent))
  const output = (mode: Mode) =>
    mode === 'outOfPlace' ? target.subarray(0, received) : own(target, received)
  const getsNothing = (collective === 'reduce' || collective === 'gather') && rank !== root
  const options: CollectiveOptions = {
    epoch: group.epoch,
    onPeerLost: 'abort',
    timeoutMs: plan.timeoutSeconds * 1000,
  }
  let last: Mode = 'outOfPlace'

  return {
    options,
    /** The input as it must be, and a result that would be seen to be wrong. */
    prepare(mode: Mode) {
      new Uint8Array(target.buffer).fill(0xa5)
      values.fill(rank, source)
      if (mode === 'inPlace') values.fill(rank, input(mode))
    },
    countWrong: () => (getsNothing ? 0 : values.countWrong(rank, output(last), part)),
    /**
     * A barrier that also asks all ranks whether one wants to stop. (Giving up a call that some ranks have had already would leave them waiting
     * in the next one.)
     */
    async begin() {
      const wish = Int32Array.of(signal?.aborted ? 1 : 0)
      const { data } = await group.allreduce(wish, { ...options, ...asBarrier })
      if (data[0]) throw new AbortedError('The benchmark was stopped.')
    },
    run(asked: Variant['options'], mode: Mode): Promise<Report> {
      last = mode
      return start(asked, mode)
    },
    /** What a call has moved, once more and raw. */
    move: ({ messages }: Report) => raw!.move(trafficOf(messages, size)),
  }

  async function start(asked: Variant['options'], mode: Mode): Promise<Report> {
    const call = { ...options, ...asked, dtype }
    if (collective === 'barrier') {
      const { dtype: _, ...rest } = call
      return await group.barrier(rest)
    }
    const combined = { ...call, ...(op && { op }) }
    const into = getsNothing ? {} : { into: output(mode) }
    const data = input(mode)
    switch (collective) {
      case 'allreduce':
        return (await group.allreduce(data, { ...combined, ...into })).report
      case 'reduceScatter':
        return (await group.reduceScatter(data, { ...combined, ...into })).report
      case 'reduce':
        return (await group.reduce(data, { ...combined, ...into, root })).report
      case 'allgather':
        return (await group.allgather(data, { ...call, ...into })).report
      case 'alltoall':
        return (await group.alltoall(data, { ...call, ...into })).report
      case 'broadcast':
        return (await group.broadcast(data, { ...call, ...into, root })).report
      case 'gather':
        return (await group.gather(data, { ...call, ...into, root })).report
      case 'scatter':
        return (await group.scatter(data, { ...call, ...into, root })).report
    }
  }
}

function trafficOf(messages: readonly TraceMessage[], size: number): LinkTraffic[] {
  const sent = new Array<number>(size).fill(0)
  const received = new Array<number>(size).fill(0)
  for (const { peer, bytes, direction } of messages) (direction === 'send' ? sent : received)[peer]! += bytes
  return sent.flatMap((bytes, rank) =>
    bytes + received[rank]! > 0 ? [{ rank, sent: bytes, received: received[rank]! }] : [],
  )
}
