/** The peer of a tab: bundled as one script that defines `plane`. */
import { type PlaneRequest, type PlaneSamples, planeMember } from './planeMember.ts'

export function run(request: PlaneRequest): Promise<PlaneSamples> {
  return planeMember({ RTCPeerConnection, RTCSessionDescription, RTCIceCandidate }, request)
}
