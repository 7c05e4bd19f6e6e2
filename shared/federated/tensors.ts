/** Named tensors, and what averaging means for each of them. */
import { ArgumentError } from '../base/errors.ts'

export type Values = Float32Array | Float64Array | Int32Array

/**
 * - `mean`: weighted by samples; integers are rounded to the nearest, so that a counter never becomes a fraction. Default of floats.
 * - `statistic`: as `mean`, for what is counted and not trained (the moving mean of a BatchNorm): no optimizer moves it.
 * - `max`, `min`: of all ranks. `max` is the default of integers: counters of steps, seen batches, versions.
 * - `sum`: not weighted.
 * - `keep`: every rank keeps its own; only its shape is compared.
 * - `{ varianceOf: name }`: the variance around the mean of that name, pooled: the mean of (variance + mean^2) less the square of the
 *   averaged mean, so that ranks whose data differ do not get a variance that is too small.
 */
export type Policy = 'mean' | 'statistic' | 'max' | 'min' | 'sum' | 'keep' | { readonly varianceOf: string }

export interface Tensor {
  readonly data: Values
  /** Product: the length of data. Default: one dimension. */
  readonly shape?: readonly number[]
  readonly policy?: Policy
}

/** By name, in any order. A bare array is a tensor of one dimension. */
export type NamedTensors = Readonly<Record<string, Values | Tensor>>

export interface Entry {
  readonly name: string
  readonly data: Values
  readonly shape: readonly number[]
  readonly policy: Policy
}

export type ValuesType = 'f32' | 'f64' | 'i32'

export function typeOfValues(data: Values): ValuesType {
  return data instanceof Float32Array ? 'f32' : data instanceof Float64Array ? 'f64' : 'i32'
}

export function createValues(type: ValuesType, count: number): Values {
  return type === 'f32'
    ? new Float32Array(count)
    : type === 'f64'
      ? new Float64Array(count)
      : new Int32Array(count)
}

const isValues = (value: unknown): value is Values =>
  value instanceof Float32Array || value instanceof Float64Array || value instanceof Int32Array

/** In the order of their names (UTF-16 code units), which every rank derives alike. */
export function entriesOf(named: NamedTensors): Entry[] {
  const entries = Object.entries(named).map(([name, value]): Entry => {
    const tensor = isValues(value) ? { data: value } : value
    const { data } = tensor
    if (!isValues(data))
      throw new ArgumentError(name, `Tensor '${name}': pass a Float32Array, Float64Array or Int32Array.`)
    const shape = tensor.shape ?? [data.length]
    const count = shape.reduce((product, length) => product * length, 1)
    if (count !== data.length)
      throw new ArgumentError(
        name,
        `Tensor '${name}': shape ${shape.join('x')} has ${count} elements, the data ${data.length}.`,
      )
    return { name, data, shape, policy: tensor.policy ?? (data instanceof Int32Array ? 'max' : 'mean') }
  })
  for (const { name, policy, data } of entries) {
    if (typeof policy === 'string') continue
    const mean = entries.find((entry) => entry.name === policy.varianceOf)
    if (!mean || mean.data.length !== data.length || (mean.policy !== 'mean' && mean.policy !== 'statistic'))
      throw new ArgumentError(
        name,
        `Tensor '${name}': its mean '${policy.varianceOf}' must be there with as many elements and be averaged.`,
      )
  }
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
}
