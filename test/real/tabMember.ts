/** The peer of a tab: bundled as one script that defines `realMember`. What it says goes out through the function `papilioSays` of the page. */
import { join } from '../../client/index.ts'
import { recordConnections } from './connections.ts'
import { createMember } from './member.ts'
import type { Command, Said } from './messages.ts'

declare global {
  var papilioSays: (said: Said) => Promise<void>
}

const connections = recordConnections({ RTCPeerConnection, RTCSessionDescription, RTCIceCandidate })
// The library takes the class that the page has.
globalThis.RTCPeerConnection = connections.webrtc.RTCPeerConnection

const member = createMember({
  join: (options) => join({ ...options, seats: null }),
  say: (said) => void globalThis.papilioSays(said),
  // Only from outside can a tab be closed, or made to stand still.
  strike() {},
  holdings: () => ({ heapBytes: 0, residentBytes: 0, handles: 0, connections: connections.count() }),
  cut: connections.cut,
})

export const accept = (command: Command) => member.accept(command)
