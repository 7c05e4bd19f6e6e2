/**
 * Measures the links of one member with real messages over the open channels. Pair after pair: the lower rank sends messages of each probe
 * size and the other echoes them, so that each link is seen alone; then all ranks send to all at once, which shows what they share (one
 * processor, one Wi-Fi cell). Nobody is waited for without end: what does not come in time counts as not measured.
 */
import type { Clock } from '../base/clock.ts'
import { createDeferred, type Deferred } from '../base/deferred.ts'
import { curveTime } from '../cost/curve.ts'
import { type EchoSample, fitBursts, fitCurve, probeSizes } from '../cost/fit.ts'
import type { RankMeasurement } from '../cost/types.ts'
import type { Frame } from '../wire/frame.ts'
import { measureGamma } from '../wire/gamma.ts'
import type { Control } from './control.ts'
import type { Lane } from './lane.ts'
import { pairRounds, partnerOf } from './pairs.ts'
import type { Attempt } from './recovery.ts'

/** A peer that is not in its round by then is left out. */
const patienceSeconds = 2
/** Echoes of one size go on until there are `enough`, or this much time is used up. */
const secondsPerSize = 0.08
const enough = 5
/** Small messages to each peer in the burst of all. */
const burstMessages = 8
const smallBytes = 32
/** Bytes that a rank sends in the large burst, over all its peers. */
const burstBytes = 256 * 1024
const noPayload = new Uint8Array(0)
/** Signs that are kept for rounds to come: far more than any group has. */
const maxSigns = 10_000

export interface Prober {
  /** Measures the links to the other members of the attempt. `isFresh`: forget what is known already. */
  measure(op: number, attempt: Attempt, isFresh: boolean): Promise<RankMeasurement>
  frame(peerId: string, frame: Frame): void
  control(peerId: string, control: Control): void
  /** The link is gone, and what was known about it. */
  forget(peerId: string): void
  /** Resolves when all that was sent on the lane has arrived, or after some seconds without an answer. */
  flush(lane: Lane): Promise<void>
  /** Ends what is still waited for. */
  stop(): void
}

export function createProber(config: {
  clock: Clock
  segmentBytes: number
  lane(peerId: string): Lane | undefined
  tell(control: Control, peerId: string): void
}): Prober {
  const { clock, segmentBytes } = config
  const zeros = new Uint8Array(segmentBytes)
  const samplesOf = new Map<string, EchoSample[]>()
  const echoes = new Map<number, Deferred<void>>()
  const signs = new Map<string, { op: number; heard: Deferred<Control> }>()
  let nextSequence = 1
  /** The newest measurement; an older one that still runs ends at once with what it has. */
  let newest = { op: -1, superseded: createDeferred<undefined>() }

  /** What a peer says in a round of an op; it may say it before this member gets there. */
  const sign = (type: 'probe' | 'probed', peerId: string, op: number, round: number) => {
    const key = `${type} ${peerId} ${op} ${round}`
    const found = signs.get(key) ?? { op, heard: createDeferred<Control>() }
    if (signs.size < maxSigns) signs.set(key, found)
    return found.heard
  }
  /** Undefined when it does not come in time, or a newer measurement begins. */
  const within = async <T>(promise: Promise<T>, seconds: number): Promise<T | undefined> => {
    const limit = createDeferred<undefined>()
    const cancel = clock.after(seconds, () => limit.resolve(undefined))
    const value = await Promise.race([promise, limit.promise, newest.superseded.promise])
    cancel()
    return value
  }

  const sendParts = (lane: Lane, kind: 'ping' | 'pong', step: number, total: number) => {
    let offset = 0
    do {
      const bytes = Math.min(segmentBytes, total - offset)
      lane.sendNow({ kind, step, offset, total }, zeros.subarray(0, bytes))
      offset += bytes
    } while (offset < total)
  }
  const echo = async (lane: Lane, bytes: number): Promise<number | undefined> => {
    const sequence = nextSequence++
    const answer = createDeferred<void>()
    echoes.set(sequence, answer)
    const begin = clock.now()
    sendParts(lane, 'ping', sequence, bytes)
    const seconds = await within(
      answer.promise.then(() => clock.now() - begin),
      patienceSeconds,
    )
    echoes.delete(sequence)
    return seconds
  }

  const drive = async (lane: Lane): Promise<EchoSample[]> => {
    const samples: EchoSample[] = []
    await echo(lane, smallBytes)
    for (const bytes of probeSizes) {
      const begin = clock.now()
      for (let i = 0; i < enough && (i === 0 || clock.now() - begin < secondsPerSize); i++) {
        const seconds = await echo(lane, bytes)
        if (seconds === undefined) return samples
        samples.push({ bytes, seconds })
      }
    }
    return samples
  }

  const meet = async (op: number, round: number, attempt: Attempt, partner: number) => {
    const { peerId } = attempt.members[partner]!
    const lane = config.lane(peerId)
    if (!lane) return
    config.tell({ type: 'probe', op, round }, peerId)
    if (!(await within(sign('probe', peerId, op, round).promise, patienceSeconds))) return
    if (attempt.rank < partner) {
      const samples = samplesOf.get(peerId) ?? (await drive(lane))
      samplesOf.set(peerId, samples)
      const pairs = samples.map(({ bytes, seconds }): [number, number] => [bytes, seconds])
      config.tell({ type: 'probed', op, round, samples: pairs }, peerId)
      return
    }
    const heard = await within(sign('probed', peerId, op, round).promise, 2 * patienceSeconds)
    if (heard?.type !== 'probed') return
    const samples = heard.samples.map(([bytes, seconds]) => ({ bytes, seconds }))
    samplesOf.set(peerId, samples)
  }

  /** All ranks at once: seconds until `messages` of `bytes` to each peer have come back. */
  const burst = async (lanes: readonly Lane[], messages: number, bytes: number) => {
    const begin = clock.now()
    const all = lanes.flatMap((lane) => Array.from({ length: messages }, () => echo(lane, bytes)))
    const answers = await Promise.all(all)
    return answers.includes(undefined) ? undefined : clock.now() - begin
  }
  const burstOfAll = async (op: number, attempt: Attempt, alone: (bytes: number) => number) => {
    const others = attempt.members.filter((_, rank) => rank !== attempt.rank)
    const lanes = others.flatMap(({ peerId }) => config.lane(peerId) ?? [])
    const round = pairRounds(attempt.members.length)
    for (const { peerId } of others) config.tell({ type: 'probe', op, round }, peerId)
    const all = others.map(({ peerId }) => sign('probe', peerId, op, round).promise)
    const isTogether = await within(Promise.all(all), patienceSeconds)
    if (!isTogether || lanes.length < others.length) return { overhead: 0, beta: 0 }
    // Everybody's messages and their echoes.
    const perPeer = attempt.members.length * others.length * 2
    const large = Math.max(4096, Math.floor(burstBytes / others.length))
    const smallSeconds = await burst(lanes, burstMessages, smallBytes)
    const largeSeconds = await burst(lanes, 1, large)
    if (smallSeconds === undefined || largeSeconds === undefined) return { overhead: 0, beta: 0 }
    return fitBursts(
      [
        {
          messages: perPeer * burstMessages,
          bytes: perPeer * burstMessages * smallBytes,
          seconds: smallSeconds,
        },
        { messages: perPeer, bytes: perPeer * large, seconds: largeSeconds },
      ],
      alone,
    )
  }

  return {
    async measure(op, attempt, isFresh) {
      const size = attempt.members.length
      for (const [key, { op: earlier }] of signs) if (earlier < op) signs.delete(key)
      if (isFresh) samplesOf.clear()
      newest.superseded.resolve(undefined)
      newest = { op, superseded: createDeferred() }
      for (let round = 0; round < pairRounds(size) && op === newest.op; round++) {
        const partner = partnerOf(size, round, attempt.rank)
        if (partner !== undefined) await meet(op, round, attempt, partner)
      }
      const links = attempt.members.map((member, rank) =>
        rank === attempt.rank ? undefined : fitCurve(samplesOf.get(member.peerId) ?? []),
      )
      const curves = links.flatMap((curve) => curve ?? [])
      /** There and back over the slowest link, with nothing else under way. */
      const alone = (bytes: number) => 2 * Math.max(0, ...curves.map((curve) => curveTime(curve, bytes)))
      const shared =
        size < 2 || op !== newest.op ? { overhead: 0, beta: 0 } : await burstOfAll(op, attempt, alone)
      return {
        gamma: measureGamma(() => clock.now()),
        overhead: 0,
        hostBeta: 0,
        sharedBeta: shared.beta,
        sharedOverhead: shared.overhead,
        links,
      }
    },
    frame(peerId, frame) {
      if (frame.offset + frame.payload.byteLength < frame.total) return
      if (frame.kind === 'ping') {
        const lane = config.lane(peerId)
        if (lane) sendParts(lane, 'pong', frame.step, frame.total)
      } else echoes.get(frame.step)?.resolve()
    },
    control(peerId, control) {
      if (control.type === 'probe' || control.type === 'probed')
        sign(control.type, peerId, control.op, control.round).resolve(control)
    },
    forget(peerId) {
      samplesOf.delete(peerId)
    },
    async flush(lane) {
      // Says that this member needs nothing more. Messages keep their order: the answer to the ping proves that all is in.
      lane.sendNow({ kind: 'ack' }, noPayload)
      await echo(lane, 0)
    },
    stop: () => newest.superseded.resolve(undefined),
  }
}
