/** What a member brings to a meeting: the outcome of its training, or of having done nothing. */
import { countNonFinite } from '../wire/finite.ts'
import type { Row } from './decide.ts'
import { layoutOf } from './replica.ts'
import type { Entry } from './tensors.ts'

export interface Turn
  extends Pick<Row, 'hasTurn' | 'hasFailed' | 'isFinite' | 'samples' | 'norm' | 'peak' | 'trainSeconds'> {
  readonly metrics: Readonly<Record<string, number>>
  /** The local tensors, trained or not. */
  readonly entries: readonly Entry[]
  readonly update: Float32Array
}

/** Without an update: it counts for nothing. */
export function restingTurn(
  entries: readonly Entry[],
  fields: Pick<Turn, 'hasTurn'> & Partial<Pick<Turn, 'hasFailed' | 'trainSeconds'>>,
): Turn {
  const update = new Float32Array(layoutOf(entries).update.count)
  const nothing = { hasFailed: false, samples: 0, metrics: {}, trainSeconds: 0 }
  return { ...nothing, ...fields, entries, update, ...measureUpdate(update) }
}

export function trainedTurn(
  entries: readonly Entry[],
  update: Float32Array,
  trained: Pick<Turn, 'samples' | 'metrics' | 'trainSeconds'>,
): Turn {
  return { hasTurn: true, hasFailed: false, ...trained, entries, update, ...measureUpdate(update) }
}

function measureUpdate(update: Float32Array): Pick<Turn, 'norm' | 'peak' | 'isFinite'> {
  let square = 0
  let peak = 0
  for (let i = 0; i < update.length; i++) {
    const size = Math.abs(update[i]!)
    square += size * size
    if (size > peak) peak = size
  }
  return { norm: Math.sqrt(square), peak, isFinite: countNonFinite(update, 'f32') === 0 }
}

/** Of a secret update only the order of magnitude of its largest element is told, which fixes the point of its numbers. */
export function veiled({ peak }: Turn): Pick<Turn, 'norm' | 'peak'> {
  return { norm: 0, peak: peak > 0 ? 2 ** Math.ceil(Math.log2(peak)) : 0 }
}
