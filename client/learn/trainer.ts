/** Local training of a TensorFlow.js model as the round engine wants it: plain gradient descent over shuffled batches, FedProx included. */
import * as tf from '@tensorflow/tfjs-core'
import type { LayersModel } from '@tensorflow/tfjs-layers'
import { createPrng } from '../../shared/base/prng.ts'
import type { LocalTask, Trainer } from '../../shared/federated/roundTypes.ts'
import type { Values } from '../../shared/federated/tensors.ts'
import { readModel, weightsOf, writeModel } from '../tfjs/model.ts'
import { type DataSet, shuffled } from './dataSet.ts'

export interface LearnerOptions {
  readonly model: LayersModel
  readonly data: DataSet
  readonly batchSize?: number
  readonly seed: number
  /** Lets messages and timers in between batches. Default: a turn of the event loop. */
  pause?(): Promise<void>
  /** After each batch: part of the round's training done, 0 .. 1, and the loss of the batch. */
  onBatch?(progress: { readonly fraction: number; readonly loss: number }): void
}

export interface Evaluation {
  /** Mean cross-entropy. */
  readonly loss: number
  /** 0 .. 1 */
  readonly accuracy: number
}

const defaultBatchSize = 32
const evaluationBatch = 500

/**
 * Trains `model` in place, one batch after the other through the shuffled data; a round goes on where the last one ended, and may be less than
 * an epoch (epochs 0.2). Metrics are loss and accuracy of the last batches, an epoch of them at most, as they were trained on.
 */
export function createLearner(options: LearnerOptions): Trainer {
  const { model, data, batchSize = defaultBatchSize, seed, pause = nextTurn, onBatch } = options
  const batches = Math.ceil(data.count / batchSize)
  let position = 0
  let order: readonly number[] = []
  const nextBatch = () => {
    const index = position++ % batches
    if (index === 0) order = shuffled(data.count, createPrng(seed + 7919 * Math.floor(position / batches)))
    return order.slice(index * batchSize, (index + 1) * batchSize)
  }
  return {
    read: () => readModel(model),
    write: (tensors) => writeModel(tf, model, tensors),
    async train(task) {
      const total = Math.max(1, Math.round(task.epochs * batches))
      const seen = new Set<number>()
      const last = { loss: 0, right: 0, samples: 0 }
      for (let done = 0; done < total && batches > 0 && !task.signal.aborted; done++) {
        const batch = nextBatch()
        const { loss, right } = await trainBatch(model, data, batch, task)
        for (const index of batch) seen.add(index)
        if (done >= total - batches) {
          last.loss += loss * batch.length
          last.right += right
          last.samples += batch.length
        }
        onBatch?.({ fraction: (done + 1) / total, loss })
        await pause()
      }
      const { samples } = last
      return {
        samples: seen.size,
        metrics: samples > 0 ? { loss: last.loss / samples, accuracy: last.right / samples } : {},
      }
    },
  }
}

/** Loss and accuracy over a data set, in batches. */
export async function evaluate(model: LayersModel, data: DataSet, pause = nextTurn): Promise<Evaluation> {
  let loss = 0
  let right = 0
  const all = Array.from({ length: data.count }, (_, i) => i)
  for (let begin = 0; begin < data.count; begin += evaluationBatch) {
    const part = all.slice(begin, begin + evaluationBatch)
    const scores = tf.tidy(() => {
      const { inputs, labels } = batchOf(data, part)
      return score(model.apply(inputs) as tf.Tensor2D, labels)
    })
    const [batchLoss, batchRight] = await take(scores)
    loss += batchLoss! * part.length
    right += batchRight!
    await pause()
  }
  return { loss: loss / data.count, accuracy: right / data.count }
}

/** Probabilities of the classes for one sample. */
export async function classify(
  model: LayersModel,
  data: Pick<DataSet, 'shape'>,
  sample: Float32Array,
): Promise<Float32Array> {
  return take(tf.tidy(() => tf.softmax(model.apply(tf.tensor(sample, [1, ...data.shape])) as tf.Tensor2D)))
}

async function trainBatch(model: LayersModel, data: DataSet, indices: readonly number[], task: LocalTask) {
  const scores = tf.tidy(() => {
    const { inputs, labels } = batchOf(data, indices)
    let scored: tf.Tensor1D | undefined
    const weights = weightsOf(model).filter(({ weight }) => weight.trainable)
    const variables = weights.map(({ weight }) => weight.read() as tf.Variable)
    const { grads } = tf.variableGrads(() => {
      const logits = model.apply(inputs, { training: true }) as tf.Tensor2D
      scored = tf.keep(score(logits, labels))
      return crossEntropy(logits, labels)
    }, variables)
    for (const [i, variable] of variables.entries()) {
      const gradient = grads[variable.name]!
      const { name } = weights[i]!
      const step =
        task.proximal > 0
          ? tf.add(
              gradient,
              tf.mul(tf.sub(variable, tensorOf(task.reference[name]!, variable)), task.proximal),
            )
          : gradient
      variable.assign(tf.sub(variable, tf.mul(step, task.learningRate)))
    }
    return scored!
  })
  const [loss, right] = await take(scores)
  return { loss: loss!, right: right! }
}

const tensorOf = (values: Values, { shape }: tf.Tensor) => tf.tensor(values as Float32Array, shape)

function batchOf({ inputs, labels, shape, classes, count }: DataSet, indices: readonly number[]) {
  const length = inputs.length / count
  const rows = new Float32Array(indices.length * length)
  for (const [i, index] of indices.entries())
    rows.set(inputs.subarray(index * length, (index + 1) * length), i * length)
  const names = Int32Array.from(indices, (index) => labels[index]!)
  return {
    inputs: tf.tensor(rows, [indices.length, ...shape]),
    labels: tf.oneHot(tf.tensor1d(names, 'int32'), classes.length) as tf.Tensor2D,
  }
}

const crossEntropy = (logits: tf.Tensor2D, labels: tf.Tensor2D) =>
  tf.losses.softmaxCrossEntropy(labels, logits) as tf.Scalar

/** Loss of a batch, and how many of it are classified right. */
const score = (logits: tf.Tensor2D, labels: tf.Tensor2D) => {
  const isRight = tf.equal(tf.argMax(logits, 1), tf.argMax(labels, 1))
  return tf.stack([crossEntropy(logits, labels), tf.sum(tf.cast(isRight, 'float32'))]) as tf.Tensor1D
}

/** The numbers of a tensor, which is let go. */
async function take(tensor: tf.Tensor): Promise<Float32Array> {
  const data = (await tensor.data()) as Float32Array
  tensor.dispose()
  return data
}

const nextTurn = () => new Promise<void>((resolve) => setTimeout(resolve))
