/** What the page and the worker that trains say to each other. Both are of one build: nothing here is foreign. */
import type { LocalResult, LocalTask } from '../../../../shared/federated/roundTypes.ts'
import type { NamedTensors, Values } from '../../../../shared/federated/tensors.ts'
import type { Lesson } from '../../../learn/lesson.ts'
import type { Opinion, StudentFacts } from '../../../learn/student.ts'
import type { Evaluation } from '../../../learn/trainer.ts'

/** Of which class each sample is: enough to show who has which. */
export interface Labels {
  readonly classes: readonly string[]
  readonly shape: readonly number[]
  readonly labels: Uint8Array
}

/** A sample that nobody trains on. */
export interface Example {
  readonly sample: Float32Array
  readonly label: number
}

/** What can be asked of the worker; `student` is a number that the page gives. */
export interface TrainerCalls {
  labels(data: Lesson['data']): Promise<Labels>
  /** The `index`-th test sample of this class, counted around. */
  example(lesson: Lesson, label: number, index: number): Promise<Example>
  create(student: number, lesson: Lesson, place: number): Promise<StudentFacts>
  read(student: number): Promise<NamedTensors>
  write(student: number, tensors: Readonly<Record<string, Values>>): Promise<void>
  train(student: number, task: Omit<LocalTask, 'signal'>): Promise<LocalResult>
  abort(student: number): Promise<void>
  evaluate(student: number): Promise<Evaluation>
  answer(student: number, sample: Float32Array): Promise<Opinion>
  dispose(student: number): Promise<void>
}

export type CallName = keyof TrainerCalls

export type ToTrainer = { readonly id: number; readonly name: CallName; readonly args: readonly unknown[] }

export type FromTrainer =
  | { readonly type: 'result'; readonly id: number; readonly value: unknown }
  | { readonly type: 'failure'; readonly id: number; readonly code: string; readonly message: string }
  | { readonly type: 'progress'; readonly student: number; readonly fraction: number }
