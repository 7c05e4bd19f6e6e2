/** Frames that came before this member could use them, kept by op, as many of each peer as any honest window holds. */
import { ProtocolError } from '../base/errors.ts'
import { type Frame, frameHeaderBytes } from '../wire/frame.ts'
import type { Lane } from './lane.ts'

/** Bytes per peer: more than any honest window. */
const maxEarlyBytes = 16 * 1024 * 1024

/** A data frame, from whom, and the lane that it came by, which is told when it has been used. */
export interface Arrival {
  readonly peerId: string
  readonly frame: Frame
  readonly lane: Lane
}

export interface EarlyFrames {
  keep(arrival: Arrival): void
  /** Those of an op, in the order in which they came. */
  take(op: number): readonly Arrival[]
  /** Forgets those of peers that are no members any more. */
  keepFor(isMember: (peerId: string) => boolean): void
  count(): number
}

export function createEarlyFrames(onOffence: (peerId: string, error: ProtocolError) => void): EarlyFrames {
  const byOp = new Map<number, Arrival[]>()
  const bytesOf = new Map<string, number>()
  const sizeOf = ({ frame }: Arrival) => frame.payload.byteLength + frameHeaderBytes
  return {
    keep(arrival) {
      const { peerId, frame } = arrival
      const bytes = (bytesOf.get(peerId) ?? 0) + sizeOf(arrival)
      if (bytes > maxEarlyBytes) {
        onOffence(peerId, new ProtocolError(`${bytes} bytes for ops that were not called here`))
        return
      }
      bytesOf.set(peerId, bytes)
      const list = byOp.get(frame.op) ?? []
      byOp.set(frame.op, list)
      list.push(arrival)
    },
    take(op) {
      const list = byOp.get(op) ?? []
      byOp.delete(op)
      for (const arrival of list) bytesOf.set(arrival.peerId, bytesOf.get(arrival.peerId)! - sizeOf(arrival))
      return list
    },
    keepFor(isMember) {
      for (const [op, list] of byOp) {
        const kept = list.filter(({ peerId }) => isMember(peerId))
        if (kept.length > 0) byOp.set(op, kept)
        else byOp.delete(op)
      }
      for (const peerId of bytesOf.keys()) if (!isMember(peerId)) bytesOf.delete(peerId)
    },
    count: () => [...byOp.values()].reduce((sum, list) => sum + list.length, 0),
  }
}
