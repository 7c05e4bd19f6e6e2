import '@tensorflow/tfjs-backend-cpu'
import '@tensorflow/tfjs-backend-wasm'
import * as tf from '@tensorflow/tfjs-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { classesOf, type DataSet, splitAmong, splitForTest } from '../../../client/learn/dataSet.ts'
import { decodeDigits, encodeDigits } from '../../../client/learn/digits.ts'
import { readDigitsFile } from '../../../client/learn/digitsFile.ts'
import { loadIris } from '../../../client/learn/iris.ts'
import { buildModel } from '../../../client/learn/models.ts'
import { digitsFromPackage } from '../../../client/learn/packages.ts'
import { classify, createLearner, evaluate } from '../../../client/learn/trainer.ts'
import { registerWasmKernels } from '../../../client/learn/wasmKernels.ts'
import { ProtocolError } from '../../../shared/base/errors.ts'
import { createMemoryGroup } from '../../../shared/collective/memoryGroup.ts'
import { createRounds } from '../../../shared/federated/rounds.ts'

beforeAll(async () => {
  registerWasmKernels()
  await tf.setBackend('wasm')
})

const histogram = ({ labels, classes }: DataSet) =>
  classes.map((_, label) => labels.filter((own) => own === label).length)

describe('digits', () => {
  it('come back from their bytes as they were, by turns', () => {
    const image = (seed: number) =>
      Array.from({ length: 784 }, (_, i) => ((i * seed) % 7 === 0 ? ((i * seed) % 256) / 255 : 0))
    const digits = Array.from({ length: 10 }, (_, digit) => [
      ...image(digit + 1),
      ...(digit === 3 ? image(50) : []),
    ])
    const data = decodeDigits(encodeDigits(digits))
    expect([...data.labels]).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 3])
    expect([...data.inputs.subarray(4 * 784, 5 * 784)]).toEqual(image(5).map(Math.fround))
    expect([...data.inputs.subarray(10 * 784)]).toEqual(image(50).map(Math.fround))
  })

  it('are refused when they are not whole', () => {
    const bytes = encodeDigits([Array.from({ length: 784 }, (_, i) => i / 784)])
    for (const broken of [
      bytes.subarray(0, 5),
      bytes.subarray(0, -3),
      bytes.subarray(1),
      new Uint8Array([...bytes, 9]),
    ])
      expect(() => decodeDigits(broken)).toThrow(ProtocolError)
  })

  it('are 10 000 real images in less than 3 MB', async () => {
    const bytes = await digitsFromPackage()
    expect(bytes.length).toBeLessThan(3e6)
    const data = readDigitsFile(bytes)
    expect(data.count).toBe(10_000)
    expect(Math.min(...histogram(data))).toBeGreaterThan(800)
    // The page takes these bytes and no others.
    const other = bytes.slice()
    other[5000]! ^= 1
    expect(() => readDigitsFile(other)).toThrow(/fingerprint/)
    expect(() => readDigitsFile(bytes.subarray(1))).toThrow(/bytes/)
  })
})

describe('splitting', () => {
  const data: DataSet = {
    classes: [...'0123456789'],
    shape: [1],
    count: 2000,
    inputs: Float32Array.from({ length: 2000 }, (_, i) => i),
    labels: Uint8Array.from({ length: 2000 }, (_, i) => i % 10),
  }

  it('gives each peer its own two classes, all of them once, and of equal sizes where the classes allow it', () => {
    const hands = splitAmong(data, { peers: 7, skew: 1, seed: 1 })
    for (const [peer, hand] of hands.entries()) {
      const mine = classesOf(peer, 10)
      expect([...new Set(hand.labels)].sort()).toEqual([...mine].sort())
    }
    expect(new Set(hands.flatMap(({ inputs }) => [...inputs])).size).toBe(2000)
    expect(hands.map(({ count }) => count)).toEqual([200, 200, 400, 400, 400, 200, 200])
  })

  it('gives everybody everything at skew 0, and something between in between', () => {
    for (const hand of splitAmong(data, { peers: 4, skew: 0, seed: 2 })) {
      expect(hand.count).toBe(500)
      expect(Math.min(...histogram(hand))).toBeGreaterThan(25)
    }
    const [hand] = splitAmong(data, { peers: 5, skew: 0.8, seed: 3 })
    const counts = histogram(hand!)
    expect(counts[0]! + counts[1]!).toBeGreaterThan(0.7 * hand!.count)
    expect(Math.min(...counts)).toBeGreaterThan(0)
  })
})

describe('a learner', () => {
  it('learns iris alone, and without leaving tensors behind', async () => {
    const { train, test } = splitForTest(await loadIris(), 50, 1)
    const model = buildModel('mlp', train, 1)
    const learner = createLearner({ model, data: train, seed: 1, batchSize: 10 })
    const before = await evaluate(model, test)
    const task = {
      epochs: 10,
      learningRate: 0.1,
      proximal: 0,
      reference: {},
      signal: new AbortController().signal,
    }
    const first = await learner.train({ ...task, round: 0 })
    const tensors = tf.memory().numTensors
    const last = await learner.train({ ...task, round: 1 })
    expect(tf.memory().numTensors).toBe(tensors)
    expect(first.samples).toBe(100)
    expect(last.metrics!.loss!).toBeLessThan(first.metrics!.loss!)
    const after = await evaluate(model, test)
    expect(after.accuracy).toBeGreaterThan(0.9)
    expect(after.loss).toBeLessThan(before.loss)
    const scores = await classify(model, test, test.inputs.subarray(0, 4))
    expect(scores.reduce((sum, score) => sum + score, 0)).toBeCloseTo(1, 5)
    expect(scores.indexOf(Math.max(...scores))).toBe(test.labels[0])
  })

  it('is held at the reference by FedProx', async () => {
    const data = await loadIris()
    const distance = async (proximal: number) => {
      const model = buildModel('mlp', data, 1)
      const learner = createLearner({ model, data, seed: 1 })
      const named = await learner.read()
      const reference = Object.fromEntries(
        Object.entries(named).map(([name, tensor]) => [name, 'data' in tensor ? tensor.data : tensor]),
      )
      await learner.train({
        round: 0,
        epochs: 3,
        learningRate: 0.1,
        proximal,
        reference,
        signal: new AbortController().signal,
      })
      const after = await learner.read()
      return Math.sqrt(
        Object.entries(after).reduce((sum, [name, tensor]) => {
          const values = Float64Array.from('data' in tensor ? tensor.data : tensor)
          return sum + values.reduce((square, value, i) => square + (value - reference[name]![i]!) ** 2, 0)
        }, 0),
      )
    }
    const [free, held] = [await distance(0), await distance(5)]
    expect(held).toBeLessThan(0.5 * free)
    expect(held).toBeGreaterThan(0)
  })

  it('learns together from peers that each know one flower, and the same again from the same seeds', async () => {
    const { train, test } = splitForTest(await loadIris(), 50, 1)
    const hands = splitAmong(train, { peers: 3, skew: 1, classesPerPeer: 1, seed: 1 })
    const run = async (rounds: number) => {
      // Measured links could lead to another algorithm in the second run, which adds in another order.
      const groups = await createMemoryGroup(3, { measure: false })
      const models = groups.map((_, rank) => buildModel('mlp', train, rank))
      const runs = await Promise.all(
        groups.map((group, rank) =>
          createRounds(
            group,
            createLearner({ model: models[rank]!, data: hands[rank]!, seed: rank, batchSize: 10 }),
            { rounds, learningRate: 0.05 },
          ).run(),
        ),
      )
      return { models, hashes: runs.map((own) => own.rounds.map(({ hash }) => hash)) }
    }
    const { models, hashes } = await run(36)
    const [first, ...others] = await Promise.all(models.map((model) => evaluate(model, test)))
    // Alone each would name its own flower always: right for a third. Together 0.92; from other first models 0.84 to 0.96 was seen.
    expect(first!.accuracy).toBeGreaterThan(0.85)
    for (const other of others) expect(other).toEqual(first)
    const again = await run(9)
    expect(again.hashes).toEqual(hashes.map((own) => own.slice(0, 9)))
  })

  it('builds a CNN that learns', async () => {
    const data: DataSet = {
      classes: ['left', 'right'],
      shape: [28, 28, 1],
      count: 20,
      inputs: Float32Array.from({ length: 20 * 784 }, (_, i) =>
        Number(Math.floor(i / 784) % 2 === 0 ? i % 28 < 14 : i % 28 >= 14),
      ),
      labels: Uint8Array.from({ length: 20 }, (_, i) => i % 2),
    }
    const model = buildModel('cnn', data, 1)
    const learner = createLearner({ model, data, seed: 1, batchSize: 10 })
    await learner.train({
      round: 0,
      epochs: 3,
      learningRate: 0.05,
      proximal: 0,
      reference: {},
      signal: new AbortController().signal,
    })
    expect((await evaluate(model, data)).accuracy).toBe(1)
  })
})
