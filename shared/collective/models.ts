/**
 * The network models of this member, each agreed on by a collective: the ranks measure, their rows are gathered, and every rank derives the
 * same model from the same rows. An op takes the newest model that was measured before it in its own epoch, so all ranks take the same.
 *
 * When a member or a link is lost meanwhile, whoever has the rows passes them on; if nobody has, there is no model on any rank. An op of the
 * epoch that is called later must not find one on some ranks only.
 */
import { encodeRow, foldModel, guessModel, rowLength } from '../cost/fit.ts'
import type { NetworkModel } from '../cost/types.ts'
import { findAlgorithm } from '../schedule/registry.ts'
import { dtypes } from '../wire/dtype.ts'
import { resolveOperator } from '../wire/resolve.ts'
import type { Adoption } from './adoption.ts'
import type { Agreement } from './agreement.ts'
import type { Calls } from './calls.ts'
import type { Engine } from './engine.ts'
import type { Prober } from './measure.ts'
import { planOf } from './plan.ts'
import { type Attempt, Interruption, type Recovery } from './recovery.ts'
import type { RetainedResults } from './retained.ts'

export interface Models {
  /** The newest one, for people to see and to predict with. */
  readonly current: NetworkModel
  /** A new epoch begins with a guess. */
  begin(size: number): void
  /** Runs the measurement that op stands for. Undefined when it failed. `recovery`: the others had to recover it before it began here. */
  measure(
    op: number,
    attempt: Attempt,
    isFresh: boolean,
    recovery?: Recovery,
  ): Promise<NetworkModel | undefined>
  /** The model that an op must use. */
  before(op: number, attempt: Attempt): Promise<NetworkModel>
}

/** Older measurements are of no use to ops still to come. */
const maxKept = 8

export function createModels(config: {
  engine: Engine
  prober: Prober
  calls: Pick<Calls, 'run'>
  agreement: Pick<Agreement, 'recovery'>
  adoption: Pick<Adoption, 'adopt'>
  retained: Pick<RetainedResults, 'keep'>
  timeoutSeconds: number
  onModel(model: NetworkModel, attempt: Attempt): void
}): Models {
  const measured: { op: number; epoch: number; model: Promise<NetworkModel | undefined> }[] = []
  /** One object for all calls without a measurement: choices are kept with the model that they were made on. */
  let guess = guessModel(1)
  const guessOf = (size: number) => {
    if (guess.size !== size) guess = guessModel(size)
    return guess
  }
  let current = guess

  /** Every rank's row is summed into place with zeros from the others, which is exact: the same bits on every rank. */
  const gather = async (op: number, attempt: Attempt, isFresh: boolean, all: Float32Array): Promise<void> => {
    const size = attempt.members.length
    const row = encodeRow(await config.engine.unlessFailed(op, config.prober.measure(op, attempt, isFresh)))
    const mine = new Float32Array(all.length)
    mine.set(row, attempt.rank * rowLength(size))
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
      {
        timeoutSeconds: config.timeoutSeconds,
        onComplete: () => config.retained.keep(op, attempt.members, { epoch: attempt.epoch, data: all }),
      },
    )
  }
  const agreeOn = async (
    op: number,
    attempt: Attempt,
    isFresh: boolean,
    earlier?: Recovery,
  ): Promise<NetworkModel> => {
    const { engine, agreement, adoption, timeoutSeconds } = config
    const length = rowLength(attempt.members.length)
    const all = new Float32Array(attempt.members.length * length)
    for (let recovery = earlier; ; ) {
      if (recovery?.kind === 'rerun') throw new Interruption('a measurement was interrupted on all ranks')
      try {
        if (recovery) await adoption.adopt(recovery, all, false, timeoutSeconds, undefined)
        else await gather(op, attempt, isFresh, all)
        break
      } catch (error) {
        if (!(error instanceof Interruption)) throw error
      }
      const { epoch } = recovery?.attempt ?? attempt
      recovery = await engine.unlessFailed(op, agreement.recovery(op, epoch, Number.POSITIVE_INFINITY))
      engine.resume(op, recovery.attempt)
    }
    const rows = attempt.members.map((_, rank) => all.subarray(rank * length, (rank + 1) * length))
    return foldModel(rows, op + 1)
  }

  return {
    get current() {
      return current
    },
    begin(size) {
      current = guessOf(size)
    },
    measure(op, attempt, isFresh, recovery) {
      const model = agreeOn(op, attempt, isFresh, recovery).then(
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
      return guessOf(attempt.members.length)
    },
  }
}
