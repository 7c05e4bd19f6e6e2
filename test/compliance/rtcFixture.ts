import { type Connector, type ConnectorConfig, createConnector } from '../../client/rtc/connector.ts'
import type { Webrtc } from '../../client/rtc/simplePeer.ts'
import { createChannelTransport } from '../../client/rtc/transport.ts'
import type { Clock } from '../../shared/base/clock.ts'
import type { Transport } from '../../shared/transport/types.ts'
import type { TransportFixture } from './transport.ts'

interface RtcTransport extends Transport, Pick<Connector, 'accept'> {}

/** Connections and links in one thread, as a join has them without a worker. */
export function createRtcTransport(config: ConnectorConfig): RtcTransport {
  const connector = createConnector(config)
  return Object.assign(createChannelTransport(connector), {
    accept: (from: string, data: unknown) => connector.accept(from, data),
  })
}

export interface RtcFixture extends TransportFixture {
  create(peerId: string): RtcTransport
  /** What has become of links, as a server is told. */
  readonly outcomes: { by: string; peerId: string; outcome: string }[]
}

export interface RtcFixtureOptions {
  clock?: Clock
  /** How often a signal is delivered: 1, or what a test wants of the server. */
  deliveries?(from: string, to: string, data: { type: string }): number
}

/** WebRTC transports of one process or page; signals go through JSON, as through a server, one task later. */
export function rtcFixture(
  webrtc: Webrtc,
  { clock, deliveries = () => 1 }: RtcFixtureOptions = {},
): RtcFixture {
  const peers = new Map<string, { transport: RtcTransport; connections: RTCPeerConnection[] }>()
  const outcomes: RtcFixture['outcomes'] = []
  let attempts = 0

  return {
    outcomes,
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
          const deliver = () => peers.get(to)?.transport.accept(peerId, JSON.parse(text))
          for (let time = 0; time < deliveries(peerId, to, JSON.parse(text)); time++) setTimeout(deliver, 0)
        },
        onOutcome: (other, outcome) => outcomes.push({ by: peerId, peerId: other, outcome }),
        ...(clock && { clock }),
      })
      peers.set(peerId, { transport, connections })
      return transport
    },
    vanish(peerId) {
      for (const connection of peers.get(peerId)?.connections ?? []) connection.close()
    },
    attempts: () => attempts,
    dispose() {
      for (const { transport, connections } of peers.values()) {
        transport.close()
        for (const connection of connections) connection.close()
      }
      peers.clear()
    },
  }
}
