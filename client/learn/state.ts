/** What the log of a lesson comes to: who is in it, its curves, what was sent, the answers to the last question. */

import type { GroupState } from '../../shared/collective/types.ts'
import type { RoundPhase, RoundReport, RunSummary } from '../../shared/federated/roundTypes.ts'
import type { Member } from '../../shared/membership/types.ts'
import type { LearnEvent } from './events.ts'
import type { Lesson } from './lesson.ts'
import type { Opinion, StudentFacts } from './student.ts'
import type { Evaluation } from './trainer.ts'

export interface Pupil {
  readonly peerId: string
  readonly name: string
  /** Its samples are those of hand `place` of the lesson. */
  readonly place: number
  /** Rounds that were done when it came; 0: it was there at the beginning. */
  readonly since: number
  /** Rounds that were done when it had gone; undefined: it is here. */
  readonly leftAfter?: number
}

export interface LearnRun {
  readonly runId: string
  readonly by: string
  readonly lesson: Lesson
  /** Everybody who has ever been in it. */
  readonly pupils: readonly Pupil[]
  readonly facts?: StudentFacts
  readonly phase: RoundPhase | 'preparing'
  /** Part of this peer's training of the round, 0 .. 1. */
  readonly fraction: number
  /** Gapless but for the rounds before a late peer came. */
  readonly rounds: readonly RoundReport[]
  /** Of the averaged model, by number of rounds done. */
  readonly averaged: ReadonlyMap<number, Evaluation>
  /** What this peer has sent, by peerId of who got it. */
  readonly bytesTo: ReadonlyMap<string, number>
  readonly ending?: RunSummary['ending'] | 'failed'
  readonly error?: { readonly code: string; readonly message: string }
  /** The last training of this peer that went wrong. */
  readonly trainingError?: string
  /** This peer came late, and got the model after so many rounds. */
  readonly synced?: { readonly round: number; readonly from: string }
}

export interface LearnState {
  readonly groupState: GroupState
  readonly epoch: number
  /** In rank order. */
  readonly members: readonly Member[]
  /** Members that follow lessons. */
  readonly present: ReadonlySet<string>
  readonly isAsked: boolean
  readonly run?: LearnRun
  readonly question?: {
    readonly questionId: string
    readonly sample: readonly number[]
    readonly opinions: ReadonlyMap<string, Opinion>
  }
}

export const initialLearnState: LearnState = {
  groupState: 'connecting',
  epoch: 0,
  members: [],
  present: new Set(),
  isAsked: false,
}

/** Rounds done, as far as this peer knows. */
export function roundsDone(run: LearnRun): number {
  return run.rounds.at(-1)?.round ?? run.synced?.round ?? 0
}

export function foldLearning(state: LearnState, event: LearnEvent): LearnState {
  const { run } = state
  const inRun = (change: Partial<LearnRun>): LearnState =>
    run ? { ...state, run: { ...run, ...change } } : state
  switch (event.kind) {
    case 'group':
      return foldMembers(state, event)
    case 'present':
      return { ...state, present: new Set(state.present).add(event.peerId) }
    case 'asked':
      return { ...state, isAsked: true }
    case 'started':
      return foldStart(state, event)
    case 'prepared':
      return inRun({ facts: event.facts })
    case 'phase':
      return inRun({ phase: event.phase, ...(event.phase === 'training' && { fraction: 0 }) })
    case 'progress':
      return inRun({ fraction: event.fraction })
    case 'synced':
      return inRun({ synced: { round: event.round, from: event.from } })
    case 'round':
      return inRun({
        rounds: [...(run?.rounds ?? []), event.report],
        bytesTo: added(run?.bytesTo ?? new Map(), event.bytesTo),
      })
    case 'evaluated':
      return inRun({ averaged: new Map(run?.averaged).set(event.round, event.evaluation) })
    case 'training-failed':
      return inRun({ trainingError: event.message })
    case 'ended':
      return inRun({ ending: event.ending })
    case 'failed':
      return inRun({ ending: 'failed', error: { code: event.code, message: event.message } })
    case 'question':
      return { ...state, question: { ...event, opinions: new Map() } }
    case 'answer': {
      const { question } = state
      if (question?.questionId !== event.questionId) return state
      const opinions = new Map(question.opinions).set(event.peerId, event.opinion)
      return { ...state, question: { ...question, opinions } }
    }
  }
}

type EventOf<Kind extends LearnEvent['kind']> = Extract<LearnEvent, { kind: Kind }>

function foldMembers(state: LearnState, { state: groupState, epoch, members }: EventOf<'group'>): LearnState {
  const here = new Set(members.map(({ peerId }) => peerId))
  const { run } = state
  const next: LearnState = {
    ...state,
    groupState,
    epoch,
    members,
    // Rank 0, who was asked, may be gone.
    isAsked: state.isAsked && epoch === state.epoch,
    present: new Set([...state.present].filter((peerId) => here.has(peerId))),
  }
  if (!run || run.ending !== undefined || groupState === 'left') return next
  const leftAfter = roundsDone(run)
  const pupils = run.pupils.map((pupil) =>
    pupil.leftAfter === undefined && !here.has(pupil.peerId) ? { ...pupil, leftAfter } : pupil,
  )
  return { ...next, run: { ...run, pupils } }
}

function foldStart(state: LearnState, event: EventOf<'started'>): LearnState {
  const { runId, by, lesson, places, members } = event
  const before = state.run?.runId === runId ? state.run : undefined
  const known = new Set(before?.pupils.map(({ peerId }) => peerId))
  const names = new Map([...members, ...state.members].map(({ peerId, name }) => [peerId, name]))
  const since = before ? roundsDone(before) : 0
  const added = places.flatMap((peerId, place): Pupil[] =>
    known.has(peerId) ? [] : [{ peerId, place, since, name: names.get(peerId) ?? 'a peer' }],
  )
  const pupils = [...(before?.pupils ?? []), ...added]
  if (before) return { ...state, run: { ...before, pupils } }
  const { question, ...rest } = state
  return {
    ...rest,
    isAsked: false,
    run: {
      runId,
      by,
      lesson,
      pupils,
      phase: 'preparing',
      fraction: 0,
      rounds: [],
      averaged: new Map(),
      bytesTo: new Map(),
    },
  }
}

function added(
  totals: ReadonlyMap<string, number>,
  more: Readonly<Record<string, number>>,
): ReadonlyMap<string, number> {
  const next = new Map(totals)
  for (const [peerId, bytes] of Object.entries(more)) next.set(peerId, (next.get(peerId) ?? 0) + bytes)
  return next
}

/** What the rounds have come to, as far as it is known: averaged, and the mean of the peers alone; accuracies 0 .. 1. */
export function outcomeOf({ rounds, averaged }: LearnRun): {
  averaged?: number
  alone?: number
  hash?: string
} {
  const last = rounds.at(-1)
  const known = averaged.get(Math.max(...averaged.keys()))?.accuracy
  const alone = last?.metrics.alone
  return {
    ...(known !== undefined && { averaged: known }),
    ...(alone !== undefined && { alone }),
    ...(last && { hash: last.hash }),
  }
}
