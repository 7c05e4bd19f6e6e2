/** One peer in a lesson: its samples, the model that it shares with the others, and one that learns from the same samples alone. */
import * as tf from '@tensorflow/tfjs-core'
import type { LayersModel } from '@tensorflow/tfjs-layers'
import type { LocalResult, LocalTask, Trainer } from '../../shared/federated/roundTypes.ts'
import { writeModel } from '../tfjs/model.ts'
import type { DataSet } from './dataSet.ts'
import { divide, type Lesson } from './lesson.ts'
import { buildModel } from './models.ts'
import { classify, createLearner, type Evaluation, evaluate } from './trainer.ts'

/** What a peer has to learn from, and what with. */
export interface StudentFacts {
  readonly classes: readonly string[]
  readonly shape: readonly number[]
  readonly parameters: number
  readonly testSamples: number
}

/** Probabilities of the classes, by the averaged model and by the one that learns alone. */
export interface Opinion {
  readonly together: readonly number[]
  readonly alone: readonly number[]
}

export interface Student extends Trainer {
  readonly facts: StudentFacts
  /** The averaged model on the test samples. */
  evaluate(): Promise<Evaluation>
  answer(sample: Float32Array): Promise<Opinion>
  dispose(): void
}

export interface StudentConfig {
  readonly lesson: Lesson
  /** From 0; places beyond the hands of the lesson have the samples of an earlier one. */
  readonly place: number
  readonly data: DataSet
  /** Part of the round's training done, 0 .. 1. */
  onProgress?(fraction: number): void
  /** See LearnerOptions. */
  readonly pause?: (() => Promise<void>) | undefined
}

export function createStudent({ lesson, place, data, onProgress, pause }: StudentConfig): Student {
  const { hands, test } = divide(lesson, data)
  const hand = hands[place % hands.length]!
  const { seed, batchSize, model: kind } = lesson
  const build = () => buildModel(kind, data, seed)
  // The average stands beside the model that goes on learning from it: it can be asked at any time.
  const [shared, average, alone] = [build(), build(), build()]
  const learn = (model: LayersModel, from: number, to: number) =>
    createLearner({
      model,
      data: hand,
      seed: seed + place,
      batchSize,
      ...(pause && { pause }),
      onBatch: ({ fraction }) => onProgress?.(from + (to - from) * fraction),
    })
  const learner = learn(shared, 0, 0.5)
  const loner = learn(alone, 0.5, 1)
  return {
    read: () => learner.read(),
    async write(tensors) {
      writeModel(tf, average, tensors)
      await learner.write(tensors)
    },
    facts: {
      classes: data.classes,
      shape: data.shape,
      parameters: shared.countParams(),
      testSamples: test.count,
    },
    async train(task: LocalTask): Promise<LocalResult> {
      const result = await learner.train(task)
      const own = await evaluate(shared, test, pause)
      await loner.train({ ...task, proximal: 0, reference: {} })
      const { accuracy } = await evaluate(alone, test, pause)
      return { ...result, metrics: { ...result.metrics, own: own.accuracy, alone: accuracy } }
    },
    evaluate: () => evaluate(average, test, pause),
    async answer(sample) {
      const [together, own] = await Promise.all([
        classify(average, data, sample),
        classify(alone, data, sample),
      ])
      return { together: [...together], alone: [...own] }
    },
    dispose() {
      for (const model of [shared, average, alone]) model.dispose()
    },
  }
}

/** Trains one model on all hands together, with as many samples as all peers together see, and asks for its accuracy: what the average is measured against. */
export async function trainCentrally(
  lesson: Lesson,
  data: DataSet,
  pause?: () => Promise<void>,
): Promise<Evaluation> {
  const { train, test } = divide(lesson, data)
  const model = buildModel(lesson.model, data, lesson.seed)
  const learner = createLearner({
    model,
    data: train,
    seed: lesson.seed,
    batchSize: lesson.batchSize,
    ...(pause && { pause }),
  })
  const epochs = lesson.rounds * lesson.epochs
  const parts = Math.max(1, Math.ceil(epochs))
  const never = new AbortController().signal
  for (let round = 0; round < parts; round++) {
    // A third of the rate of the rounds: there is no average that takes its noise away.
    const learningRate = (lesson.learningRate / 3) * (1 - round / parts)
    await learner.train({
      round,
      epochs: epochs / parts,
      learningRate,
      proximal: 0,
      reference: {},
      signal: never,
    })
  }
  const result = await evaluate(model, test, pause)
  model.dispose()
  return result
}
