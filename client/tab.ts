/** Joining from a tab: what a browser gives, and what of it the library keeps over a reload. */
import { JoinError } from '../shared/base/errors.ts'
import { type JoinedGroup, type JoinOptions, joinWith } from './rtc/join.ts'
import { createSeatStore } from './rtc/seatStore.ts'
import type { Webrtc } from './rtc/simplePeer.ts'
import { startGroupThread } from './worker/startWorker.ts'

/** @throws JoinError */
export function tabWebrtc(): Webrtc {
  if (typeof RTCPeerConnection === 'undefined')
    throw new JoinError('NO_WEBRTC', 'This browser has no WebRTC, or it is switched off. Use another one.')
  return { RTCPeerConnection, RTCSessionDescription, RTCIceCandidate }
}

/** @param webrtc classes that watch the channels, say; then the group must run on the thread of the page */
export function joinFromTab(options: JoinOptions, webrtc = tabWebrtc()): Promise<JoinedGroup> {
  return joinWith(options, {
    webrtc,
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
