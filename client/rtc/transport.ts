/**
 * Links over WebRTC data channels, in the thread that has the channels: beside the connector that makes them, or in a worker.
 */
import { Emitter } from '../../shared/base/emitter.ts'
import type {
  Link,
  LinkHandler,
  LinkStatus,
  Transport,
  TransportEvents,
} from '../../shared/transport/types.ts'
import { ChannelLink } from './channelLink.ts'
import type { ChannelSource, ConnectorEvents } from './connector.ts'

export function createChannelTransport(source: ChannelSource): Transport {
  return new ChannelTransport(source)
}

/** The channel of an attempt that is not open yet. */
interface Waiting {
  readonly attempt: number
  readonly channel: RTCDataChannel
  /** What has come before the event; some implementations mix the two up. */
  readonly early: unknown[]
}

class ChannelTransport extends Emitter<TransportEvents> implements Transport {
  readonly selfId: string
  readonly #source: ChannelSource
  readonly #statuses = new Map<string, LinkStatus>()
  readonly #waiting = new Map<string, Waiting>()
  readonly #links = new Map<string, ChannelLink>()
  #handler: LinkHandler | undefined
  #unread: { peerId: string; message: Uint8Array }[] = []

  constructor(source: ChannelSource) {
    super()
    this.#source = source
    this.selfId = source.selfId
    source.on('channel', (event) => this.#wait(event))
    source.on('status', (status) => {
      this.#statuses.set(status.peerId, status)
      // Before anybody hears of the end, the link is gone.
      if (status.state === 'closed') this.#drop(status.peerId)
      this.emit('status', status)
    })
    source.on('open', (event) => this.#open(event))
    source.on('close', (event) => this.emit('close', event))
  }

  want(peerIds: readonly string[]): void {
    this.#source.want(peerIds)
    for (const peerId of [...this.#statuses.keys()])
      if (!peerIds.includes(peerId)) this.#statuses.delete(peerId)
  }

  link(peerId: string): Link | undefined {
    return this.#links.get(peerId)
  }

  statuses(): readonly LinkStatus[] {
    return [...this.#statuses.values()]
  }

  receive(handler: LinkHandler): void {
    this.#handler = handler
    for (const { peerId, message } of this.#unread.splice(0)) handler.message(peerId, message)
  }

  close(): void {
    this.want([])
    this.#source.close()
  }

  #wait({ peerId, attempt, channel }: ConnectorEvents['channel']): void {
    const early: unknown[] = []
    channel.binaryType = 'arraybuffer'
    channel.onmessage = ({ data }) => early.push(data)
    channel.onopen = () => this.#source.opened(peerId, attempt)
    channel.onclose = () => this.#source.closed(peerId, attempt)
    this.#waiting.set(peerId, { attempt, channel, early })
  }

  #open({ peerId, attempt, maxMessageBytes }: ConnectorEvents['open']): void {
    const waiting = this.#waiting.get(peerId)
    if (waiting?.attempt !== attempt) return
    this.#waiting.delete(peerId)
    const link = new ChannelLink({
      peerId,
      channel: waiting.channel,
      maxMessageBytes,
      onMessage: (message) => this.#message(peerId, message),
      onDrain: () => this.#handler?.drain(peerId),
      onBroken: (cause) => this.#source.broken(peerId, attempt, cause),
    })
    this.#links.set(peerId, link)
    this.emit('open', link)
    for (const data of waiting.early) link.receive(data)
  }

  #drop(peerId: string): void {
    this.#waiting.delete(peerId)
    this.#links.get(peerId)?.close()
    this.#links.delete(peerId)
  }

  #message(peerId: string, message: Uint8Array): void {
    if (this.#handler) this.#handler.message(peerId, message)
    else this.#unread.push({ peerId, message })
  }
}
