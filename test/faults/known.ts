/** Scenarios that have broken an invariant once, by what was wrong. */
import type { Fault, Scenario } from './scenario.ts'

const base: Omit<Fault, 'kind' | 'rank'> = { other: 0, phase: 'running', afterMessages: 1, seconds: 1 }
const ring = { algorithm: 'ring', settings: {} }
const butterfly = { algorithm: 'butterfly', settings: { r: 1 } }

export const known: Readonly<Record<string, Scenario>> = {
  /**
   * p0 closes a silent link to p1, which has stood still; both enter the new epoch, in which p1 finishes the op on the side of the link that it
   * still has. Its complaint is the second about the pair, and nobody but p1 knows that p0 lacks what it has sent.
   */
  'one side of a pair goes on over a link that the other has closed': {
    seed: 24447,
    size: 7,
    count: 0,
    ops: [butterfly],
    measures: true,
    pauseSeconds: 0,
    faults: [
      { ...base, kind: 'freeze', rank: 1, other: 4, afterMessages: 14, seconds: 5.5424 },
      { ...base, kind: 'slow', rank: 1, other: 0, afterMessages: 75 },
    ],
  },
  /** Ops without data end on some ranks before others have called them; p6 is gone when p7 does, and nobody has said so of the op. */
  'a member calls an op late that others have ended, and that lacks a member by then': {
    seed: 21021,
    size: 8,
    count: 0,
    ops: [ring, ring],
    measures: false,
    pauseSeconds: 1,
    faults: [
      { ...base, kind: 'leave', rank: 6, other: 4, afterMessages: 92 },
      { ...base, kind: 'restart', rank: 6, phase: 'recovering', afterMessages: 41, seconds: 4.22 },
    ],
  },
}
