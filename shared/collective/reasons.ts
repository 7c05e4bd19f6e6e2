/** Why an op has failed, as ranks tell each other, and as the error that each of them throws. */
import {
  AbortedError,
  ArgumentError,
  PeerLostError,
  type PeerName,
  ProtocolError,
  TimeoutError,
} from '../base/errors.ts'
import type { AbortReason } from './control.ts'

/** An error travels as at most this many characters. */
const maxReasonLength = 900

/** The error as the other ranks get it; `by` is the rank that met it. */
export function reasonOf(error: Error, by: PeerName): AbortReason {
  const message = error.message.slice(0, maxReasonLength)
  if (error instanceof TimeoutError)
    return { code: 'TIMEOUT', message, op: error.op, step: error.step, waitingFor: [...error.waitingFor] }
  if (error instanceof PeerLostError)
    return { code: 'PEER_LOST', message, peer: error.peer, epoch: error.epoch }
  if (error instanceof ProtocolError)
    return { code: 'PROTOCOL', message: error.issue.slice(0, maxReasonLength) }
  if (error instanceof ArgumentError)
    return {
      code: 'INVALID_ARGUMENT',
      message: `${by.name} (rank ${by.rank}): ${message}`,
      argument: error.argument,
    }
  return { code: 'ABORTED', message: `${by.name} (rank ${by.rank}) stopped the op: ${message}` }
}

export function errorOf(reason: AbortReason): Error {
  switch (reason.code) {
    case 'TIMEOUT':
      return new TimeoutError(reason.message, reason)
    case 'PEER_LOST':
      return new PeerLostError(reason.message, reason)
    case 'PROTOCOL':
      return new ProtocolError(reason.message)
    case 'INVALID_ARGUMENT':
      return new ArgumentError(reason.argument, reason.message)
    case 'ABORTED':
      return new AbortedError(reason.message)
  }
}
