/**
 * The state that all members hold alike (model, optimizer, rounds completed) and how an update leads from one to the next. Updates are
 * differences of carriers (bundles.ts) in 32 bits, whatever the types of the tensors.
 */
import { assert } from '../base/assert.ts'
import { createHasher } from '../wire/hash.ts'
import { type Bundle, bundlesOf, isWeighted, packBundle, unpackBundles } from './bundles.ts'
import type { RunState } from './checkpoint.ts'
import { type OptimizerState, optimizerStep, type ServerOptimizer, startOptimizer } from './optimizer.ts'
import type { Entry, Values } from './tensors.ts'

/** Which vector the averaged floats are, and which bundles are folded beside it. */
export interface Layout {
  readonly update: Bundle
  readonly extras: readonly Bundle[]
}

export function layoutOf(entries: readonly Entry[]): Layout {
  const bundles = bundlesOf(entries, 'f32')
  const isUpdate = (bundle: Bundle) => bundle.type === 'f32' && isWeighted(bundle)
  return {
    update: bundles.find(isUpdate) ?? { type: 'f32', fold: 'sum', count: 0, parts: [] },
    extras: bundles.filter((bundle) => !isUpdate(bundle)),
  }
}

/** The tensors of a state in place of the local ones; those with policy `keep` stay local. */
export function entriesIn(entries: readonly Entry[], { model }: RunState): Entry[] {
  return entries.map((entry) => ({ ...entry, data: model.get(entry.name) ?? entry.data }))
}

export function startState(
  entries: readonly Entry[],
  manifest: string,
  optimizer: ServerOptimizer,
): RunState {
  const shared = entries.filter(({ policy }) => policy !== 'keep')
  return {
    round: 0,
    manifest,
    model: new Map(shared.map(({ name, data }) => [name, data.slice()])),
    moments: startOptimizer(optimizer, layoutOf(entries).update.count),
  }
}

/** A state whose optimizer was another one begins with fresh moments. */
export function fitMoments(state: RunState, entries: readonly Entry[], optimizer: ServerOptimizer): RunState {
  const fresh = startOptimizer(optimizer, layoutOf(entries).update.count)
  const { first, second } = state.moments
  const isFitting = first.length === fresh.first.length && second.length === fresh.second.length
  return isFitting ? state : { ...state, moments: fresh }
}

export function hashOfState({ round, model, moments }: RunState): string {
  const hasher = createHasher().add(new Int32Array([round]))
  for (const data of model.values()) hasher.add(data)
  return hasher.add(moments.first).add(moments.second).digest()
}

/** How far training has moved the floats of the state. */
export function updateFrom(state: RunState, trained: readonly Entry[]): Float32Array {
  const after = packBundle(layoutOf(trained).update, trained, 1)
  const begun = entriesIn(trained, state)
  const before = packBundle(layoutOf(begun).update, begun, 1)
  assert(after.length === before.length, 'the tensors of a replica have changed their lengths')
  const update = new Float32Array(after.length)
  for (let i = 0; i < update.length; i++) update[i] = after[i]! - before[i]!
  return update
}

/** The state after a round: the same bits from the same input, on every platform. `norm`: of the step. */
export function nextState(
  state: RunState,
  entries: readonly Entry[],
  optimizer: ServerOptimizer,
  update: Float32Array,
  extras: readonly Values[],
): { state: RunState; norm: number } {
  const begun = entriesIn(entries, state)
  const layout = layoutOf(begun)
  const moments: OptimizerState = state.moments
  const { step, state: next } = optimizerStep(optimizer, moments, update, state.round)
  // What is counted and not trained follows the average itself.
  for (const { entry, offset } of layout.update.parts)
    if (entry.policy !== 'mean')
      for (let i = offset; i < offset + entry.data.length; i++) step[i] = update[i]!
  const vector = packBundle(layout.update, begun, 1)
  let square = 0
  for (let i = 0; i < vector.length; i++) {
    vector[i] = vector[i]! + step[i]!
    square += step[i]! * step[i]!
  }
  const model = unpackBundles([layout.update, ...layout.extras], [vector, ...extras], begun)
  for (const { name, policy } of entries) if (policy === 'keep') model.delete(name)
  return { state: { ...state, round: state.round + 1, model, moments: next }, norm: Math.sqrt(square) }
}
