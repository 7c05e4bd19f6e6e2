/**
 * One peer of the lab benchmark, in a Node process or in a tab: does what the bench says, and answers with what it has seen. Peers of a lab
 * share the clock of their machine, so the time of an op is that from the last rank's start to the last rank's end.
 */
import { type JoinedGroup, joinWith } from '../../../client/rtc/join.ts'
import { createRawChannels, type RawChannels } from '../../../client/rtc/rawChannels.ts'
import type { Webrtc } from '../../../client/rtc/simplePeer.ts'
import type { Prediction } from '../../../shared/cost/types.ts'
import type { Settings } from '../../../shared/schedule/types.ts'

/** What is measured: a call with these options, or the channels without a collective. */
export interface Candidate {
  readonly label: string
  /** `raw` sends the whole vector to everybody over the bare channels. */
  readonly algorithm: string
  readonly settings?: Settings
  readonly consistency: 'identical' | 'fast'
}

/** One call as one rank saw it. Seconds on the clock of the machine. */
export interface RankSample {
  readonly bytes: number
  readonly label: string
  readonly begin: number
  readonly end: number
  readonly sent: number
  readonly received: number
  readonly predicted?: number
  /** What ran. */
  readonly chosen?: string
  readonly isWrong: boolean
}

/** Raw messages, before anything else. Seconds. */
export interface RankLinks {
  readonly rank: number
  /** One way, half of a message of 32 bytes there and back between rank 0 and rank 1; seen by rank 0. */
  readonly oneWay: readonly number[]
  /** Per byte of a stream from rank 0 to rank 1, alone; seen by rank 1. */
  readonly beta?: number
  /** Per byte while each rank sends to the next and receives from the one before. */
  readonly ringBeta: number
  /** What the group itself has found and agreed on. */
  readonly modelAlpha: number
  readonly modelHostBeta: number
}

export type Command =
  | { readonly do: 'join'; readonly url: string; readonly room: string; readonly size: number }
  | { readonly do: 'links' }
  | { readonly do: 'predict'; readonly bytes: number; readonly consistency: Candidate['consistency'] }
  | { readonly do: 'call'; readonly bytes: number; readonly candidate: Candidate }
  | { readonly do: 'leave' }

export interface Answers {
  readonly join: { readonly rank: number }
  readonly links: RankLinks
  /** Fastest first. */
  readonly predict: readonly Prediction[]
  readonly call: RankSample
  readonly leave: undefined
}

export type Answer = Answers[keyof Answers]

const timeoutMs = 120_000
const pings = 15
const [shortStream, longStream] = [2 ** 20, 3 * 2 ** 20]

/** @param now seconds on a clock that all peers of the machine share */
export function createLabMember(webrtc: Webrtc, now: () => number): (command: Command) => Promise<Answer> {
  let group: JoinedGroup
  let channels: RawChannels

  const join = async ({ url, room, size }: Extract<Command, { do: 'join' }>) => {
    channels = createRawChannels(webrtc)
    group = await joinWith(
      // While the channels are driven raw the group hears nothing.
      { url, room, create: true, size, silenceSeconds: Number.POSITIVE_INFINITY },
      { webrtc: channels.webrtc, url, kind: 'bench', seats: () => undefined, onEnd: () => () => {} },
    )
    await group.barrier({ timeoutMs })
    await channels.meet(group.rank, group.size)
    return { rank: group.rank }
  }

  const links = async (): Promise<RankLinks> => {
    const { rank, size } = group
    const oneWay: number[] = []
    await group.barrier({ timeoutMs })
    if (rank === 0) for (let i = 0; i < pings; i++) oneWay.push((await channels.ping(1, 32)) / 2)
    await group.barrier({ timeoutMs })
    const stream = (bytes: number) =>
      channels.move(
        rank === 0
          ? [{ rank: 1, sent: bytes, received: 0 }]
          : rank === 1
            ? [{ rank: 0, sent: 0, received: bytes }]
            : [],
      )
    const alone = [await stream(shortStream), await stream(longStream)] as const
    const [next, previous] = [(rank + 1) % size, (rank + size - 1) % size]
    const both = (bytes: number) =>
      channels.move(
        next === previous
          ? [{ rank: next, sent: bytes, received: bytes }]
          : [
              { rank: next, sent: bytes, received: 0 },
              { rank: previous, sent: 0, received: bytes },
            ],
      )
    const ring = [await both(shortStream), await both(longStream)] as const
    await group.barrier({ timeoutMs })
    const slope = ([short, long]: readonly [number, number]) => (long - short) / (longStream - shortStream)
    const { model } = group
    return {
      rank,
      oneWay,
      ...(rank === 1 && { beta: slope(alone) }),
      ringBeta: slope(ring),
      modelAlpha: model.links[0]?.[1]?.alpha ?? 0,
      modelHostBeta: model.hostBeta,
    }
  }

  const call = async (bytes: number, candidate: Candidate): Promise<RankSample> => {
    const { rank, size } = group
    const { label, algorithm, settings, consistency } = candidate
    await group.barrier({ timeoutMs })
    if (algorithm === 'raw') {
      const others = Array.from({ length: size }, (_, other) => other).filter((other) => other !== rank)
      const traffic = others.map((other) => ({ rank: other, sent: bytes, received: bytes }))
      const seconds = await channels.move(traffic)
      const end = now()
      const moved = (size - 1) * bytes
      return { bytes, label, begin: end - seconds, end, sent: moved, received: moved, isWrong: false }
    }
    const data = new Float32Array(Math.ceil(bytes / 4)).fill(rank + 1)
    const begin = now()
    const result = await group.allreduce(data, {
      algorithm,
      consistency,
      timeoutMs,
      ...(settings && { settings }),
    })
    const end = now()
    const { report } = result
    const sum = (size * (size + 1)) / 2
    return {
      bytes,
      label,
      begin,
      end,
      sent: report.bytesSent,
      received: report.bytesReceived,
      predicted: report.predictedSeconds,
      chosen: labelOf(report.algorithm, report.settings),
      isWrong: result.data.some((value) => value !== sum),
    }
  }

  return async (command) => {
    switch (command.do) {
      case 'join':
        return join(command)
      case 'links':
        return links()
      case 'predict': {
        const { bytes, consistency } = command
        return group.predict({ count: Math.ceil(bytes / 4), consistency }).candidates
      }
      case 'call':
        return call(command.bytes, command.candidate)
      case 'leave':
        await group.leave()
        return undefined
    }
  }
}

export function labelOf(algorithm: string, settings: Settings): string {
  const shown = Object.entries(settings).map(([name, value]) => `${name} ${value}`)
  return [algorithm, ...shown].join(' ')
}
