/** WebRTC on Node: the native library libdatachannel behind the classes that browsers have. */
import { UnsupportedError } from '../../shared/base/errors.ts'
import type { Webrtc } from './simplePeer.ts'

/** The part of the native class that is adapted; the rest is as in a browser. */
interface NativeConnection {
  readonly connectionState: RTCPeerConnectionState
  createDataChannel(label: string, options?: RTCDataChannelInit): RTCDataChannel
  createOffer(): Promise<RTCSessionDescriptionInit>
  createAnswer(): Promise<RTCSessionDescriptionInit>
  setRemoteDescription(description: RTCSessionDescriptionInit): Promise<void>
  addIceCandidate(candidate: RTCIceCandidateInit): Promise<void>
}

interface Native extends Pick<Webrtc, 'RTCIceCandidate'> {
  readonly RTCPeerConnection: new (config?: RTCConfiguration) => NativeConnection
}

let loaded: Promise<Webrtc> | undefined

/** @throws {UnsupportedError} when the optional package is not installed or has no build for this machine. */
export function loadNodeWebrtc(): Promise<Webrtc> {
  loaded ??= load()
  return loaded
}

async function load(): Promise<Webrtc> {
  const native = await import('node-datachannel/polyfill').catch((cause: unknown) => {
    throw new UnsupportedError(
      'node-datachannel',
      `Peers on Node need the package node-datachannel: npm install node-datachannel (${String(cause)})`,
    )
  })
  return adapt(native as unknown as Native)
}

/**
 * What the library does differently from a browser: labels must be strings, its descriptions are read-only objects, it throws for a candidate
 * that comes before the description or after the end, and its first DTLS packet is lost when it comes early.
 */
function adapt(native: Native): Webrtc {
  class NodePeerConnection extends native.RTCPeerConnection {
    #isDescribed = false
    #early: RTCIceCandidateInit[] = []

    override createDataChannel(label: string | null, options?: RTCDataChannelInit): RTCDataChannel {
      return super.createDataChannel(String(label), options)
    }

    override async createOffer(): Promise<RTCSessionDescriptionInit> {
      return plain(await super.createOffer())
    }

    override async createAnswer(): Promise<RTCSessionDescriptionInit> {
      return plain(await super.createAnswer())
    }

    override async setRemoteDescription({ type, sdp = '' }: RTCSessionDescriptionInit): Promise<void> {
      /*
       * The answering side is the first to know that the path works. If it spoke first, its packet would reach the other
       * side before that is ready for it and be repeated only after a second; so it takes the waiting role.
       */
      const adapted = type === 'offer' ? sdp.replace('a=setup:actpass', 'a=setup:active') : sdp
      await super.setRemoteDescription({ type, sdp: adapted })
      this.#isDescribed = true
      for (const candidate of this.#early.splice(0)) await this.addIceCandidate(candidate)
    }

    override async addIceCandidate(candidate: RTCIceCandidateInit): Promise<void> {
      if (!this.#isDescribed) {
        this.#early.push(candidate)
        return
      }
      // One address that cannot be used is no reason to give the others up.
      if (this.connectionState !== 'closed') await super.addIceCandidate(candidate).catch(() => {})
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
    RTCPeerConnection: NodePeerConnection as unknown as typeof RTCPeerConnection,
    RTCSessionDescription: Description as typeof RTCSessionDescription,
    RTCIceCandidate: native.RTCIceCandidate,
  }
}

function plain({ type, sdp = '' }: RTCSessionDescriptionInit): RTCSessionDescriptionInit {
  return { type, sdp }
}
