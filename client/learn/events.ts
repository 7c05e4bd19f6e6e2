/** What happens in a lesson, as plain data: page and command line show what they read from these, and nothing else. */

import type { GroupState } from '../../shared/collective/types.ts'
import type { RoundPhase, RoundReport, RunSummary } from '../../shared/federated/roundTypes.ts'
import type { Member } from '../../shared/membership/types.ts'
import type { Lesson } from './lesson.ts'
import type { Opinion, StudentFacts } from './student.ts'
import type { Evaluation } from './trainer.ts'

export type LearnEvent =
  | {
      readonly kind: 'group'
      readonly state: GroupState
      readonly epoch: number
      readonly members: readonly Member[]
    }
  /** This member follows lessons. */
  | { readonly kind: 'present'; readonly peerId: string }
  | { readonly kind: 'asked'; readonly lesson: Lesson }
  /** Also again, when places are dealt to newcomers. `by`: who asked for it. */
  | {
      readonly kind: 'started'
      readonly runId: string
      readonly by: string
      readonly lesson: Lesson
      readonly places: readonly string[]
      readonly members: readonly Member[]
    }
  /** This peer has its samples and its models. */
  | { readonly kind: 'prepared'; readonly facts: StudentFacts }
  | { readonly kind: 'phase'; readonly round: number; readonly phase: RoundPhase }
  /** Of this peer's training in the round. */
  | { readonly kind: 'progress'; readonly fraction: number }
  /** This peer got model and round from another, here by its name. */
  | { readonly kind: 'synced'; readonly round: number; readonly from: string }
  /** `bytesTo`: what this peer has sent since the last round, by peerId. */
  | {
      readonly kind: 'round'
      readonly report: RoundReport
      readonly bytesTo: Readonly<Record<string, number>>
    }
  /** The averaged model after so many rounds, on the test samples. */
  | { readonly kind: 'evaluated'; readonly round: number; readonly evaluation: Evaluation }
  | { readonly kind: 'training-failed'; readonly message: string }
  | { readonly kind: 'ended'; readonly ending: RunSummary['ending'] }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string }
  | { readonly kind: 'question'; readonly questionId: string; readonly sample: readonly number[] }
  | {
      readonly kind: 'answer'
      readonly questionId: string
      readonly peerId: string
      readonly opinion: Opinion
    }
