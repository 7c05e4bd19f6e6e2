import type { Webrtc } from '../../client/rtc/simplePeer.ts'
import { createRtcTransport, type RtcTransport } from '../../client/rtc/transport.ts'
import type { TransportFixture } from './transport.ts'

/** WebRTC transports of one process or page; signals go through JSON, as through a server, one task later. */
export function rtcFixture(webrtc: Webrtc): TransportFixture {
  const peers = new Map<string, { transport: RtcTransport; connections: RTCPeerConnection[] }>()
  let attempts = 0

  return {
    create(peerId) {
      const connections: RTCPeerConnection[] = []
      class Counted extends webrtc.RTCPeerConnection {
        constructor(config?: RTCConfiguration) {
          super(config)
          attempts++
          connections.push(this)
        }
      }
      const transport = createRtcTransport({
        selfId: peerId,
        webrtc: { ...webrtc, RTCPeerConnection: Counted },
        signal(to, data) {
          const text = JSON.stringify(data)
          setTimeout(() => peers.get(to)?.transport.accept(peerId, JSON.parse(text)), 0)
        },
      })
      peers.set(peerId, { transport, connections })
      return transport
    },
    vanish(peerId) {
      for (const connection of peers.get(peerId)?.connections ?? []) connection.close()
      peers.delete(peerId)
    },
    attempts: () => attempts,
    async dispose() {
      for (const { transport, connections } of peers.values()) {
        transport.close()
        for (const connection of connections) connection.close()
      }
      peers.clear()
    },
  }
}
