/** The connections that a peer makes, to count those that are left and to break one. */
import type { Webrtc } from '../../client/rtc/simplePeer.ts'

export interface Connections {
  /** The classes to join with. */
  readonly webrtc: Webrtc
  /** Not closed. */
  count(): number
  /** Closes one of those that are connected; which one, the number decides. */
  cut(choice: number): void
}

export function recordConnections(native: Webrtc): Connections {
  const made = new Set<RTCPeerConnection>()
  const alive = () => {
    for (const connection of made) if (connection.connectionState === 'closed') made.delete(connection)
    return [...made]
  }
  class RTCPeerConnection extends native.RTCPeerConnection {
    constructor(configuration?: RTCConfiguration) {
      super(configuration)
      made.add(this)
    }
  }
  return {
    webrtc: { ...native, RTCPeerConnection },
    count: () => alive().length,
    cut(choice) {
      const connected = alive().filter(({ connectionState }) => connectionState === 'connected')
      connected[choice % connected.length]?.close()
    },
  }
}
