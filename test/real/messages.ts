/** What a peer under test and whoever directs it say to each other: plain data, through a pipe to a process or into a tab. */
import type { Settings } from '../../shared/schedule/types.ts'

/** Of what happens to a peer. Those of processes: kill, stop; of tabs: close, crash, freeze, pause, reload; the others of both. */
export type FaultKind =
  | 'kill'
  | 'stop'
  | 'close'
  | 'crash'
  | 'freeze'
  | 'pause'
  | 'return'
  | 'cut'
  | 'leave'
  | 'server'

/** Where in the ops it happens: when the peer has moved so much of its part of op `op`, or when the op is recovering. */
export interface Moment {
  readonly op: number
  /** 0: before the call; 1: the moment at which this peer has moved all of its part. */
  readonly fraction: number
  /** In place of a fraction: at the first view of fewer members that this peer sees during an op, and so many seconds later. */
  readonly recoverySeconds?: number
}

export interface Fault {
  readonly kind: FaultKind
  /** Index of the peer that it happens to. */
  readonly peer: number
  readonly moment: Moment
  /** A peer that stands still goes on, a server or peer comes back after so many seconds. */
  readonly seconds: number
}

export interface OpSpec {
  readonly algorithm: string
  readonly settings: Settings
  readonly count: number
  readonly dtype: 'i32' | 'f32'
}

export interface JoinCommand {
  readonly type: 'join'
  readonly url: string
  readonly room: string
  readonly size: number
  /** One of its own for each stay in a room: what a tab that stood still says late is not taken for news of the next stay. */
  readonly session: number
  /** Its contribution is the bit 2^index; its name begins with the index. */
  readonly index: number
  readonly name: string
}

/**
 * `once`: all ops, one after the other. `endless`: the first one again and again, for who came later. `epochs`: as many as there is time for; which one,
 * all know by the epoch and by how many of it they have ended.
 */
export type Pace = 'once' | 'endless' | 'epochs'

export type Command =
  | JoinCommand
  | {
      readonly type: 'work'
      readonly ops: readonly OpSpec[]
      readonly pace: Pace
      readonly faults: readonly Fault[]
    }
  | { readonly type: 'leave'; readonly session: number }
  | { readonly type: 'look' }

export interface Outcome {
  /** Of this peer; with the pace `epochs`: of the epoch. */
  readonly op: number
  /** With the pace `epochs`. */
  readonly epoch?: number
  /** Milliseconds since 1970 on the clock of the machine, which all peers share. */
  readonly at: number
  readonly result: Ended
}

export type Ended =
  | {
      /** Indices of the members whose data the report says are in it, in rank order. */
      readonly contributors: readonly number[]
      /** The sum of the bits of those whose data are in it; none when there are no elements. */
      readonly bits?: number
      readonly epoch: number
      /** What is wrong with it, seen from inside: elements that differ, a touched input. */
      readonly faults: readonly string[]
    }
  | { readonly error: string }

/** What a peer holds after a collection of garbage. */
export interface Holdings {
  readonly heapBytes: number
  readonly residentBytes: number
  /** Sockets, pipes and timers of a process. */
  readonly handles: number
  /** Not closed. */
  readonly connections: number
}

export type Said = News & { readonly session?: number }

export type News =
  | { readonly type: 'ready' }
  | { readonly type: 'joined'; readonly at: number }
  | { readonly type: 'struck'; readonly fault: Fault; readonly at: number }
  | { readonly type: 'outcome'; readonly outcome: Outcome }
  | { readonly type: 'done' }
  /** It is in no group any more: put out by the others, or because it was asked to leave. */
  | { readonly type: 'left' }
  | { readonly type: 'holds'; readonly holdings: Holdings }
  | { readonly type: 'failed'; readonly message: string }
  | { readonly type: 'trace'; readonly line: string; readonly at: number }
