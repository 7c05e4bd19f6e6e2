/** What the page of a benchmark knows, and what that is called. */
import type { BenchEvent, Row } from '../../../shared/bench/events.ts'
import type { BenchPlan } from '../../../shared/bench/plan.ts'
import type { GroupState } from '../../../shared/collective/types.ts'
import type { Member } from '../../../shared/membership/types.ts'
import { plural } from '../stage/format.ts'

export interface BenchState {
  readonly place: 'joining' | 'joined' | 'refused'
  readonly room: string | undefined
  readonly self: { readonly peerId: string; readonly name: string } | undefined
  readonly problem: { readonly code: string; readonly message: string } | undefined
  readonly isServerThere: boolean
  readonly members: readonly Member[]
  readonly groupState: GroupState
  /** peerIds of those who would follow. */
  readonly present: readonly string[]
  readonly inPage: ReadonlySet<string>
  /** Members there will be when those that were added are here. */
  readonly expected: number
  /** Asked for, and waiting until all are here. */
  readonly wanted: BenchPlan | undefined
  readonly refusal: string | undefined
  readonly plan: BenchPlan | undefined
  readonly phase: 'none' | 'running' | 'done' | 'failed' | 'stopped'
  /** Of the benchmark that runs or ran last, without its progress. */
  readonly events: readonly BenchEvent[]
  readonly rows: readonly Row[]
  readonly progress: Extract<BenchEvent, { kind: 'progress' }> | undefined
  readonly error: string | undefined
}

export const initialBenchState: BenchState = {
  place: 'joining',
  room: undefined,
  self: undefined,
  problem: undefined,
  isServerThere: true,
  members: [],
  groupState: 'connecting',
  present: [],
  inPage: new Set(),
  expected: 1,
  wanted: undefined,
  refusal: undefined,
  plan: undefined,
  phase: 'none',
  events: [],
  rows: [],
  progress: undefined,
  error: undefined,
}

export type BenchWord =
  | 'joining'
  | 'empty'
  | 'connecting'
  | 'ready'
  | 'running'
  | 'finished'
  | 'failed'
  | 'stopped'
  | 'refused'

export function absent({ members, present }: BenchState): string[] {
  return members.flatMap(({ peerId, name }) => (present.includes(peerId) ? [] : [name]))
}

export function isComplete(state: BenchState): boolean {
  const { groupState, members, expected, phase } = state
  return (
    groupState === 'ready' && members.length >= expected && phase !== 'running' && absent(state).length === 0
  )
}

export function benchWordOf(state: BenchState): BenchWord {
  const { place, phase, members, groupState, wanted } = state
  if (place !== 'joined') return place
  if (phase === 'running') return 'running'
  if (wanted || groupState !== 'ready') return members.length < 2 && !wanted ? 'empty' : 'connecting'
  if (phase !== 'none') return phase === 'done' ? 'finished' : phase
  return members.length < 2 ? 'empty' : 'ready'
}

/** Iterations done of all, in percent. */
export function percentOf({ progress, phase }: BenchState): number {
  if (phase === 'done') return 100
  if (!progress) return 0
  return Math.floor((100 * (progress.sizesDone + progress.done / progress.total)) / progress.sizes)
}

export interface Sentence {
  readonly icon: 'wait' | 'here' | 'ok' | 'run' | 'warn' | 'bad'
  readonly word: string
  readonly sentence: string
}

export function sentenceOf(state: BenchState): Sentence {
  const { members, rows, progress, error, problem } = state
  const wrong = wrongOf(rows)
  switch (benchWordOf(state)) {
    case 'joining':
      return { icon: 'wait', word: 'Joining', sentence: 'Asking the server for a place.' }
    case 'refused':
      return { icon: 'bad', word: 'Outside', sentence: problem?.message ?? 'This page is in no room.' }
    case 'empty':
      return { icon: 'here', word: 'Alone', sentence: 'A benchmark needs at least one more peer.' }
    case 'connecting':
      return { icon: 'wait', word: 'Connecting', sentence: waitSentence(state) }
    case 'ready':
      return {
        icon: 'ok',
        word: 'Ready',
        sentence: `${members.length} of ${members.length} peers are ready.`,
      }
    case 'running':
      return {
        icon: 'run',
        word: 'Measuring',
        sentence: progress
          ? `Size ${progress.sizesDone + 1} of ${progress.sizes}, iteration ${progress.done} of ${progress.total}.`
          : 'The peers tell each other who they are.',
      }
    case 'finished':
      return wrong > 0
        ? { icon: 'bad', word: 'Wrong values', sentence: `${wrong} elements are wrong.` }
        : {
            icon: 'ok',
            word: 'Done',
            sentence: `${plural(rows.length, 'row')}, every checked element right.`,
          }
    case 'stopped':
      return {
        icon: 'warn',
        word: 'Stopped',
        sentence: `Measured until then: ${plural(rows.length, 'row')}.`,
      }
    case 'failed':
      return { icon: 'bad', word: 'Failed', sentence: error ?? '' }
  }
}

function waitSentence(state: BenchState): string {
  const { members, expected, groupState } = state
  if (members.length < expected) return `Waiting for ${expected - members.length} more peers of this page.`
  const silent = absent(state)
  if (groupState === 'ready' && silent.length > 0)
    return `${silent.join(', ')}: in the room, but not on this page.`
  return 'The links between the peers are being opened and measured.'
}

export function wrongOf(rows: readonly Row[]): number {
  return rows.reduce(
    (sum, { outOfPlace, inPlace }) => sum + (outOfPlace.wrong ?? 0) + (inPlace?.wrong ?? 0),
    0,
  )
}
