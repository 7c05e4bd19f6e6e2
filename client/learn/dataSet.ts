/** Labelled data for training, and how they are divided among peers. */
import { assert } from '../../shared/base/assert.ts'
import { createPrng, type Prng } from '../../shared/base/prng.ts'

export interface DataSet {
  /** Names of the classes; a label is an index into them. */
  readonly classes: readonly string[]
  /** Of one sample, such as 28 x 28 x 1. */
  readonly shape: readonly number[]
  readonly count: number
  /** Sample after sample. */
  readonly inputs: Float32Array
  readonly labels: Uint8Array
}

/** The samples at these places, in this order. */
export function subset(data: DataSet, indices: ArrayLike<number>): DataSet {
  const { inputs, labels, count } = data
  const length = inputs.length / count
  const result = new Float32Array(indices.length * length)
  const names = new Uint8Array(indices.length)
  for (let i = 0; i < indices.length; i++) {
    const from = indices[i]!
    assert(from >= 0 && from < count, `there is no sample ${from}`)
    result.set(inputs.subarray(from * length, (from + 1) * length), i * length)
    names[i] = labels[from]!
  }
  return { ...data, count: indices.length, inputs: result, labels: names }
}

/** Fisher-Yates. */
export function shuffled(count: number, random: Prng): number[] {
  const order = Array.from({ length: count }, (_, i) => i)
  for (let i = count - 1; i > 0; i--) {
    const j = random.below(i + 1)
    ;[order[i], order[j]] = [order[j]!, order[i]!]
  }
  return order
}

/** A part for training and `testCount` samples that no peer trains on; the same for equal seeds. */
export function splitForTest(
  data: DataSet,
  testCount: number,
  seed: number,
): { train: DataSet; test: DataSet } {
  const order = shuffled(data.count, createPrng(seed))
  return { test: subset(data, order.slice(0, testCount)), train: subset(data, order.slice(testCount)) }
}

export interface Split {
  readonly peers: number
  /** 0: every peer has samples of all classes alike (IID); 1: of its own classes only. */
  readonly skew: number
  /** Classes that a peer has at skew 1. Default 2. */
  readonly classesPerPeer?: number
  readonly seed: number
}

/** The classes of a peer at skew 1: dealt out like cards, so that every class has an owner when there are enough hands. */
export function classesOf(peer: number, classCount: number, classesPerPeer = 2): number[] {
  return Array.from({ length: classesPerPeer }, (_, i) => (peer * classesPerPeer + i) % classCount)
}

/**
 * Which samples each peer has; no sample has two peers. Each sample goes by its label with probability `skew`, else to any peer. Samples of a class
 * without an owner stay unused at skew 1.
 */
export function splitAmong(data: DataSet, { peers, skew, classesPerPeer = 2, seed }: Split): DataSet[] {
  const random = createPrng(seed)
  const hands = Array.from({ length: peers }, () => [] as number[])
  const owners = data.classes.map((_, label) =>
    hands.flatMap((_, peer) =>
      classesOf(peer, data.classes.length, classesPerPeer).includes(label) ? [peer] : [],
    ),
  )
  // In turn and not at random among equals, so that the hands are of equal size.
  const turns = data.classes.map(() => 0)
  let anyone = 0
  for (const index of shuffled(data.count, random)) {
    const label = data.labels[index]!
    if (random.next() >= skew) hands[anyone++ % peers]!.push(index)
    else {
      const mine = owners[label]!
      if (mine.length > 0) hands[mine[turns[label]!++ % mine.length]!]!.push(index)
    }
  }
  return hands.map((indices) => subset(data, indices))
}
