/** What the timetable is drawn from, and the geometry that it becomes. */
import type { TraceMessage } from '../../../../shared/collective/types.ts'
import type { Schedule } from '../../../../shared/schedule/types.ts'
import type { MessageKind } from './flow.ts'

export interface StageRank {
  readonly name: string
  readonly peerId: string
  /** Place in the rank palette: stays with the peer when ranks are renumbered. */
  readonly hue: number
  /** The peer of this page. */
  readonly here: boolean
}

export interface TimetableData {
  readonly schedule: Schedule
  /** Length of the vector in bytes. */
  readonly bytes: number
  /** `steps`: equal columns. `time`: seconds, measured where `messages` are there, else predicted. */
  readonly mode: 'steps' | 'time'
  /** The schedule before steps were removed: its surplus steps are drawn as ghost columns. */
  readonly ghostOf?: Schedule | undefined
  /** Per rank what it sent and received, in seconds since the start of the op on a common clock. */
  readonly messages?: readonly (readonly TraceMessage[] | undefined)[] | undefined
  /** Predicted seconds of each step. */
  readonly predicted?: readonly number[] | undefined
}

export interface TimetableSize {
  /** Width that is there, px; the body may be wider and then scrolls. */
  readonly width: number
  /** Height that is wanted, px. Absent: what the rows need. */
  readonly height?: number | undefined
  /** Factor on all measures: 1 on a desk, 1.75 on a projector. */
  readonly scale?: number | undefined
  /** Width of the station names, px; see `labelWidth`. */
  readonly left: number
  /** `buffers` and `strokes` overrule what fits. */
  readonly detail?: 'auto' | 'buffers' | 'strokes' | undefined
}

export type Point = readonly [x: number, y: number]

export interface Stroke {
  readonly step: number
  readonly from: number
  readonly to: number
  readonly kind: MessageKind
  readonly chunks: readonly number[]
  readonly bytes: number
  /** Where the message runs: departure, dwell, slant, dwell, arrival. */
  readonly points: readonly Point[]
  /** Width of the stroke, px. */
  readonly line: number
  /** Centre of the tag with the sender's number. */
  readonly tag?: Point | undefined
  /** Measured seconds since the start of the op. */
  readonly begin?: number | undefined
  readonly end?: number | undefined
}

/** A step, or a step that was removed. Positions in the body, px. */
export interface Column {
  /** Index of the step; of the schedule before the removal for a ghost. */
  readonly step: number
  readonly ghost: boolean
  readonly x0: number
  readonly x1: number
  readonly kind: MessageKind
  /** Fewest and most chunks of a message, and most bytes. */
  readonly chunks: readonly [number, number]
  readonly bytes: number
}

export interface Box {
  readonly rank: number
  /** Steps that are done when this buffer looks as it is drawn. */
  readonly after: number
  readonly x: number
  readonly y: number
}

export interface TimetableLayout {
  readonly mode: 'steps' | 'time'
  readonly scale: number
  readonly size: number
  readonly steps: number
  readonly chunks: number
  /** Body, px. */
  readonly width: number
  readonly height: number
  readonly left: number
  readonly top: number
  /** Width of the column on the right with the buffers at the cursor; 0 when they stand between the steps. */
  readonly right: number
  readonly rowHeight: number
  /** y of each station. */
  readonly rows: readonly number[]
  readonly columns: readonly Column[]
  readonly strokes: readonly Stroke[]
  /** Messages of removed steps (steps mode) or where the prediction has them (time mode). */
  readonly ghosts: readonly Stroke[]
  readonly buffers: readonly Box[]
  readonly bufferWidth: number
  readonly bufferHeight: number
  /** Seconds at the ticks of the time axis; empty in steps mode. */
  readonly ticks: readonly { readonly at: number; readonly x: number }[]
  /** Where a cursor position is: pieces of a line from (at, x) pairs; a jump has two pairs with one `at`. */
  readonly scaleKnots: readonly { readonly at: number; readonly x: number }[]
  /** Last cursor position: steps, or seconds. */
  readonly end: number
  /** Radius of a numbered disc on a stroke; 0 when there is no room for numbers. */
  readonly tagRadius: number
}
