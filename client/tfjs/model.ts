/** Models of TensorFlow.js in a group: their weights as named tensors, and back. */
import type { DataType, Tensor } from '@tensorflow/tfjs-core'
import type { Group } from '../../shared/collective/types.ts'
import { type AverageOptions, type AverageReport, averageTensors } from '../../shared/federated/average.ts'
import type { Tensor as NamedTensor, NamedTensors, Policy, Values } from '../../shared/federated/tensors.ts'
import { loadTf, type Tf } from './load.ts'

/** A weight of a layer, as tf.LayerVariable has it. */
export interface ModelWeight {
  readonly originalName: string
  readonly dtype: DataType
  readonly shape: readonly (number | null)[]
  readonly trainable: boolean
  read(): Tensor
  write(value: Tensor): unknown
}

/** What is needed of a tf.LayersModel or tf.Sequential. */
export interface Model {
  readonly layers: readonly {
    getClassName(): string
    readonly weights: readonly ModelWeight[]
  }[]
}

/** How the weight is averaged; undefined: as its kind requires. */
export type WeightPolicy = (weight: {
  readonly name: string
  readonly trainable: boolean
}) => Policy | undefined

export interface AverageModelOptions extends AverageOptions {
  readonly policy?: WeightPolicy
}

/**
 * Replaces the weights of the model on every rank by their average over the group, weighted by samples; the same bits everywhere.
 * Trainable weights are averaged; so are the moving means of BatchNormalization, its moving variances are pooled; integers (counters) become
 * the largest of all ranks. When it fails, no rank's model has changed. Leaves no tensors behind.
 *
 * ```ts
 * const group = await join({ room: 'k7f-2q9' })
 * await model.fit(inputs, labels, { epochs: 1 })
 * await averageModel(model, group, { samples: inputs.shape[0] })
 * ```
 *
 * @throws as averageTensors does.
 */
export async function averageModel(
  model: Model,
  group: Group,
  { policy, ...options }: AverageModelOptions = {},
): Promise<AverageReport> {
  const tf = await loadTf()
  const { tensors, report } = await averageTensors(await readModel(model, policy), group, options)
  writeModel(tf, model, tensors)
  return report
}

/**
 * The weights by names that do not depend on what else the page has built: place and class of the layer, and the weight's own name, such as
 * `01 Dense/kernel`.
 */
export async function readModel(model: Model, policy: WeightPolicy = () => undefined): Promise<NamedTensors> {
  const read = weightsOf(model).map(async ({ name, layer, weight }): Promise<[string, NamedTensor]> => {
    const tensor = weight.read()
    const data = await tensor.data()
    const values = data instanceof Float32Array ? data.slice() : Int32Array.from(data)
    const chosen = policy({ name, trainable: weight.trainable }) ?? policyOf(layer, weight)
    return [name, { data: values, shape: [...tensor.shape], ...(chosen && { policy: chosen }) }]
  })
  return Object.fromEntries(await Promise.all(read))
}

/** Puts values back where readModel found them. */
export function writeModel(tf: Tf, model: Model, tensors: Readonly<Record<string, Values>>): void {
  for (const { name, weight } of weightsOf(model)) {
    const values = tensors[name]
    if (!values) continue
    // A copy: a backend may go on using the array that it is given.
    const tensor = tf.tensor(values.slice() as Float32Array, weight.read().shape, weight.dtype)
    weight.write(tensor)
    tensor.dispose()
  }
}

interface NamedWeight {
  readonly name: string
  readonly layer: string
  readonly weight: ModelWeight
}

const ownName = ({ originalName }: ModelWeight) => originalName.slice(originalName.lastIndexOf('/') + 1)

/** Every weight with the name that readModel gives it. */
export function weightsOf({ layers }: Model): NamedWeight[] {
  const taken = new Map<string, number>()
  return layers.flatMap((each, index) => {
    const layer = `${String(index).padStart(2, '0')} ${each.getClassName()}`
    return each.weights.map((weight): NamedWeight => {
      const base = `${layer}/${ownName(weight)}`
      const before = taken.get(base) ?? 0
      taken.set(base, before + 1)
      return { name: before === 0 ? base : `${base} ${before + 1}`, layer, weight }
    })
  })
}

function policyOf(layer: string, weight: ModelWeight): Policy | undefined {
  if (weight.dtype !== 'float32') return 'max'
  const name = ownName(weight)
  if (name === 'moving_variance') return { varianceOf: `${layer}/moving_mean` }
  return name === 'moving_mean' ? 'statistic' : 'mean'
}
