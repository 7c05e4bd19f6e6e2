/** An error as the other members and the page need it: plain data. */
import { PapilioError, PeerLostError, TimeoutError } from '../../shared/base/errors.ts'
import type { RunError } from './messages.ts'

export function describeError(error: unknown): RunError {
  const message = (error instanceof Error ? error.message : String(error)).slice(0, 500)
  if (error instanceof TimeoutError)
    return {
      code: error.code,
      message,
      peers: error.waitingFor.map((peer) => peer.peerId).slice(0, 64),
      step: error.step,
    }
  if (error instanceof PeerLostError) return { code: error.code, message, peers: [error.peer.peerId] }
  if (error instanceof PapilioError) return { code: error.code, message, peers: [] }
  // What the engine throws when an array cannot be allocated.
  if (error instanceof RangeError) return { code: 'TOO_LARGE', message, peers: [] }
  return { code: 'INTERNAL', message, peers: [] }
}
