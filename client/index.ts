/** Papilio in a browser. On Node the package leads to client/node.ts, which has the same interface. */
import { JoinError } from '../shared/base/errors.ts'
import { type JoinedGroup, type JoinOptions, joinWith } from './rtc/join.ts'
import { createSeatStore } from './rtc/seatStore.ts'
import { startGroupThread } from './worker/startWorker.ts'

export * from './exports.ts'

/**
 * Joins a room and resolves when the group is ready: all members are linked and agree who they are.
 *
 * ```ts
 * const group = await join({ room: 'k7f-2q9', name: 'Ada', size: 7 })
 * const { data } = await group.allreduce(new Float32Array([1, 2, 3]), { op: 'mean' })
 * ```
 */
export async function join(options: JoinOptions = {}): Promise<JoinedGroup> {
  if (typeof RTCPeerConnection === 'undefined')
    throw new JoinError('NO_WEBRTC', 'This browser has no WebRTC, or it is switched off. Use another one.')
  return joinWith(options, {
    webrtc: { RTCPeerConnection, RTCSessionDescription, RTCIceCandidate },
    url: location.origin,
    kind: 'tab',
    startThread: startGroupThread,
    seats: (origin, kind) => (kind === 'tab' ? tabSeats(origin) : undefined),
    onEnd(end) {
      // A page that the browser keeps, to show it again, has nothing that must end.
      const onHide = (event: PageTransitionEvent) => {
        if (!event.persisted) end()
      }
      addEventListener('pagehide', onHide)
      return () => removeEventListener('pagehide', onHide)
    },
  })
}

function tabSeats(origin: string) {
  try {
    return createSeatStore(sessionStorage, origin)
  } catch {
    // Storage is forbidden in this page: a reload takes a new seat.
    return undefined
  }
}
