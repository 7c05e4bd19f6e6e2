/** One member's bytes for all: a state that newcomers lack. */
import type { Group, Report } from '../collective/types.ts'
import type { CallOptions, Place } from './meeting.ts'

/**
 * All pass the same `length`; only the source passes bytes. Undefined, on all ranks alike, when the source was lost on the way.
 */
export async function broadcastBytes(
  group: Group,
  {
    source,
    bytes,
    length,
  }: { readonly source: string; readonly bytes?: Uint8Array; readonly length: number },
  place: Place,
  call: CallOptions,
): Promise<{ bytes: Uint8Array; report: Report } | undefined> {
  const words = new Int32Array(Math.ceil(length / 4))
  if (bytes) new Uint8Array(words.buffer).set(bytes)
  const { data, report } = await group.allreduce(words, {
    ...call,
    epoch: place.epoch,
    name: 'state for newcomers',
    op: 'sum',
  })
  if (!report.contributors.some(({ peerId }) => peerId === source)) return undefined
  return { bytes: new Uint8Array(data.buffer, 0, length), report }
}
