/** The transport in a real Chromium with its default settings: host addresses hide behind .local names. */
import { highMark } from '../../client/rtc/channelLink.ts'
import { rtcFixture } from '../compliance/rtcFixture.ts'
import { describeTransport } from '../compliance/transport.ts'

describeTransport(
  'WebRTC in a browser',
  () => rtcFixture({ RTCPeerConnection, RTCSessionDescription, RTCIceCandidate }),
  { highMark },
)
