/** What is known of a run, folded from the log. */
import type { Progress, Report, Waiting } from '../../../shared/collective/types.ts'
import type { NetworkModel } from '../../../shared/cost/types.ts'
import type { Member } from '../../../shared/membership/types.ts'
import type { RunError } from '../../session/messages.ts'
import { type RunResults, survivorsOf } from '../../session/outcome.ts'
import type { RunStart } from '../../session/runEvents.ts'
import type { Call } from '../../session/runSpec.ts'
import type { LabEvent } from './events.ts'

export interface RunState extends RunResults {
  readonly start: RunStart
  /** The agreed model when it began: what the run was predicted with, whatever is measured meanwhile. */
  readonly model?: NetworkModel | undefined
  readonly phase: 'running' | 'done' | 'stopped' | 'failed'
  readonly startedAt: number
  readonly call?: Call & { readonly index: number; readonly total: number }
  readonly progress?: Progress
  /** How often the call began: the survivors of a lost peer begin it anew. */
  readonly attempt: number
  /** Of the call, with what was done before it began anew; unlike the fraction of `progress` it never falls. */
  readonly fraction: number
  /** `fraction` when this attempt began. */
  readonly base: number
  /** Of the others in a long call, by peerId: steps done, and the fraction of the next one. */
  readonly peers: ReadonlyMap<string, { readonly step: number; readonly fraction: number }>
  readonly waiting?: Waiting
  /** This rank's last report of each variant. */
  readonly reports: ReadonlyMap<number, Report>
  readonly error?: RunError
}

export function beginRun(
  start: RunStart,
  members: readonly Member[],
  at: number,
  model?: NetworkModel,
): RunState {
  return {
    start,
    members,
    lost: [],
    model,
    phase: 'running',
    startedAt: at,
    attempt: 1,
    fraction: 0,
    base: 0,
    peers: new Map(),
    reports: new Map(),
    results: new Map(),
    spreads: new Map(),
  }
}

/** Members have left: what was known of the call is about another group, and the survivors begin it anew. */
export function loseMembers(run: RunState, isHere: (peerId: string) => boolean): RunState {
  const gone = survivorsOf(run).filter(({ peerId }) => !isHere(peerId))
  if (gone.length === 0) return run
  const { progress: _, waiting: __, ...rest } = run
  return {
    ...rest,
    lost: [...run.lost, ...gone],
    attempt: run.attempt + 1,
    base: run.fraction,
    peers: new Map(),
  }
}

function withEntry<Key, Value>(
  map: ReadonlyMap<Key, Value>,
  key: Key,
  value: Value,
): ReadonlyMap<Key, Value> {
  return new Map(map).set(key, value)
}

/** The run after one of its events. Progress never goes back: another call begins at zero, as another call. */
export function foldRun(run: RunState, event: LabEvent): RunState {
  switch (event.kind) {
    case 'call': {
      const { progress: _, waiting: __, ...rest } = run
      return {
        ...rest,
        attempt: 1,
        fraction: 0,
        base: 0,
        peers: new Map(),
        call: { ...event.call, index: event.index, total: event.total },
      }
    }
    case 'progress': {
      const { waiting: _, ...rest } = run
      const { progress } = event
      // A link broke, and the same members begin the call anew.
      const isAnew = (run.progress?.step ?? 0) > progress.step || (run.progress?.bytes ?? 0) > progress.bytes
      const base = isAnew ? run.fraction : run.base
      return {
        ...rest,
        progress,
        attempt: isAnew ? run.attempt + 1 : run.attempt,
        base,
        fraction: Math.max(run.fraction, base + (1 - base) * progress.fraction),
      }
    }
    case 'peer-progress': {
      const { step, fraction } = event
      return { ...run, peers: withEntry(run.peers, event.peerId, { step, fraction }) }
    }
    case 'waiting':
      return { ...run, waiting: event.waiting }
    case 'report':
      return { ...run, reports: withEntry(run.reports, event.call.variant, event.report) }
    case 'result': {
      const { variant } = event.result
      const ofVariant = withEntry(run.results.get(variant) ?? new Map(), event.peerId, event.result)
      return { ...run, results: withEntry(run.results, variant, ofVariant) }
    }
    case 'spread':
      return { ...run, spreads: withEntry(run.spreads, event.variant, event.spread) }
    case 'run-failed':
      return run.error ? run : { ...run, error: event.error }
    case 'run-finished': {
      const error = event.error ?? run.error
      const { waiting: _, ...rest } = run
      if (!error) return { ...rest, phase: 'done' }
      return { ...rest, phase: error.code === 'ABORTED' ? 'stopped' : 'failed', error }
    }
    default:
      return run
  }
}
