/** WebRTC on Node: the native library libdatachannel behind the classes that browsers have. */
import { UnsupportedError } from '../../shared/base/errors.ts'
import type { Webrtc } from './simplePeer.ts'

type Polyfill = typeof import('node-datachannel/polyfill')
type Library = typeof import('node-datachannel')
type NativeConnection = InstanceType<Library['PeerConnection']>

/** What is adapted of the library's own imitation of the browser's class; the rest is as in a browser. */
interface Imitation extends EventTarget {
  readonly connectionState: RTCPeerConnectionState
  createDataChannel(label: string, options?: RTCDataChannelInit): RTCDataChannel
  createOffer(): Promise<RTCSessionDescriptionInit>
  createAnswer(): Promise<RTCSessionDescriptionInit>
  setLocalDescription(): Promise<void>
  setRemoteDescription(description: RTCSessionDescriptionInit): Promise<void>
  addIceCandidate(candidate: RTCIceCandidateInit): Promise<void>
}

/** One round of the library's connectivity checks. */
const headStartMs = 50

let loaded: Promise<Webrtc> | undefined

/** @throws {UnsupportedError} when the optional package is not installed or has no build for this machine. */
export function loadNodeWebrtc(): Promise<Webrtc> {
  loaded ??= load()
  return loaded
}

async function load(): Promise<Webrtc> {
  try {
    return adapt(await import('node-datachannel'), await import('node-datachannel/polyfill'))
  } catch (cause) {
    throw new UnsupportedError(
      'node-datachannel',
      `Peers on Node need the package node-datachannel: npm install node-datachannel. (${String(cause)})`,
    )
  }
}

/**
 * What the library does differently from a browser: it makes an offer on its own as soon as there is a channel, on the
 * answering side too; its descriptions are read-only objects; it refuses candidates before both descriptions are set
 * and after the end; and it loses time, or the connection, when the answering side finds the path first.
 */
function adapt({ PeerConnection }: Library, polyfill: Polyfill): Webrtc {
  const Imitation = polyfill.RTCPeerConnection as unknown as new (config: {
    peerConnection: NativeConnection
  }) => Imitation

  class NodePeerConnection extends Imitation {
    readonly #native: NativeConnection
    #takesCandidates = false
    #early: RTCIceCandidateInit[] = []
    #unsent: Event[] = []
    #isReleased = false

    constructor(config: RTCConfiguration = {}) {
      const native = new PeerConnection('papilio', {
        iceServers: (config.iceServers ?? []).flatMap(nativeUrls),
        ...(config.iceTransportPolicy && { iceTransportPolicy: config.iceTransportPolicy }),
        disableAutoNegotiation: true,
      })
      super({ peerConnection: native })
      this.#native = native
    }

    override createDataChannel(label: string | null, options?: RTCDataChannelInit): RTCDataChannel {
      return super.createDataChannel(String(label), options)
    }

    /** None: the library would write candidates into it, and they go their own way. */
    get localDescription(): null {
      return null
    }

    override async createOffer(): Promise<RTCSessionDescriptionInit> {
      this.#native.setLocalDescription('offer')
      return plain(await super.createOffer())
    }

    override async createAnswer(): Promise<RTCSessionDescriptionInit> {
      this.#native.setLocalDescription('answer')
      this.#release()
      await this.#takeCandidates()
      return plain(await super.createAnswer())
    }

    /** Done when the description was created. */
    override async setLocalDescription(): Promise<void> {}

    override async setRemoteDescription({ type, sdp = '' }: RTCSessionDescriptionInit): Promise<void> {
      await super.setRemoteDescription({ type, sdp })
      if (type !== 'answer') return
      setTimeout(() => this.#release(), headStartMs)
      await this.#takeCandidates()
    }

    override async addIceCandidate(candidate: RTCIceCandidateInit): Promise<void> {
      if (!this.#takesCandidates) this.#early.push(candidate)
      // One address that cannot be used is no reason to give the others up.
      else if (this.connectionState !== 'closed') await super.addIceCandidate(candidate).catch(() => {})
    }

    /**
     * The offering side keeps its candidates until it has the answer, and a little longer. Otherwise the other side may
     * find the path first: then it speaks before this side listens and repeats that only after a whole second (half of
     * all connections), or this side checks its certificate before it has stored the answer, and refuses it.
     */
    override dispatchEvent(event: Event): boolean {
      if (event.type !== 'icecandidate' || this.#isReleased) return super.dispatchEvent(event)
      this.#unsent.push(event)
      return true
    }

    #release(): void {
      this.#isReleased = true
      for (const event of this.#unsent.splice(0)) super.dispatchEvent(event)
    }

    async #takeCandidates(): Promise<void> {
      this.#takesCandidates = true
      for (const candidate of this.#early.splice(0)) await this.addIceCandidate(candidate)
    }
  }

  class Description {
    readonly type: RTCSdpType
    readonly sdp: string

    constructor({ type, sdp = '' }: RTCSessionDescriptionInit) {
      this.type = type
      this.sdp = sdp
    }
  }
  return {
    RTCPeerConnection: NodePeerConnection as unknown as Webrtc['RTCPeerConnection'],
    RTCSessionDescription: Description as unknown as Webrtc['RTCSessionDescription'],
    RTCIceCandidate: polyfill.RTCIceCandidate as unknown as Webrtc['RTCIceCandidate'],
  }
}

function plain({ type, sdp = '' }: RTCSessionDescriptionInit): RTCSessionDescriptionInit {
  return { type, sdp }
}

/** The library takes the credentials inside the URL. */
function nativeUrls({ urls, username, credential }: RTCIceServer): string[] {
  return [urls].flat().map((url) => {
    if (!username || !credential) return url
    const [scheme, ...rest] = url.split(':')
    return `${scheme}:${encodeURIComponent(username)}:${encodeURIComponent(credential)}@${rest.join(':')}`
  })
}
