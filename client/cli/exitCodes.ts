/** What commands with peers end with, so that a script can tell what to do. */
import { PapilioError } from '../../shared/base/errors.ts'

export const exitCodes = {
  fine: 0,
  /** A result was wrong, or did not have the bits that it had to have. */
  wrong: 1,
  /** The command line, or a setting. */
  usage: 2,
  /** No server, or no group within the time. */
  notFormed: 3,
  /** Server and peer are of different versions. */
  version: 4,
  /** The room is full, locked, closed or unknown. */
  refused: 5,
  /** A peer was lost and the others could not go on. */
  lost: 6,
  /** Ended from outside before it had done what it was asked for. */
  interrupted: 130,
} as const

export function exitCodeOf(error: unknown): number {
  if (!(error instanceof PapilioError)) throw error
  switch (error.code) {
    case 'ABORTED':
      return exitCodes.interrupted
    case 'INVALID_ARGUMENT':
      return exitCodes.usage
    case 'PROTOCOL':
    case 'VERSION_MISMATCH':
      return exitCodes.version
    case 'ROOM_CLOSED':
    case 'ROOM_FULL':
    case 'ROOM_LOCKED':
    case 'ROOM_UNKNOWN':
      return exitCodes.refused
    case 'EPOCH_CHANGED':
    case 'LEFT':
    case 'PEER_LOST':
    case 'TIMEOUT':
      return exitCodes.lost
    case 'MISMATCH':
      return exitCodes.wrong
    default:
      return exitCodes.notFormed
  }
}
