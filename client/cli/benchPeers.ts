/** The peers of a benchmark: on Node, in processes of their own, in one room. */
import { fork } from 'node:child_process'
import { hostname } from 'node:os'
import { JoinError } from '../../shared/base/errors.ts'
import { type AttendConfig, attendBench, type BenchSeat, joinSeconds } from '../../shared/bench/attend.ts'
import { joinWith } from '../rtc/join.ts'
import { loadNodeWebrtc } from '../rtc/nodeWebrtc.ts'
import { createRawChannels } from '../rtc/rawChannels.ts'
import { exitCodes } from './exitCodes.ts'

export interface Place {
  readonly url: URL
  readonly room: string
}

export interface PeersConfig extends Omit<AttendConfig, 'seats' | 'agent' | 'hopeless'> {
  readonly place: Place
  readonly create: boolean
  readonly count: number
  /** The peers of this process have their seats; rejects when there is no use in waiting for others. */
  readonly whileSeated?: () => Promise<never>
}

/** Resolves when the benchmark is over for all of them. @throws what ended it early. */
export async function benchOnNode(config: PeersConfig): Promise<void> {
  const { place, create, count, plan, clock, signal, whileSeated } = config
  const native = await loadNodeWebrtc()
  const hasRaw = plan.baselines.includes('raw')
  const enter = async (isFirst: boolean): Promise<BenchSeat> => {
    const raw = hasRaw ? createRawChannels(native) : undefined
    const group = await joinWith(
      {
        url: place.url,
        room: place.room,
        create: create && isFirst,
        until: 'seat',
        timeoutMs: joinSeconds * 1000,
        // While the channels are driven raw the group hears nothing.
        ...(hasRaw && { silenceSeconds: Number.POSITIVE_INFINITY }),
        signal,
      },
      {
        webrtc: raw?.webrtc ?? native,
        url: place.url.href,
        kind: 'node',
        seats: () => undefined,
        onEnd: () => () => {},
        clock,
      },
    )
    return { group, raw }
  }
  const first = await enter(true)
  const others = await Promise.all(Array.from({ length: count - 1 }, () => enter(false)))
  await attendBench({
    ...config,
    seats: [first, ...others],
    agent: `Node ${process.versions.node} on ${hostname()}, pid ${process.pid}`,
    hopeless: whileSeated?.(),
  })
}

export interface Others {
  /** Their exit statuses when all have ended. */
  readonly codes: Promise<readonly number[]>
  /** One that ended before it was told to, and not well: the group will not form without it. */
  readonly failed: Promise<never>
  stop(): void
}

/** Each process is this command again, in the same room, with its share of the peers; it prints nothing. */
export function startOthers(
  shares: readonly number[],
  { url, room }: Place,
  size: number,
  argv: readonly string[],
): Others {
  const children = shares.map((peers) => {
    const own = [
      '--room',
      room,
      '--url',
      url.origin,
      '--size',
      size,
      '--peers',
      peers,
      '--processes',
      1,
      '--quiet',
    ]
    return fork(process.argv[1]!, ['bench', ...argv, ...own.map(String)], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: { ...process.env, [followerMark]: '1' },
    })
  })
  const codes = children.map(
    (child) =>
      new Promise<number>((resolve) => {
        child.once('error', () => resolve(exitCodes.notFormed))
        child.once('exit', (code) => resolve(code ?? exitCodes.lost))
      }),
  )
  const failed = new Promise<never>((_, reject) => {
    for (const code of codes)
      void code.then((status) => {
        if (status === exitCodes.notFormed || status === exitCodes.usage)
          reject(new JoinError('GROUP_NOT_FORMED', 'A process with peers of this benchmark has ended.'))
      })
  })
  failed.catch(() => {})
  return {
    codes: Promise.all(codes),
    failed,
    stop() {
      // A child takes the end of this channel for the end of who started it: it also ends when this process dies.
      for (const child of children) if (child.connected) child.disconnect()
    },
  }
}

/** Set for processes that only have peers: what they would print, another one prints. */
export const followerMark = 'PAPILIO_BENCH_FOLLOWER'
