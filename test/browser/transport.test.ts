/** The transport in a real Chromium with its default settings: host addresses hide behind .local names. */
import { highMark } from '../../client/rtc/channelLink.ts'
import { describeConnecting } from '../compliance/connecting.ts'
import { rtcFixture } from '../compliance/rtcFixture.ts'
import { describeTransport } from '../compliance/transport.ts'

const webrtc = { RTCPeerConnection, RTCSessionDescription, RTCIceCandidate }

describeTransport('WebRTC in a browser', () => rtcFixture(webrtc), { highMark })
describeConnecting('WebRTC in a browser', webrtc)
