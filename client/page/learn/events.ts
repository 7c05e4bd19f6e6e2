/** What happens on the page of a lesson beside the lesson itself: its place in a room, and peers inside it. */
import type { LearnEvent } from '../../learn/events.ts'
import type { LessonWish } from '../../learn/lesson.ts'

export type PageEvent =
  | { readonly kind: 'joining'; readonly room: string | undefined }
  | { readonly kind: 'joined'; readonly room: string; readonly peerId: string; readonly name: string }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }
  | { readonly kind: 'signal'; readonly isConnected: boolean }
  | { readonly kind: 'adding'; readonly count: number }
  | { readonly kind: 'added'; readonly peerId: string }
  | { readonly kind: 'add-failed'; readonly code: string; readonly message: string }
  /** Begin as soon as everybody who was called is here. */
  | { readonly kind: 'wished'; readonly wish: Omit<LessonWish, 'peers'> }
  | { readonly kind: 'left' }
  | LearnEvent

export interface PageEntry {
  /** Seconds since the page was opened. */
  readonly at: number
  readonly event: PageEvent
}
