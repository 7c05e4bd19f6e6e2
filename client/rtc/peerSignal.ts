/** What two peers say to each other through the signalling server to make a connection. */
import * as v from 'valibot'
import { ProtocolError } from '../../shared/base/errors.ts'
import { limits } from '../../shared/signaling/limits.ts'

/**
 * Numbers the connections that the initiator has begun to one peer. Whatever belongs to an older attempt than the
 * current one is stale and ignored: an answer given twice, or given to somebody who has come back since.
 */
const attempt = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(2 ** 31 - 1))
const sdp = v.pipe(v.string(), v.maxLength(limits.signalBytes))

const peerSignalSchema = v.variant('type', [
  v.object({ type: v.literal('offer'), attempt, sdp }),
  v.object({ type: v.literal('answer'), attempt, sdp }),
  v.object({
    type: v.literal('candidate'),
    attempt,
    candidate: v.object({
      candidate: v.pipe(v.string(), v.maxLength(1024)),
      sdpMid: v.exactOptional(v.nullable(v.pipe(v.string(), v.maxLength(16)))),
      sdpMLineIndex: v.exactOptional(
        v.nullable(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(1024))),
      ),
    }),
  }),
  /** To the initiator: this side has lost that attempt; make a new one. */
  v.object({ type: v.literal('again'), attempt }),
])

export type PeerSignal = v.InferOutput<typeof peerSignalSchema>

/** The part of a signal that the WebRTC library makes and understands. */
export type Negotiation =
  | { readonly type: 'offer' | 'answer'; readonly sdp: string }
  | { readonly type: 'candidate'; readonly candidate: RTCIceCandidateInit }

export function parsePeerSignal(from: string, data: unknown): PeerSignal {
  const result = v.safeParse(peerSignalSchema, data)
  if (result.success) return result.output
  const issue = result.issues[0]
  throw new ProtocolError(`signal of ${from}: ${v.getDotPath(issue) ?? 'data'}: ${issue.message}`)
}
