/**
 * Measures the links of one member with real messages over the open channels. Pair after pair: the lower rank sends messages of each probe
 * size and the other echoes them, so that each link is seen alone; then all ranks send to all at once, which shows what they share (one
 * processor, one Wi-Fi cell). Nobody is waited for without end: what does not come in time counts as not measured.
 *
 * Rates are taken from the middle of long streams and not from the times of whole messages: on a link with a round trip the first
 * 100 KB or so are slow, because the window of the association has yet to open, and a stream in both directions carries less than one.
 */
import type { Clock } from '../base/clock.ts'
import { createDeferred, type Deferred } from '../base/deferred.ts'
import { curveTime } from '../cost/curve.ts'
import { type EchoSample, fitBursts, fitCurve, median, probeSizes } from '../cost/fit.ts'
import type { LinkCurve, RankMeasurement } from '../cost/types.ts'
import type { Frame } from '../wire/frame.ts'
import { measureGamma } from '../wire/gamma.ts'
import type { Control } from './control.ts'
import { createEchoes } from './echoes.ts'
import type { Lane } from './lane.ts'
import { pairRounds, partnerOf } from './pairs.ts'
import type { Attempt } from './recovery.ts'

/** A peer that is not in its round by then is left out. */
const patienceSeconds = 2
/** Echoes of one size go on until there are `enough`, or this much time is used up. */
const secondsPerSize = 0.08
const enough = 5
/**
 * How often all send one small message to each of all, as in the step of an op; the median counts. Several messages in one go
 * would share what it costs to wake a tab, which was seen to be most of it where all ranks run on one machine.
 */
const exchanges = 5
const smallBytes = 32
/** Small messages to one peer, one after the other. */
const rowMessages = 16
/** Bytes that a rank sends in the large burst, over all its peers. */
const burstBytes = 256 * 1024
/** All at once are slower than one alone by less than this: then it is the line of the host that they fill, and nothing that hosts share. */
const sameLine = 1.6
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
  const seenOf = new Map<string, Seen>()
  const signs = new Map<string, { op: number; heard: Deferred<Control> }>()
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

  const echoes = createEchoes({
    clock,
    segmentBytes,
    lane: config.lane,
    within: (promise) => within(promise, patienceSeconds),
  })

  const drive = async (lane: Lane): Promise<Seen> => {
    const samples: EchoSample[] = []
    const paces: number[] = []
    await echoes.send(lane, smallBytes)
    for (const bytes of probeSizes) {
      const begin = clock.now()
      for (let i = 0; i < enough && (i === 0 || clock.now() - begin < secondsPerSize); i++) {
        const meter = echoes.meter(bytes, [0.45, 1])
        const seconds = await echoes.send(lane, bytes)
        const { pace } = meter
        if (seconds === undefined) return { samples }
        samples.push({ bytes, seconds })
        if (pace !== undefined) paces.push(pace)
      }
    }
    const alone = median(samples.filter(({ bytes }) => bytes === smallBytes).map(({ seconds }) => seconds))
    const row = await echoes.burst([lane], rowMessages, smallBytes)
    return {
      samples,
      ...(paces.length > 0 && { pace: median(paces) }),
      // Each message and its answer pass either processor twice, and both at the same time.
      ...(row !== undefined && { overhead: Math.max(0, row - alone) / (2 * (rowMessages - 1)) }),
    }
  }

  const meet = async (op: number, round: number, attempt: Attempt, partner: number) => {
    const { peerId } = attempt.members[partner]!
    const lane = config.lane(peerId)
    if (!lane) return
    config.tell({ type: 'probe', op, round }, peerId)
    if (!(await within(sign('probe', peerId, op, round).promise, patienceSeconds))) return
    if (attempt.rank < partner) {
      const seen = seenOf.get(peerId) ?? (await drive(lane))
      seenOf.set(peerId, seen)
      const pairs = seen.samples.map(({ bytes, seconds }): [number, number] => [bytes, seconds])
      config.tell({ ...seen, type: 'probed', op, round, samples: pairs }, peerId)
      return
    }
    const heard = await within(sign('probed', peerId, op, round).promise, 2 * patienceSeconds)
    if (heard?.type !== 'probed') return
    const { pace, overhead } = heard
    seenOf.set(peerId, {
      samples: heard.samples.map(([bytes, seconds]) => ({ bytes, seconds })),
      ...(pace !== undefined && { pace }),
      ...(overhead !== undefined && { overhead }),
    })
  }

  const burstOfAll = async (op: number, attempt: Attempt, alone: (bytes: number) => number) => {
    const others = attempt.members.filter((_, rank) => rank !== attempt.rank)
    const lanes = others.flatMap(({ peerId }) => config.lane(peerId) ?? [])
    const round = pairRounds(attempt.members.length)
    for (const { peerId } of others) config.tell({ type: 'probe', op, round }, peerId)
    const all = others.map(({ peerId }) => sign('probe', peerId, op, round).promise)
    const isTogether = await within(Promise.all(all), patienceSeconds)
    if (!isTogether || lanes.length < others.length) return { overhead: 0, pace: 0 }
    const large = Math.max(4096, Math.floor(burstBytes / others.length))
    const times: number[] = []
    for (let i = 0; i < exchanges; i++) {
      const seconds = await echoes.burst(lanes, 1, smallBytes)
      if (seconds === undefined) return { overhead: 0, pace: 0 }
      times.push(seconds)
    }
    // Everybody's messages and their echoes pass by here: from the first quarter on windows are open, and until the third all send.
    const meter = echoes.meter(2 * others.length * large, [0.25, 0.75])
    const largeSeconds = await echoes.burst(lanes, 1, large)
    if (largeSeconds === undefined) return { overhead: 0, pace: 0 }
    const messages = attempt.members.length * others.length * 2
    const small = { messages, bytes: messages * smallBytes, seconds: median(times) }
    return { overhead: fitBursts([small], alone).overhead, pace: meter.pace ?? 0 }
  }

  return {
    async measure(op, attempt, isFresh) {
      const size = attempt.members.length
      for (const [key, { op: earlier }] of signs) if (earlier < op) signs.delete(key)
      if (isFresh) seenOf.clear()
      newest.superseded.resolve(undefined)
      newest = { op, superseded: createDeferred() }
      for (let round = 0; round < pairRounds(size) && op === newest.op; round++) {
        const partner = partnerOf(size, round, attempt.rank)
        if (partner !== undefined) await meet(op, round, attempt, partner)
      }
      const seen = attempt.members.map(({ peerId }, rank) =>
        rank === attempt.rank ? undefined : seenOf.get(peerId),
      )
      const links = seen.map((one) => one && curveOf(one))
      const curves = links.flatMap((curve) => curve ?? [])
      /** There and back over the slowest link, with nothing else under way. */
      const alone = (bytes: number) => 2 * Math.max(0, ...curves.map((curve) => curveTime(curve, bytes)))
      const together =
        size < 2 || op !== newest.op ? { overhead: 0, pace: 0 } : await burstOfAll(op, attempt, alone)
      const lone = Math.min(...seen.flatMap((one) => one?.pace ?? []))
      const overheads = seen.flatMap((one) => one?.overhead ?? [])
      return {
        gamma: measureGamma(() => clock.now()),
        overhead: overheads.length > 0 ? median(overheads) : 0,
        hostBeta: hostPace(lone, together.pace),
        // All ranks get so much at the same time.
        sharedBeta: together.pace / size,
        sharedOverhead: together.overhead,
        links,
      }
    },
    frame: echoes.frame,
    control(peerId, control) {
      if (control.type === 'probe' || control.type === 'probed')
        sign(control.type, peerId, control.op, control.round).resolve(control)
    },
    forget(peerId) {
      seenOf.delete(peerId)
    },
    async flush(lane) {
      // Says that this member needs nothing more. Messages keep their order: the answer to the ping proves that all is in.
      lane.sendNow({ kind: 'ack' }, noPayload)
      await echoes.send(lane, 0)
    },
    stop: () => newest.superseded.resolve(undefined),
  }
}

/** What is known of a link. */
interface Seen {
  readonly samples: readonly EchoSample[]
  /** Seconds per byte in the second half of a long answer. */
  readonly pace?: number
  /** Seconds per message of either end. */
  readonly overhead?: number
}

function curveOf({ samples, pace }: Seen): LinkCurve | undefined {
  const curve = fitCurve(samples)
  return curve && pace !== undefined ? { ...curve, tail: pace } : curve
}

/**
 * Seconds per byte of a host's own line, from the fastest of its links alone and from all at once. Where all at once are about as fast as one
 * alone they are what counts, since collectives send both ways; where they are much slower something is shared, and that is told apart.
 */
function hostPace(lone: number, together: number): number {
  if (!Number.isFinite(lone)) return 0
  return together > lone && together < sameLine * lone ? together : lone
}
