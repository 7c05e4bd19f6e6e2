/** All ranks of a schedule at once; segments arrive in a random order that keeps the order of each pair. */
import { expect } from 'vitest'
import { createPrng } from '../../shared/base/prng.ts'
import { createDataflow, type OutgoingMessage } from '../../shared/collective/dataflow.ts'
import type { Schedule } from '../../shared/schedule/types.ts'
import type { Codec, FloatArray } from '../../shared/wire/codec.ts'
import type { DTypeInfo, NumericArray } from '../../shared/wire/dtype.ts'
import type { Combine } from '../../shared/wire/kernels.ts'

export interface DataflowRun<T extends NumericArray> {
  readonly schedule: Schedule
  readonly dtype: DTypeInfo<T>
  readonly combine: Combine
  readonly inputs: readonly T[]
  readonly segmentBytes: number
  readonly seed: number
  readonly codec?: Codec | undefined
  readonly residuals?: readonly FloatArray[] | undefined
}

/** Chunks of whole blocks. */
function offsetsOf({ schedule, inputs, codec }: DataflowRun<NumericArray>): number[] {
  const block = codec?.block ?? 1
  const blocks = inputs[0]!.length / block
  return Array.from(
    { length: schedule.chunks + 1 },
    (_, c) => Math.floor((schedule.cuts?.[c] ?? c / schedule.chunks) * blocks) * block,
  )
}

/** What each rank ends with. */
export function runDataflow<T extends NumericArray>(run: DataflowRun<T>): T[] {
  const { schedule, dtype, combine, inputs, segmentBytes, seed, codec, residuals } = run
  const offsets = offsetsOf(run)
  const prng = createPrng(seed)
  const queues = new Map<
    string,
    { from: number; to: number; offset: number; message: OutgoingMessage; payload: Uint8Array }[]
  >()
  const results = inputs.map((input) => dtype.create(input.length))
  const flows = schedule.ranks.map((part, rank) =>
    createDataflow({
      part,
      offsets,
      dtype,
      combine,
      input: inputs[rank]!,
      result: results[rank]!,
      segmentBytes,
      codec,
      residual: residuals?.[rank],
      onSendable(message) {
        for (let bytes = message.nextSegment(); bytes >= 0; bytes = message.nextSegment()) {
          const payload = new Uint8Array(bytes)
          const offset = message.sentBytes
          message.take(payload)
          const key = `${rank} ${message.peer}`
          const queue = queues.get(key) ?? []
          queues.set(key, queue)
          queue.push({ from: rank, to: message.peer, offset, message, payload })
        }
      },
    }),
  )
  for (const flow of flows) flow.start()
  for (;;) {
    const waiting = [...queues.values()].filter((queue) => queue.length > 0)
    const queue = waiting[prng.below(waiting.length)]
    const next = queue?.shift()
    if (!next) break
    flows[next.to]!.accept(next.from, next.message.step, next.offset, next.payload)
  }
  for (const flow of flows) expect(flow.isComplete).toBe(true)
  return results
}
