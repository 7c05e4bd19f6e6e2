import { highMark } from '../../client/rtc/channelLink.ts'
import { loadNodeWebrtc } from '../../client/rtc/nodeWebrtc.ts'
import { describeConnecting } from './connecting.ts'
import { rtcFixture } from './rtcFixture.ts'
import { describeTransport } from './transport.ts'

const webrtc = await loadNodeWebrtc()

describeTransport('WebRTC on Node', () => rtcFixture(webrtc), { highMark })
describeConnecting('WebRTC on Node', webrtc)
