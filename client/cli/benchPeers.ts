/** The peers of a benchmark: on Node, in processes of their own, in one room. */
import { fork } from 'node:child_process'
import { hostname } from 'node:os'
import type { Clock } from '../../shared/base/clock.ts'
import { JoinError } from '../../shared/base/errors.ts'
import type { BenchEvent } from '../../shared/bench/events.ts'
import { BenchMember } from '../../shared/bench/member.ts'
import type { BenchPlan } from '../../shared/bench/plan.ts'
import { type JoinedGroup, joinWith } from '../rtc/join.ts'
import { loadNodeWebrtc } from '../rtc/nodeWebrtc.ts'
import { createRawChannels } from '../rtc/rawChannels.ts'
import { exitCodes } from './exitCodes.ts'

export interface Place {
  readonly url: URL
  readonly room: string
}

export interface PeersConfig {
  readonly place: Place
  readonly create: boolean
  readonly count: number
  /** In the room, with those of other processes and machines. */
  readonly size: number
  /** What rank 0 begins when all are there. */
  readonly plan: BenchPlan
  readonly clock: Clock
  readonly signal: AbortSignal
  /** The peers of this process have their seats; rejects when there is no use in waiting for others. */
  readonly whileSeated?: () => Promise<never>
  /** What the first peer is told: the same as all others. */
  readonly onEvent?: (event: BenchEvent) => void
}

/** A benchmark of many peers on few cores must not take slowness for silence. */
const joinSeconds = 120

/** Resolves when the benchmark is over for all of them. @throws what ended it early. */
export async function benchOnNode(config: PeersConfig): Promise<void> {
  const { place, create, count, size, plan, clock, signal, whileSeated, onEvent } = config
  const native = await loadNodeWebrtc()
  const hasRaw = plan.baselines.includes('raw')
  const enter = async (isFirst: boolean) => {
    const channels = hasRaw ? createRawChannels(native) : undefined
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
        webrtc: channels?.webrtc ?? native,
        url: place.url.href,
        kind: 'node',
        seats: () => undefined,
        onEnd: () => () => {},
        clock,
      },
    )
    return { group, channels }
  }
  const first = await enter(true)
  const peers = [first, ...(await Promise.all(Array.from({ length: count - 1 }, () => enter(false))))]
  try {
    const ready = Promise.all(peers.map(({ group }) => whenReady(group, size, clock, signal)))
    await Promise.race([ready, ...(whileSeated ? [whileSeated()] : [])])
    await Promise.all(peers.map(({ group, channels }) => channels?.meet(group.rank, size)))
    const agent = `Node ${process.versions.node} on ${hostname()}, pid ${process.pid}`
    const runs = peers.map(({ group, channels }, at) => {
      const member = new BenchMember({ group, clock, agent, ...(channels && { raw: channels }) })
      return follow(member, group, { plan, signal, ...(at === 0 && onEvent && { onEvent }) })
    })
    await Promise.all(runs)
  } finally {
    await Promise.all(peers.map(({ group }) => group.leave()))
  }
}

interface Following extends Pick<PeersConfig, 'plan' | 'signal'> {
  readonly onEvent?: PeersConfig['onEvent']
}

/** One benchmark: begun by rank 0 as soon as all members follow. */
async function follow(
  member: BenchMember,
  group: JoinedGroup,
  { plan, signal, onEvent }: Following,
): Promise<void> {
  const stop = () => member.stop()
  signal.addEventListener('abort', stop)
  try {
    await new Promise<void>((resolve, reject) => {
      const begin = () => {
        if (group.rank === 0 && !member.isRunning && member.present.length === group.size) member.ask(plan)
      }
      member.on('present', begin)
      member.on('told', (event) => onEvent?.(event))
      member.on('finished', ({ error }) => (error === undefined ? resolve() : reject(error)))
      group.on('state', (state) => {
        if (state === 'left') reject(new JoinError('GROUP_NOT_FORMED', 'This peer was put out of the room.'))
      })
      begin()
    })
  } finally {
    signal.removeEventListener('abort', stop)
    member.close()
  }
}

async function whenReady(group: JoinedGroup, size: number, clock: Clock, signal: AbortSignal): Promise<void> {
  const off: (() => void)[] = []
  await new Promise<void>((resolve, reject) => {
    const look = () => {
      if (group.state === 'ready' && group.size >= size) resolve()
    }
    const late = () => {
      const open = group.links().filter(({ state }) => state === 'open').length
      reject(
        new JoinError(
          'GROUP_NOT_FORMED',
          `The group was not ready within ${joinSeconds} s: ${group.roster.length} of ${size} peers are in the room, ${open} links of ${group.name} are open.`,
        ),
      )
    }
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort)
    off.push(
      () => signal.removeEventListener('abort', abort),
      clock.after(joinSeconds, late),
      group.on('state', look),
      group.on('view', look),
    )
    look()
  }).finally(() => {
    for (const end of off) end()
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
