import '@tensorflow/tfjs-backend-cpu'
import * as tf from '@tensorflow/tfjs-core'
import * as layers from '@tensorflow/tfjs-layers'
import { beforeAll, describe, expect, it } from 'vitest'
import { averageModel, readModel } from '../../../client/tfjs/model.ts'
import { MismatchError } from '../../../shared/base/errors.ts'
import { createMemoryGroup } from '../../../shared/collective/memoryGroup.ts'
import type { Tensor } from '../../../shared/federated/tensors.ts'

tf.enableProdMode()

beforeAll(async () => {
  await tf.setBackend('cpu')
})

const build = (units = 3) =>
  layers.sequential({
    layers: [
      layers.layers.dense({ units, inputShape: [4], activation: 'relu' }),
      layers.layers.batchNormalization(),
      layers.layers.dense({ units: 2 }),
    ],
  })

const valuesOf = async (model: layers.LayersModel) =>
  Object.fromEntries(
    Object.entries(await readModel(model)).map(([name, tensor]) => [name, [...(tensor as Tensor).data]]),
  )

describe('averageModel', () => {
  it('is the mean by samples of every weight, pools BatchNorm, and names do not depend on other models', async () => {
    const groups = await createMemoryGroup(3, { measure: false })
    const models = groups.map(() => build())
    for (const model of models)
      model.layers[1]!.setWeights(
        model.layers[1]!.getWeights().map((weight, i) =>
          tf.randomUniform(weight.shape, 0.1, 2, 'float32', i),
        ),
      )
    const before = await Promise.all(models.map(valuesOf))
    const samples = [10, 0, 30]
    const reports = await Promise.all(
      groups.map((group, rank) => averageModel(models[rank]!, group, { samples: samples[rank]! })),
    )
    const after = await Promise.all(models.map(valuesOf))
    expect(after[1]).toEqual(after[0])
    expect(after[2]).toEqual(after[0])
    expect(new Set(reports.map(({ hash }) => hash)).size).toBe(1)
    const mean = (name: string, i: number) => (10 * before[0]![name]![i]! + 30 * before[2]![name]![i]!) / 40
    for (const [name, values] of Object.entries(after[0]!))
      for (const [i, value] of values.entries()) {
        const spread = (rank: number) =>
          before[rank]![name]![i]! + before[rank]!['01 BatchNormalization/moving_mean']![i]! ** 2
        const expected = name.endsWith('moving_variance')
          ? (10 * spread(0) + 30 * spread(2)) / 40 - mean('01 BatchNormalization/moving_mean', i) ** 2
          : mean(name, i)
        expect(value).toBeCloseTo(expected, 5)
      }
    expect(Object.keys(after[0]!)).toContain('00 Dense/kernel')
  })

  it('leaves no tensors behind, and the model can go on training', async () => {
    const groups = await createMemoryGroup(2, { measure: false })
    const models = groups.map(() => build())
    for (const model of models) model.compile({ optimizer: 'sgd', loss: 'meanSquaredError' })
    const inputs = tf.randomNormal([8, 4])
    const labels = tf.randomNormal([8, 2])
    const counts: number[] = []
    for (let round = 0; round < 4; round++) {
      for (const model of models) await model.fit(inputs, labels, { epochs: 1, verbose: 0 })
      await Promise.all(groups.map((group, rank) => averageModel(models[rank]!, group)))
      counts.push(tf.memory().numTensors)
    }
    expect(new Set(counts.slice(1)).size).toBe(1)
    expect(await valuesOf(models[0]!)).toEqual(await valuesOf(models[1]!))
  })

  it('changes no model when models differ, and lists the layers that do', async () => {
    const groups = await createMemoryGroup(3, { measure: false })
    const models = [build(), build(), build(5)]
    const before = await Promise.all(models.map(valuesOf))
    const ends = await Promise.allSettled(groups.map((group, rank) => averageModel(models[rank]!, group)))
    for (const end of ends) {
      const error = end.status === 'rejected' ? end.reason : undefined
      expect(error).toBeInstanceOf(MismatchError)
      expect(String(error)).toContain('Rank 2 (rank 2): "00 Dense/bias" is f32 5 mean, not f32 3 mean')
    }
    expect(await Promise.all(models.map(valuesOf))).toEqual(before)
  })

  it('keeps what the policy says', async () => {
    const groups = await createMemoryGroup(2, { measure: false })
    const models = groups.map(() => build())
    const before = await Promise.all(models.map(valuesOf))
    await Promise.all(
      groups.map((group, rank) =>
        averageModel(models[rank]!, group, {
          policy: ({ name }) => (name.startsWith('02') ? 'keep' : undefined),
        }),
      ),
    )
    const after = await Promise.all(models.map(valuesOf))
    for (const rank of [0, 1])
      expect(after[rank]!['02 Dense/kernel']).toEqual(before[rank]!['02 Dense/kernel'])
    expect(after[0]!['00 Dense/kernel']).toEqual(after[1]!['00 Dense/kernel'])
  })
})
