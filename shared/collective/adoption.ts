/**
 * How a finished result reaches the members that lost a peer before they had it: rank 0 of the attempt, which has it, sends it to each of
 * the others.
 */
import { meshSize } from '../schedule/links.ts'
import { findAlgorithm } from '../schedule/registry.ts'
import type { RankSchedule } from '../schedule/types.ts'
import { dtypeOf, type NumericArray } from '../wire/dtype.ts'
import { signatureOf } from '../wire/frame.ts'
import type { Attempted } from './calls.ts'
import type { Call } from './control.ts'
import type { Engine } from './engine.ts'
import type { Moved } from './execution.ts'
import { passNotes } from './notes.ts'
import { planOf } from './plan.ts'
import { type Attempt, Interruption, type Recovery } from './recovery.ts'
import type { Retained, RetainedResults } from './retained.ts'
import type { Progress } from './types.ts'

type Adopting = Recovery & { kind: 'adopt' }

interface Passing {
  readonly timeoutSeconds: number
  readonly signal: AbortSignal | undefined
  onComplete?(): void
}

export interface Adoption {
  /** Gets the result from the member that has it, and what the ranks noted, if they did. */
  adopt(
    recovery: Adopting,
    result: NumericArray,
    hasNotes: boolean,
    timeoutSeconds: number,
    signal: AbortSignal | undefined,
  ): Promise<Attempted>
  /** Sends a result that this member keeps to those who lack it. */
  serve(recovery: Recovery, timeoutSeconds: number): Promise<void>
}

export function createAdoption(config: {
  engine: Engine
  retained: RetainedResults
  segmentFor(attempt: Attempt): number
  onProgress(progress: Progress): void
}): Adoption {
  const { engine, retained } = config

  const passOn = (
    op: number,
    attempt: Attempt,
    { data: array, notes }: Pick<Retained, 'data' | 'notes'>,
    { timeoutSeconds, signal, onComplete }: Passing,
  ): Promise<Moved> => {
    const dtype = dtypeOf(array)
    const none = dtype.create(0)
    const isSource = attempt.rank === 0
    const part = adoptionPart(attempt.members.length, attempt.rank)
    const noNotes = new Uint32Array(0)
    const call: Call = {
      collective: 'adopt',
      name: '',
      dtype: dtype.name,
      count: array.length,
      layout: '',
      wire: '',
      operator: '',
      nonFinite: '',
      algorithm: '',
      model: '',
    }
    return engine.run({
      op,
      attempt,
      call,
      signature: signatureOf(JSON.stringify([attempt.epoch, call])),
      timeoutSeconds,
      signal,
      execution: {
        algorithm: call.collective,
        settings: {},
        onProgress: config.onProgress,
        ...(onComplete && { onComplete }),
        dataflow: {
          part,
          offsets: [0, array.length],
          dtype,
          combine: () => {},
          input: isSource ? array : none,
          result: isSource ? none : array,
          segmentBytes: config.segmentFor(attempt),
        },
        notes: notes && (isSource ? passNotes(part, notes, noNotes) : passNotes(part, noNotes, notes)),
      },
    })
  }

  return {
    async adopt({ op, attempt, finishedIn, contributors }, data, hasNotes, timeoutSeconds, signal) {
      const notes = hasNotes ? new Uint32Array(contributors.length) : undefined
      const moved = await passOn(
        op,
        attempt,
        { data, notes },
        {
          timeoutSeconds,
          signal,
          onComplete: () => retained.keep(op, attempt.members, { data, notes, epoch: finishedIn }),
        },
      )
      const report = {
        op,
        epoch: attempt.epoch,
        contributors,
        algorithm: 'adopt',
        settings: {},
        steps: 1,
        ...moved,
        predictedSeconds: 0,
        identical: true,
        why: `${attempt.members[0]!.name} had the result already and passed it on.`,
      }
      return { report, notes }
    },
    async serve({ op, attempt }, timeoutSeconds) {
      const kept = retained.get(op)
      if (!kept) return
      engine.resume(op, attempt)
      try {
        await passOn(op, attempt, kept, { timeoutSeconds, signal: undefined })
      } catch (error) {
        // The members that lacked the result are gone too, or the next epoch decides anew; this member has its result.
        engine.abandon(op, new Interruption('passing a result on has ended', { cause: error }))
      }
    },
  }
}

function adoptionPart(size: number, rank: number): RankSchedule {
  // No member of a large group has links to all others.
  if (size > meshSize) return planOf(findAlgorithm('binomial', 'broadcast'), { root: 0 }, size, 1).part(rank)
  if (rank === 0) {
    const sends = Array.from({ length: size - 1 }, (_, i) => ({ to: i + 1, slots: [0] }))
    return { rank, slots: [0], input: [0], steps: [{ sends, receives: [], locals: [] }], output: [] }
  }
  const receives = [{ from: 0, slots: [0], how: 'store' as const }]
  return { rank, slots: [0], input: [], steps: [{ sends: [], receives, locals: [] }], output: [0] }
}
