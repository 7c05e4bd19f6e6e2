/** A data channel as a Link: its queue in the browser stays short, whatever does not fit waits here. */
import { checkMessageSize } from '../../shared/transport/messageSize.ts'
import type { Link } from '../../shared/transport/types.ts'
import { nextTask } from './nextTask.ts'

/** Measured: 1 MiB down to 256 KiB is on the plateau of throughput; a browser refuses to queue more than 16 MiB. */
export const highMark = 1024 * 1024
export const lowMark = 256 * 1024

/** What every browser takes when it does not say, and what Chromium takes at most. */
const cautiousMessageBytes = 16 * 1024
const largestMessageBytes = 256 * 1024

/** The part of an RTCDataChannel that a link uses. */
export type Channel = Pick<
  RTCDataChannel,
  | 'bufferedAmount'
  | 'bufferedAmountLowThreshold'
  | 'onbufferedamountlow'
  | 'onmessage'
  | 'readyState'
  | 'send'
>

export interface ChannelLinkParts {
  readonly peerId: string
  readonly channel: Channel
  readonly maxMessageBytes: number | undefined
  onMessage(message: Uint8Array): void
  onDrain(): void
  /** The channel refused a message: it can never be sent, and the link is of no more use. */
  onBroken(error: unknown): void
}

export class ChannelLink implements Link {
  readonly peerId: string
  readonly maxMessageBytes: number
  readonly #parts: ChannelLinkParts
  readonly #channel: Channel
  #isClosed = false
  #isOver = false
  #isChecking = false
  #pending: Uint8Array[] = []
  #pendingBytes = 0
  /** What the browser's queue holds by our own count, during a run of code: in that, `bufferedAmount` need not move. */
  #counted: number | undefined
  /** It holds no more than this. Asking a channel costs about as much as handing it a small message. */
  #mostQueued = 0

  constructor(parts: ChannelLinkParts) {
    this.#parts = parts
    this.peerId = parts.peerId
    this.maxMessageBytes = Math.min(parts.maxMessageBytes || cautiousMessageBytes, largestMessageBytes)
    const channel = (this.#channel = parts.channel)
    channel.bufferedAmountLowThreshold = lowMark
    channel.onbufferedamountlow = () => this.#pump()
    channel.onmessage = ({ data }) => this.receive(data)
  }

  get bufferedBytes(): number {
    return this.#isClosed ? 0 : this.#queuedBytes + this.#pendingBytes
  }

  /** Bytes in the browser's queue. */
  get #queuedBytes(): number {
    return Math.max(this.#channel.bufferedAmount, this.#counted ?? 0)
  }

  /** Takes what came over the channel. A link sends no text: that is a foreign peer's and dropped. */
  receive(data: unknown): void {
    if (!this.#isClosed && data instanceof ArrayBuffer) this.#parts.onMessage(new Uint8Array(data))
  }

  send(message: Uint8Array): boolean {
    checkMessageSize(this, message)
    if (this.#isClosed) return false
    if (!this.#isOver && (this.#counted ?? this.#mostQueued) + message.byteLength <= highMark) {
      this.#hand(message)
      return !this.#isClosed
    }
    if (this.#pending.length > 0 || this.#queuedBytes > highMark) {
      this.#pending.push(message.slice())
      this.#pendingBytes += message.byteLength
    } else {
      this.#hand(message)
    }
    if (this.bufferedBytes > highMark) {
      this.#isOver = true
      this.#check()
    }
    return !this.#isOver && !this.#isClosed
  }

  close(): void {
    this.#isClosed = true
    this.#channel.onmessage = null
    this.#channel.onbufferedamountlow = null
    this.#pending = []
  }

  #hand(message: Uint8Array): void {
    if (this.#counted === undefined) {
      // Nothing of this run of code is in the queue yet: now the channel tells the truth.
      if (this.#mostQueued + message.byteLength > lowMark) this.#mostQueued = this.#channel.bufferedAmount
      this.#counted = this.#mostQueued
      queueMicrotask(() => {
        this.#counted = undefined
      })
    }
    this.#counted += message.byteLength
    this.#mostQueued = this.#counted
    try {
      this.#channel.send(message as Uint8Array<ArrayBuffer>)
    } catch (error) {
      this.close()
      this.#parts.onBroken(error)
      return
    }
  }

  #pump(): void {
    let at = 0
    while (at < this.#pending.length && !this.#isClosed && this.#queuedBytes <= highMark) {
      const message = this.#pending[at++]!
      this.#pendingBytes -= message.byteLength
      this.#hand(message)
    }
    this.#pending.splice(0, at)
    if (this.#isClosed || !this.#isOver) return
    if (this.bufferedBytes <= lowMark) {
      this.#isOver = false
      this.#parts.onDrain()
    } else {
      this.#check()
    }
  }

  /** The event of a low queue only comes when it falls from above the mark: not when it is below already. */
  #check(): void {
    if (this.#isChecking || this.#channel.bufferedAmount > lowMark) return
    this.#isChecking = true
    nextTask(() => {
      this.#isChecking = false
      this.#pump()
    })
  }
}
