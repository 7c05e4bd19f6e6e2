/**
 * A benchmark over any group: every rank calls `runBench` with the same plan and gets the same rows, one size after the other, as they come.
 * Needs nothing but the calls of a group, so that tabs, headless peers and a group in memory are measured by the same code.
 */
import type { Clock } from '../base/clock.ts'
import { ArgumentError } from '../base/errors.ts'
import type { Group } from '../collective/types.ts'
import type { BenchEnd, BenchEvent, Row } from './events.ts'
import { type MeasureConfig, measureCase, type RawLinks } from './measure.ts'
import { type BenchCase, type BenchPlan, casesOf } from './plan.ts'
import { meetRanks, shareTrace, tickOf } from './ranks.ts'
import { rowsOf } from './rows.ts'
import { createValues, type Values } from './values.ts'
import { type Variant, variantsOf } from './variants.ts'

export interface BenchOptions {
  readonly clock: Clock
  /** Browser or runtime with its version, for the head of the table. */
  readonly agent: string
  /** Ends the benchmark on all ranks, before the next timed call; rows that were told stay valid. */
  readonly signal?: AbortSignal
  /** Needed for the baseline `raw`, on every rank. */
  readonly raw?: RawLinks
  readonly onEvent?: (event: BenchEvent) => void
}

/**
 * Every rank of the group calls it, with the same plan.
 *
 * @throws ArgumentError for a plan that this group cannot carry out, before anything is sent
 * @throws AbortedError, PeerLostError, EpochError, TimeoutError: it ended early, on all ranks
 */
export async function runBench(group: Group, plan: BenchPlan, options: BenchOptions): Promise<BenchEnd> {
  const { clock, agent, signal, raw, onEvent = () => {} } = options
  const { size } = group
  const cases = casesOf(plan, size)
  // What cannot be asked for is refused before anything runs.
  const byOperator = new Map(cases.map(({ op }) => [op, variantsOf(plan, size, op)]))
  if (plan.baselines.includes('raw') && !raw)
    throw new ArgumentError(
      'baselines',
      'These peers cannot drive their channels raw: leave the baseline raw away.',
    )
  return measureAll({ group, plan, clock, raw, signal, cases, byOperator, agent, onEvent })
}

interface Work extends Pick<MeasureConfig, 'group' | 'plan' | 'clock' | 'raw' | 'signal'> {
  readonly cases: readonly BenchCase[]
  readonly byOperator: ReadonlyMap<BenchCase['op'], readonly Variant[]>
  readonly agent: string
  readonly onEvent: (event: BenchEvent) => void
}

async function measureAll({ cases, byOperator, agent, onEvent, ...common }: Work): Promise<BenchEnd> {
  const { group, plan, clock } = common
  const { collective, seed } = plan
  const begin = clock.now()
  const ranks = await meetRanks(group, { agent, tick: tickOf(clock) })
  onEvent({
    kind: 'start',
    start: { plan, epoch: group.epoch, ranks, model: group.model, cases: cases.length },
  })
  const tick = Math.max(...ranks.map((rank) => rank.tick))
  const sizes = plan.cycles * cases.length
  const tally = createTally()
  let sizesDone = 0
  let values: { readonly of: BenchCase; readonly made: Values } | undefined
  for (let cycle = 0; cycle < plan.cycles; cycle++)
    for (const given of cases) {
      if (!values || !isAlike(values.of, given))
        values = { of: given, made: createValues({ ...given, collective, size: group.size, seed }) }
      const { bytes } = given.amounts
      const variants = byOperator.get(given.op)!
      const onIteration = (done: number, total: number) =>
        onEvent({ kind: 'progress', bytes, done, total, sizesDone, sizes })
      const measured = await measureCase({ ...common, variants, tick, onIteration }, given, values.made)
      sizesDone++
      for (const row of rowsOf(plan, variants, given, measured, cycle)) {
        tally.add(row)
        onEvent({ kind: 'row', row })
      }
      if (!plan.trace || sizesDone < sizes) continue
      for (const [at, { label, of }] of variants.entries())
        if (of === undefined) {
          const op = await shareTrace(group, ranks, measured.reports[at]!)
          onEvent({ kind: 'trace', label, bytes, op })
        }
    }
  const end = { ...tally.end(), seconds: clock.now() - begin }
  onEvent({ kind: 'end', end })
  return end
}

const isAlike = (a: BenchCase, b: BenchCase) => a.dtype === b.dtype && a.op === b.op && a.root === b.root

/** What the last lines of a table say, also of one that was cut short. */
export function createTally() {
  let rows = 0
  let wrong = 0
  const busbw: number[] = []
  return {
    add({ baseline, outOfPlace, inPlace }: Row) {
      rows++
      for (const sample of [outOfPlace, inPlace]) {
        if (!sample) continue
        wrong += sample.wrong ?? 0
        if (!baseline) busbw.push(sample.busbw)
      }
    },
    end: (): Omit<BenchEnd, 'seconds'> => ({
      rows,
      wrong,
      averageBusbw: busbw.length === 0 ? 0 : busbw.reduce((sum, each) => sum + each, 0) / busbw.length,
    }),
  }
}
