/**
 * The data channels of a peer, driven without anything of ours: the yardstick of the data plane. The channels are the group's own, caught as
 * they are made; raw messages begin with a byte that no frame begins with, so both kinds of traffic share them in turns.
 */
import type { RawLinks } from '../../shared/bench/measure.ts'
import type { Webrtc } from './simplePeer.ts'

export interface RawChannels extends RawLinks {
  /** The classes to join with. */
  readonly webrtc: Webrtc
  /** Learns which channel leads to which rank. Every rank calls it. */
  meet(rank: number, size: number): Promise<void>
  /** Seconds there and back of one message to a rank, which only has to be there. */
  ping(rank: number, bytes: number): Promise<number>
}

/** As a careful program does it (webrtc-limits: the plateau of throughput). */
const messageBytes = 64 * 1024
const highMark = 1024 * 1024
const [bulk, ping, pong] = [0, 1, 2]

interface Peer {
  readonly channel: RTCDataChannel
  received: number
  expected: number
  /** Once it has said so. */
  rank?: number
  /** How often it has said that it is ready for the next traffic. */
  ready: number
}

export function createRawChannels(native: Webrtc): RawChannels {
  const peers: Peer[] = []
  const byRank = new Map<number, Peer>()
  let ownRank = -1
  let times = 0
  let wake = () => {}
  let answered = () => {}

  const isRaw = (data: unknown): data is ArrayBuffer =>
    data instanceof ArrayBuffer && new Uint8Array(data, 0, 1)[0]! <= pong
  const heard = (peer: Peer, data: unknown) => {
    if (typeof data === 'string') {
      const [word, rank] = data.split(' ')
      if (word === 'ready') peer.ready++
      else peer.rank = Number(rank)
      if (word === 'who' && ownRank >= 0) peer.channel.send(`this ${ownRank}`)
    } else if (isRaw(data)) {
      const [kind] = new Uint8Array(data, 0, 1)
      if (kind === bulk) peer.received += data.byteLength
      else if (kind === pong) answered()
      else {
        const answer = new Uint8Array(data.byteLength)
        answer[0] = pong
        peer.channel.send(answer)
      }
    } else return
    wake()
  }
  class Connection extends native.RTCPeerConnection {
    override createDataChannel(label: string, options?: RTCDataChannelInit): RTCDataChannel {
      const channel = super.createDataChannel(label, options)
      if (label !== 'data') return channel
      const peer: Peer = { channel, received: 0, expected: 0, ready: 0 }
      peers.push(peer)
      channel.addEventListener('message', ({ data }) => heard(peer, data))
      return channel
    }
  }
  /** What is raw is none of the group's business; text it leaves alone by itself. */
  const hideRaw = ({ channel }: Peer) => {
    const { onmessage } = channel
    channel.onmessage = (event) => {
      if (!isRaw(event.data)) onmessage?.call(channel, event)
    }
  }
  const until = (isTrue: () => boolean) =>
    new Promise<void>((resolve) => {
      wake = () => {
        if (!isTrue()) return
        wake = () => {}
        resolve()
      }
      wake()
    })
  const open = () => peers.filter(({ channel }) => channel.readyState === 'open')
  const together = async () => {
    times++
    for (const { channel } of byRank.values()) channel.send('ready')
    await until(() => [...byRank.values()].every(({ ready }) => ready >= times))
  }
  const message = new Uint8Array(messageBytes)
  const feed = (channel: RTCDataChannel, bytes: number) => {
    let left = bytes
    const more = () => {
      while (left > 0 && channel.bufferedAmount < highMark) {
        const next = Math.min(left, messageBytes)
        channel.send(next === messageBytes ? message : message.subarray(0, next))
        left -= next
      }
      if (left === 0) channel.removeEventListener('bufferedamountlow', more)
    }
    channel.addEventListener('bufferedamountlow', more)
    more()
  }

  return {
    webrtc: { ...native, RTCPeerConnection: Connection as unknown as Webrtc['RTCPeerConnection'] },
    async meet(rank, size) {
      ownRank = rank
      for (const peer of open()) hideRaw(peer)
      const ask = () => {
        for (const { channel } of open()) channel.send(`who ${rank}`)
      }
      ask()
      const again = setInterval(ask, 200)
      await until(() => new Set(open().flatMap((peer) => peer.rank ?? [])).size === size - 1)
      clearInterval(again)
      for (const peer of open()) if (peer.rank !== undefined) byRank.set(peer.rank, peer)
    },
    async move(traffic) {
      for (const { rank, received } of traffic) byRank.get(rank)!.expected += received
      await together()
      const begin = performance.now()
      for (const { rank, sent } of traffic) feed(byRank.get(rank)!.channel, sent)
      await until(() => peers.every((peer) => peer.received >= peer.expected))
      return (performance.now() - begin) / 1000
    },
    ping(rank, bytes) {
      const begin = performance.now()
      const request = new Uint8Array(bytes)
      request[0] = ping
      return new Promise((resolve) => {
        answered = () => resolve((performance.now() - begin) / 1000)
        byRank.get(rank)!.channel.send(request)
      })
    },
  }
}
