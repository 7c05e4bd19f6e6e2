/** What the log of the page comes to, and the one word for where it is (data-app-state). */

import type { LessonWish } from '../../learn/lesson.ts'
import { foldLearning, initialLearnState, type LearnState } from '../../learn/state.ts'
import type { PageEvent } from './events.ts'

export interface PageState {
  readonly place: 'outside' | 'joining' | 'joined' | 'refused' | 'left'
  readonly room?: string
  readonly self?: { readonly peerId: string; readonly name: string }
  readonly isServerThere: boolean
  /** Peers of this page beside its own. */
  readonly inPage: ReadonlySet<string>
  /** Size that the group will have when everybody who was called has come. */
  readonly expected: number
  readonly wish?: Omit<LessonWish, 'peers'>
  readonly problem?: { readonly code: string; readonly message: string }
  readonly learning: LearnState
}

export const initialPageState: PageState = {
  place: 'outside',
  isServerThere: true,
  inPage: new Set(),
  expected: 1,
  learning: initialLearnState,
}

export function foldPage(state: PageState, event: PageEvent): PageState {
  const { wish, problem, ...rest } = state
  switch (event.kind) {
    case 'joining':
      return { ...initialPageState, place: 'joining', ...(event.room !== undefined && { room: event.room }) }
    case 'joined': {
      const { peerId, name, room } = event
      return { ...state, place: 'joined', room, self: { peerId, name } }
    }
    case 'refused':
      return { ...rest, place: 'refused', problem: { code: event.code, message: event.message } }
    case 'signal':
      return { ...state, isServerThere: event.isConnected }
    case 'adding': {
      const size = Math.max(state.expected, state.learning.members.length)
      return { ...rest, ...(wish && { wish }), expected: size + event.count }
    }
    case 'added':
      return { ...state, inPage: new Set(state.inPage).add(event.peerId) }
    case 'add-failed':
      return {
        ...state,
        expected: Math.max(1, state.expected - 1),
        problem: { code: event.code, message: event.message },
      }
    case 'wished':
      return { ...rest, wish: event.wish }
    case 'left':
      return { ...rest, place: 'left', inPage: new Set() }
    case 'group':
      return foldGroup({ ...state, learning: foldLearning(state.learning, event) })
    case 'started':
      return { ...rest, learning: foldLearning(state.learning, event) }
    default:
      return { ...state, learning: foldLearning(state.learning, event) }
  }
}

/** Who is not in the room yet may still come; whoever was and is not any more is not waited for. Without samples this page's peer leaves by itself. */
function foldGroup(state: PageState): PageState {
  const { members, groupState, run } = state.learning
  if (groupState === 'left' && state.place === 'joined')
    return { ...state, place: 'refused', ...(run?.error && { problem: run.error }) }
  if (groupState !== 'ready' || members.length < state.expected) return state
  return { ...state, expected: 1 }
}

export type PageWord =
  | 'connecting'
  | 'empty'
  | 'waiting'
  | 'ready'
  | 'preparing'
  | 'training'
  | 'finished'
  | 'stopped'
  | 'failed'
  | 'refused'
  | 'left'

export function pageWordOf(state: PageState): PageWord {
  const { place, learning, expected, wish } = state
  if (place === 'refused' || place === 'left') return place
  if (place !== 'joined') return 'connecting'
  const { run, members, groupState, isAsked } = learning
  if (run && run.ending === undefined) return run.phase === 'preparing' ? 'preparing' : 'training'
  if (expected > members.length) return 'waiting'
  if (groupState !== 'ready' || absent(state).length > 0) return 'connecting'
  if (wish || isAsked) return 'preparing'
  if (run?.ending !== undefined) return run.ending === 'complete' ? 'finished' : run.ending
  return members.length === 1 ? 'empty' : 'ready'
}

/** Members that do not follow lessons (yet). */
export function absent({ learning: { members, present } }: PageState): string[] {
  return members.filter(({ peerId }) => !present.has(peerId)).map(({ name }) => name)
}

/** Everybody who was called is here, linked, and follows lessons. */
export function isComplete(state: PageState): boolean {
  const { members, groupState } = state.learning
  return groupState === 'ready' && members.length >= state.expected && absent(state).length === 0
}

export function isLearningNow({ learning: { run } }: PageState): boolean {
  return run !== undefined && run.ending === undefined
}
