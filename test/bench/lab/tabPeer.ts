/** A peer of the lab benchmark in a tab: bundled as one script that defines `labPeer`. */
import { createLabMember } from './member.ts'

/** A time of day and not one since the tab was opened: tabs compare theirs. */
export const run = createLabMember(
  { RTCPeerConnection, RTCSessionDescription, RTCIceCandidate },
  () => (performance.timeOrigin + performance.now()) / 1000,
)
