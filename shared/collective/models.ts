/**
 * The network models of this member, each agreed on by a collective: the ranks measure, their rows are gathered, and every rank derives the
 * same model from the same rows. An op takes the newest model that was measured before it in its own epoch, so all ranks take the same.
 */
import { encodeRow, foldModel, guessModel, rowLength } from '../cost/fit.ts'
import type { NetworkModel } from '../cost/types.ts'
import { findAlgorithm } from '../schedule/registry.ts'
import { dtypes } from '../wire/dtype.ts'
import { resolveOperator } from '../wire/resolve.ts'
import type { Calls } from './calls.ts'
import type { Engine } from './engine.ts'
import type { Prober } from './measure.ts'
import { planOf } from './plan.ts'
import type { Attempt } from './recovery.ts'

export interface Models {
  /** The newest one, for people to see and to predict with. */
  readonly current: NetworkModel
  /** A new epoch begins with a guess. */
  begin(size: number): void
  /** Runs the measurement that op stands for. Undefined when it failed. */
  measure(op: number, attempt: Attempt, isFresh: boolean): Promise<NetworkModel | undefined>
  /** The model that an op must use. */
  before(op: number, attempt: Attempt): Promise<NetworkModel>
}

/** Older measurements are of no use to ops still to come. */
const maxKept = 8

export function createModels(config: {
  engine: Engine
  prober: Prober
  calls: Pick<Calls, 'run'>
  timeoutSeconds: number
  onModel(model: NetworkModel, attempt: Attempt): void
}): Models {
  const measured: { op: number; epoch: number; model: Promise<NetworkModel | undefined> }[] = []
  let current = guessModel(1)

  /** Every rank's row is summed into place with zeros from the others, which is exact: the same bits on every rank. */
  const gather = async (op: number, attempt: Attempt, isFresh: boolean): Promise<NetworkModel> => {
    const size = attempt.members.length
    const row = encodeRow(await config.engine.unlessFailed(op, config.prober.measure(op, attempt, isFresh)))
    const length = rowLength(size)
    const mine = new Float32Array(size * length)
    mine.set(row, attempt.rank * length)
    const all = new Float32Array(size * length)
    const plan = planOf(findAlgorithm('ring', 'allreduce'), {}, size, mine.length)
    const vector = {
      dtype: dtypes.f32,
      data: mine,
      result: all,
      operator: resolveOperator('sum', dtypes.f32),
    }
    await config.calls.run(
      op,
      attempt,
      plan,
      vector,
      { name: 'measure' },
      { timeoutSeconds: config.timeoutSeconds },
    )
    const rows = attempt.members.map((_, rank) => all.subarray(rank * length, (rank + 1) * length))
    return foldModel(rows, op + 1)
  }

  return {
    get current() {
      return current
    },
    begin(size) {
      current = guessModel(size)
    },
    measure(op, attempt, isFresh) {
      const model = gather(op, attempt, isFresh).then(
        (agreed) => {
          current = agreed
          config.onModel(agreed, attempt)
          return agreed
        },
        (error: Error) => {
          config.engine.abandon(op, error)
          return undefined
        },
      )
      measured.push({ op, epoch: attempt.epoch, model })
      if (measured.length > maxKept) measured.shift()
      return model
    },
    async before(op, attempt) {
      for (let i = measured.length - 1; i >= 0; i--) {
        const one = measured[i]!
        if (one.op >= op || one.epoch !== attempt.epoch) continue
        const agreed = await one.model
        if (agreed) return agreed
      }
      return guessModel(attempt.members.length)
    },
  }
}
