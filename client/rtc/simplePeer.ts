/** One WebRTC connection. The only file that knows simple-peer, which does offer, answer and candidates. */
import SimplePeer from 'simple-peer/simplepeer.min.js'
import type { IceServer } from '../../shared/signaling/events.ts'
import { pathOf, type RtcPath, type Stat } from './icePath.ts'
import type { Negotiation } from './peerSignal.ts'

/** The classes of an implementation of WebRTC: a browser's own, or a native library's on Node. */
export interface Webrtc {
  readonly RTCPeerConnection: typeof RTCPeerConnection
  readonly RTCSessionDescription: typeof RTCSessionDescription
  readonly RTCIceCandidate: typeof RTCIceCandidate
}

export interface ConnectionOptions {
  readonly webrtc: Webrtc
  readonly isInitiator: boolean
  readonly iceServers: readonly IceServer[]
  /** Something that the other side's `signal` must be given. */
  onSignal(negotiation: Negotiation): void
  /** The channel that carries the data, in the very task that makes it: only then can a browser pass it to a worker. */
  onChannel(channel: RTCDataChannel): void
  onOpen(): void
  /** Called once, unless this side closes. Nothing comes after it. */
  onClose(reason: CloseReason): void
}

export interface CloseReason {
  readonly code: 'CHANNEL_CLOSED' | 'ICE_FAILED' | 'PC_LIMIT'
  readonly cause?: Error
}

export interface Connection {
  /** As the two sides have agreed; undefined when the implementation does not say. */
  readonly maxMessageBytes: number | undefined
  /** Whoever has the channel tells what becomes of it. */
  channelOpened(): void
  channelClosed(): void
  signal(negotiation: Negotiation): void
  /** Is asked once the connection is open. */
  path(): Promise<RtcPath>
  close(): void
}

/** simple-peer's own channel carries nothing: its queue is fixed at 64 KiB and its chunks are copied. */
const ownChannel = { negotiated: true, id: 0 }
/** Ours is known to both sides by its number, so nothing has to be announced before data can flow. */
const dataChannel = { negotiated: true, id: 1, ordered: true }

export function createConnection(options: ConnectionOptions): Connection {
  const { webrtc, isInitiator, iceServers } = options
  let isClosed = false
  let failure: Error | undefined
  const peer = new SimplePeer({
    initiator: isInitiator,
    channelName: 'papilio',
    channelConfig: ownChannel,
    // Always given: the library's default is a public STUN server.
    config: { iceServers: iceServers.map(({ urls, ...rest }) => ({ ...rest, urls: [urls].flat() })) },
    wrtc: webrtc,
    // Of no use when candidates go one by one, but its timer would outlive the connection and keep a process alive for 5 s.
    iceCompleteTimeout: 1,
  }) as SimplePeer.Instance & { _pc: RTCPeerConnection | undefined }
  // Whatever comes over the library's own channel is thrown away.
  peer.resume()
  // Absent when the browser refused to make one; the error follows.
  const pc = peer._pc
  if (pc) options.onChannel(pc.createDataChannel('data', dataChannel))

  const ended = () => {
    if (isClosed) return
    isClosed = true
    peer.destroy()
    options.onClose(reasonOf(failure))
  }
  peer.on('signal', (data) => {
    if (!isClosed && isNegotiation(data)) options.onSignal(data)
  })
  peer.on('error', (error) => {
    failure = error
  })
  peer.on('close', ended)

  return {
    get maxMessageBytes() {
      return pc?.sctp?.maxMessageSize ?? undefined
    },
    channelOpened() {
      if (!isClosed) options.onOpen()
    },
    channelClosed: ended,
    signal(negotiation) {
      if (!isClosed) peer.signal(negotiation as SimplePeer.SignalData)
    },
    async path() {
      const stats: Stat[] = []
      // A connection that closes meanwhile may refuse to answer.
      const report = await pc?.getStats().catch(() => undefined)
      report?.forEach((stat: Stat) => {
        stats.push(stat)
      })
      return pathOf(stats)
    },
    close() {
      isClosed = true
      peer.destroy()
    },
  }
}

function isNegotiation(data: SimplePeer.SignalData): data is SimplePeer.SignalData & Negotiation {
  return data.type === 'offer' || data.type === 'answer' || data.type === 'candidate'
}

function reasonOf(cause: (Error & { code?: unknown }) | undefined): CloseReason {
  if (!cause) return { code: 'CHANNEL_CLOSED' }
  // Chrome says "Cannot create so many PeerConnections".
  if (cause.code === 'ERR_PC_CONSTRUCTOR' && /so many/i.test(cause.message))
    return { code: 'PC_LIMIT', cause }
  return { code: cause.code === 'ERR_DATA_CHANNEL' ? 'CHANNEL_CLOSED' : 'ICE_FAILED', cause }
}
