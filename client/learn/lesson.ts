/** What a group learns, as plain data: everybody who takes part has the same lesson. */
import * as v from 'valibot'
import { ArgumentError } from '../../shared/base/errors.ts'
import type { RoundOptions } from '../../shared/federated/roundTypes.ts'
import { type DataSet, splitAmong, splitForTest } from './dataSet.ts'

const between = (low: number, high: number) => v.pipe(v.number(), v.minValue(low), v.maxValue(high))
const whole = (low: number, high: number) => v.pipe(between(low, high), v.integer())

/** Peers with data of their own; whoever comes after them has the same samples as somebody before. */
export const maxHands = 64
const maxSeed = 2 ** 31 - 1

export const lessonSchema = v.strictObject({
  data: v.picklist(['digits', 'iris']),
  model: v.picklist(['mlp', 'cnn']),
  rounds: whole(1, 1000),
  /** Over a peer's own samples in each round; may be a part of one. */
  epochs: between(0.01, 100),
  /** Of the first round; falls to a thirtieth in half a cosine. */
  learningRate: between(1e-4, 10),
  /** Of the average, as a server would apply it (Reddi et al. 2021); 0: none. */
  momentum: between(0, 0.99),
  batchSize: whole(1, 1024),
  /** 0: everybody has samples of all classes alike; 1: of their own classes only. */
  skew: between(0, 1),
  /** Into how many hands the samples are dealt. */
  hands: whole(1, maxHands),
  /** Classes of a hand at skew 1. */
  classesPerHand: whole(1, 10),
  seed: whole(0, maxSeed),
})
export type Lesson = v.InferOutput<typeof lessonSchema>

/** Numbers that every trainer reports: of its last batches, and on the test samples of its own model before the average and of the one that learns alone. */
export const metricNames = ['loss', 'accuracy', 'own', 'alone'] as const

interface Course {
  readonly classes: number
  readonly testSamples: number
  readonly fewestClasses: number
  readonly defaults: Pick<Lesson, 'rounds' | 'epochs' | 'learningRate' | 'momentum' | 'batchSize'>
}

const courses: Readonly<Record<Lesson['data'], Course>> = {
  digits: {
    classes: 10,
    testSamples: 1000,
    fewestClasses: 2,
    defaults: { rounds: 30, epochs: 0.25, learningRate: 0.2, momentum: 0.6, batchSize: 16 },
  },
  iris: {
    classes: 3,
    testSamples: 50,
    fewestClasses: 1,
    defaults: { rounds: 12, epochs: 1, learningRate: 0.2, momentum: 0.5, batchSize: 8 },
  },
}

export type LessonWish = Partial<Lesson> & { readonly peers: number }

/**
 * A lesson for so many peers. Classes per hand: as few as leave none without a peer, so that the first `peers` hands have them all.
 *
 * @throws {ArgumentError} a value is out of range, or flowers should go through a convolution.
 */
export function createLesson({ peers, ...wish }: LessonWish): Lesson {
  const { classes, fewestClasses, defaults } = courses[wish.data ?? 'digits']
  const result = v.safeParse(lessonSchema, {
    data: 'digits',
    model: 'mlp',
    ...defaults,
    skew: 1,
    hands: Math.min(maxHands, peers),
    classesPerHand: Math.max(fewestClasses, Math.ceil(classes / peers)),
    seed: 1,
    ...wish,
  })
  if (!result.success) {
    const [issue] = result.issues
    const field = String(issue.path?.[0]?.key ?? 'lesson')
    throw new ArgumentError(field, `${field}: ${issue.message}.`)
  }
  const lesson = result.output
  if (lesson.data === 'iris' && lesson.model === 'cnn')
    throw new ArgumentError(
      'model',
      'A convolution needs pictures: take the digits for cnn, or mlp for iris.',
    )
  return lesson
}

/** How the rounds of a lesson go; the same on every peer. */
export function roundOptions({ rounds, epochs, learningRate, momentum }: Lesson): RoundOptions {
  return {
    rounds,
    epochs,
    learningRate: { kind: 'cosine', from: learningRate, to: learningRate / 30, rounds },
    optimizer: momentum > 0 ? { kind: 'momentum', momentum } : { kind: 'average' },
    metrics: metricNames,
    waitSeconds: 60,
  }
}

export interface Material {
  readonly hands: readonly DataSet[]
  /** Nobody trains on these. */
  readonly test: DataSet
  readonly train: DataSet
}

/** The same for everybody who has the same lesson. */
export function divide(lesson: Lesson, data: DataSet): Material {
  const { hands: peers, classesPerHand: classesPerPeer, skew, seed } = lesson
  const { train, test } = splitForTest(data, courses[lesson.data].testSamples, seed)
  return { train, test, hands: splitAmong(train, { peers, classesPerPeer, skew, seed }) }
}

/** Samples of each class. */
export function countClasses({ labels, classes }: Pick<DataSet, 'labels' | 'classes'>): number[] {
  const counts = classes.map(() => 0)
  for (const label of labels) counts[label]!++
  return counts
}
