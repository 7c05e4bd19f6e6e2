/**
 * One number of each rank that all ranks learn in an op, beside its data: an allgather of its own, whose steps are counted on from those of the
 * data, so that both are one op with one outcome. Its messages go first on every link and the data do not wait for them: an op with notes ends
 * later only where moving its data takes less time than one step (up to 8 ranks) or ceil(log2 P) steps of 36 bytes and more.
 */
import { findAlgorithm } from '../schedule/registry.ts'
import type { RankSchedule } from '../schedule/types.ts'
import { dtypes } from '../wire/dtype.ts'
import type { Dataflow, DataflowConfig } from './dataflow.ts'
import { planOf } from './plan.ts'
import type { Attempt } from './recovery.ts'

/** More ranks tell each other over hops: fewer messages, and links that they have for other ops. */
const maxDirect = 8

/** How a rank's note becomes those of all ranks, in rank order, in `result`. */
export function noteFlow(note: number, result: Uint32Array, { rank, members }: Attempt, steps: number) {
  const size = members.length
  const plan = planOf(findAlgorithm(size <= maxDirect ? 'direct' : 'bruck', 'allgather'), {}, size, size)
  return flowOf(after(steps, plan.part(rank)), plan.offsets, Uint32Array.of(note), result)
}

/** One array of notes, from one rank to others. */
export function passNotes(part: RankSchedule, notes: Uint32Array, result: Uint32Array) {
  return flowOf(after(part.steps.length, part), [0, notes.length + result.length], notes, result)
}

function flowOf(part: RankSchedule, offsets: ArrayLike<number>, input: Uint32Array, result: Uint32Array) {
  const segmentBytes = 4 * Math.max(1, offsets[offsets.length - 1]!)
  return { part, offsets, dtype: dtypes.u32, combine: () => {}, input, result, segmentBytes }
}

export type NoteFlow = Omit<DataflowConfig, 'onSendable'>

/** The same with so many empty steps before. */
function after(steps: number, part: RankSchedule): RankSchedule {
  const empty = Array.from({ length: steps }, () => ({ sends: [], receives: [], locals: [] }))
  return { ...part, steps: [...empty, ...part.steps] }
}

/** Data of `steps` steps and notes as one dataflow. */
export function withNotes(data: Dataflow, notes: Dataflow, steps: number): Dataflow {
  return {
    outgoing: [...data.outgoing, ...notes.outgoing],
    incoming: [...data.incoming, ...notes.incoming],
    bytesTotal: data.bytesTotal + notes.bytesTotal,
    get isComplete() {
      return data.isComplete && notes.isComplete
    },
    get stepsDone() {
      return data.stepsDone
    },
    start() {
      notes.start()
      data.start()
    },
    accept(peer, step, offset, payload) {
      const flow = step < steps ? data : notes
      flow.accept(peer, step, offset, payload)
    },
    waitingFor() {
      if (!data.isComplete) return data.waitingFor()
      return { step: Math.max(0, steps - 1), peers: notes.waitingFor().peers }
    },
  }
}
