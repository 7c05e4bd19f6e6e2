/** One peer of the measurement of the data plane; runs in a tab and on Node alike. */
import { joinWith } from '../../client/rtc/join.ts'
import { createRawChannels } from '../../client/rtc/rawChannels.ts'
import type { Webrtc } from '../../client/rtc/simplePeer.ts'
import type { LinkTraffic } from '../../shared/bench/measure.ts'
import type { Report } from '../../shared/collective/types.ts'

export interface PlaneRequest {
  readonly url: string
  readonly size: number
  readonly bytes: number
  readonly runs: number
  readonly smallBytes: number
  readonly smallRuns: number
}

/** What a rank has seen, run by run. Seconds. */
export interface PlaneSamples {
  readonly rank: number
  readonly algorithm: string
  /** Sent by this rank in one allreduce. */
  readonly bytesSent: number
  readonly ours: readonly number[]
  readonly raw: readonly number[]
  readonly smallAlgorithm: string
  readonly smallSteps: number
  readonly small: readonly number[]
  /** There and back between rank 0 and rank 1; of the others none. */
  readonly pings: readonly number[]
}

export async function planeMember(webrtc: Webrtc, request: PlaneRequest): Promise<PlaneSamples> {
  const { url, size, bytes, runs, smallBytes, smallRuns } = request
  const channels = createRawChannels(webrtc)
  const group = await joinWith(
    // While the channels are driven raw the group hears nothing.
    { url, room: 'plane', create: true, size, silenceSeconds: Number.POSITIVE_INFINITY },
    {
      webrtc: channels.webrtc,
      url,
      kind: 'bench',
      seats: () => undefined,
      onEnd: () => () => {},
    },
  )
  await group.barrier({ timeoutMs: 60_000 })
  await channels.meet(group.rank, size)

  const data = new Float32Array(bytes / 4).fill(1)
  const into = new Float32Array(data.length)
  const allreduce = async () => {
    await group.barrier({ timeoutMs: 60_000 })
    const begin = performance.now()
    const { report } = await group.allreduce(data, { into, timeoutMs: 120_000 })
    return { report, seconds: (performance.now() - begin) / 1000 }
  }
  const first = await allreduce()
  const traffic = trafficOf(first.report, size)
  await channels.move(traffic)
  const ours: number[] = []
  const raw: number[] = []
  for (let run = 0; run < runs; run++) {
    ours.push((await allreduce()).seconds)
    await group.barrier({ timeoutMs: 60_000 })
    raw.push(await channels.move(traffic))
  }

  const tiny = new Float32Array(Math.floor(smallBytes / 4)).fill(1)
  const small: number[] = []
  const pings: number[] = []
  let smallReport: Report | undefined
  for (let run = 0; run < smallRuns; run++) {
    await group.barrier({ timeoutMs: 60_000 })
    const begin = performance.now()
    smallReport = (await group.allreduce(tiny)).report
    small.push((performance.now() - begin) / 1000)
    await group.barrier({ timeoutMs: 60_000 })
    if (group.rank === 0 && size > 1) pings.push(await channels.ping(1, smallBytes))
  }
  await group.barrier({ timeoutMs: 60_000 })
  const result: PlaneSamples = {
    rank: group.rank,
    algorithm: nameOf(first.report),
    bytesSent: first.report.bytesSent,
    ours,
    raw,
    smallAlgorithm: smallReport ? nameOf(smallReport) : '',
    smallSteps: smallReport?.steps ?? 0,
    small,
    pings,
  }
  await group.leave()
  return result
}

function nameOf({ algorithm, settings }: Report): string {
  return [algorithm, ...Object.entries(settings).map(([name, value]) => `${name} ${value}`)].join(' ')
}

/** What the collective has moved, by peer. */
function trafficOf({ messages }: Report, size: number): LinkTraffic[] {
  const sum = (rank: number, direction: 'send' | 'receive') =>
    messages.reduce(
      (bytes, message) =>
        bytes + (message.peer === rank && message.direction === direction ? message.bytes : 0),
      0,
    )
  const ranks = Array.from({ length: size }, (_, rank) => rank)
  return ranks
    .map((rank) => ({ rank, sent: sum(rank, 'send'), received: sum(rank, 'receive') }))
    .filter(({ sent, received }) => sent + received > 0)
}
