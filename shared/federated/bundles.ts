/**
 * From tensors of many kinds to a few vectors: a bundle is one vector of one type that is folded by one operator. Every tensor lies in the
 * bundle of its policy, one after the other, and comes back from there.
 */
import { createValues, type Entry, typeOfValues, type Values, type ValuesType } from './tensors.ts'

type Fold = 'sum' | 'max' | 'min'

export interface Bundle {
  readonly type: ValuesType
  readonly fold: Fold
  readonly count: number
  /** Tensors of this bundle: where each begins. */
  readonly parts: readonly { readonly entry: Entry; readonly offset: number }[]
}

/** Sums that are divided afterwards: of 32-bit floats as such, of all else in 64 bits. */
const bundleKeyOf = ({ data, policy }: Entry, floats: 'as-is' | 'f32'): [ValuesType, Fold] | undefined => {
  if (policy === 'keep') return undefined
  const type = typeOfValues(data)
  if (policy === 'max' || policy === 'min' || policy === 'sum') return [type, policy]
  if (type !== 'i32' && floats === 'f32') return ['f32', 'sum']
  return [typeof policy === 'string' && type === 'f32' ? 'f32' : 'f64', 'sum']
}

/** In a fixed order, the same on every rank. With floats 'f32' every averaged float travels in 32 bits. */
export function bundlesOf(entries: readonly Entry[], floats: 'as-is' | 'f32' = 'as-is'): Bundle[] {
  const bundles = new Map<
    string,
    { type: ValuesType; fold: Fold; count: number; parts: Bundle['parts'][number][] }
  >()
  for (const entry of entries) {
    const key = bundleKeyOf(entry, floats)
    if (!key) continue
    // Sums by policy 'sum' are not weighted: they must not share a vector with weighted ones.
    const name = `${key.join(' ')} ${entry.policy === 'sum'}`
    const bundle = bundles.get(name) ?? { type: key[0], fold: key[1], count: 0, parts: [] }
    bundles.set(name, bundle)
    bundle.parts.push({ entry, offset: bundle.count })
    bundle.count += entry.data.length
  }
  return [...bundles].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, bundle]) => bundle)
}

/** The bundle's sum is divided by the sum of the weights. */
export function isWeighted({ parts, fold }: Bundle): boolean {
  return fold === 'sum' && parts[0]?.entry.policy !== 'sum'
}

/** What a tensor sends in place of itself: a variance sends its second moment, everything else its values. */
function carrierOf(entry: Entry, entries: readonly Entry[]): (index: number) => number {
  const { data, policy } = entry
  if (typeof policy === 'string') return (i) => data[i]!
  const mean = entries.find(({ name }) => name === policy.varianceOf)!.data
  return (i) => data[i]! + mean[i]! * mean[i]!
}

/** What does not change the result of the fold. */
const identityOf = ({ fold, type }: Bundle): number => {
  if (fold === 'sum') return 0
  const lowest = type === 'i32' ? -(2 ** 31) : Number.NEGATIVE_INFINITY
  return fold === 'max' ? lowest : type === 'i32' ? 2 ** 31 - 1 : Number.POSITIVE_INFINITY
}

/** This rank's vector: its carriers, times `weight` where the bundle is weighted. A rank of weight 0 changes nothing in any bundle. */
export function packBundle(bundle: Bundle, entries: readonly Entry[], weight: number): Values {
  const vector = createValues(bundle.type, bundle.count)
  if (weight === 0) {
    vector.fill(identityOf(bundle))
    return vector
  }
  const scale = isWeighted(bundle) ? weight : 1
  for (const { entry, offset } of bundle.parts) {
    if (scale === 1 && typeof entry.policy === 'string') {
      vector.set(entry.data, offset)
      continue
    }
    const carrier = carrierOf(entry, entries)
    for (let i = 0; i < entry.data.length; i++) vector[offset + i] = scale * carrier(i)
  }
  return vector
}

/** The mean of a weighted bundle, in place: one rounding. */
export function divideBundle(bundle: Bundle, vector: Values, totalWeight: number): void {
  if (isWeighted(bundle)) for (let i = 0; i < vector.length; i++) vector[i] = vector[i]! / totalWeight
}

/** The tensors that finished bundles stand for, by name; those with policy 'keep' are copies of this rank's own. */
export function unpackBundles(
  bundles: readonly Bundle[],
  vectors: readonly Values[],
  entries: readonly Entry[],
): Map<string, Values> {
  const carriers = new Map<string, Values>()
  for (const [index, { parts }] of bundles.entries())
    for (const { entry, offset } of parts)
      carriers.set(entry.name, vectors[index]!.subarray(offset, offset + entry.data.length))
  return new Map(
    entries.map((entry) => {
      const { name, data, policy } = entry
      const carried = carriers.get(name)
      if (!carried) return [name, data.slice()]
      const result = createValues(typeOfValues(data), data.length)
      if (typeof policy !== 'string') {
        const mean = carriers.get(policy.varianceOf)!
        for (let i = 0; i < result.length; i++) result[i] = Math.max(0, carried[i]! - mean[i]! * mean[i]!)
      } else if (data instanceof Int32Array && (policy === 'mean' || policy === 'statistic'))
        for (let i = 0; i < result.length; i++) result[i] = Math.round(carried[i]!)
      else result.set(carried)
      return [name, result]
    }),
  )
}
