/** The peers of one process or tab in a benchmark of a room: they wait for all others, one of rank 0 begins, and they leave when it is over. */
import type { Clock } from '../base/clock.ts'
import { JoinError } from '../base/errors.ts'
import type { Group } from '../collective/types.ts'
import type { BenchEvent } from './events.ts'
import type { RawLinks } from './measure.ts'
import { BenchMember } from './member.ts'
import type { BenchPlan } from './plan.ts'

/** A peer with its place in the room. */
export interface BenchSeat {
  readonly group: Group
  /** Needed for the baseline `raw`; `meet` learns which channel leads to which rank. */
  readonly raw?: (RawLinks & { meet(rank: number, size: number): Promise<void> }) | undefined
}

export interface AttendConfig {
  /** One at least. */
  readonly seats: readonly BenchSeat[]
  /** In the room, with those of other processes and machines. */
  readonly size: number
  /** What rank 0 begins when all are there. */
  readonly plan: BenchPlan
  /** Runtime with its version, for people. */
  readonly agent: string
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Rejects when there is no use in waiting for others. */
  readonly hopeless?: Promise<never> | undefined
  /** What the first peer is told: the same as all others. */
  readonly onEvent?: ((event: BenchEvent) => void) | undefined
}

/** A benchmark of many peers on few cores must not take slowness for silence. */
export const joinSeconds = 120

/** Resolves when the benchmark is over for all of them. @throws what ended it early, when all have left */
export async function attendBench(config: AttendConfig): Promise<void> {
  const { seats, size, clock, agent, hopeless } = config
  try {
    const ready = Promise.all(seats.map(({ group }) => whenReady(group, config)))
    await Promise.race(hopeless === undefined ? [ready] : [ready, hopeless])
    await Promise.all(seats.map(({ group, raw }) => raw?.meet(group.rank, size)))
    await Promise.all(
      seats.map(({ group, raw }, at) => {
        const member = new BenchMember({ group, clock, agent, ...(raw && { raw }) })
        return follow(member, group, at === 0 ? config : { ...config, onEvent: undefined })
      }),
    )
  } finally {
    await Promise.all(seats.map(({ group }) => group.leave()))
  }
}

/** One benchmark: begun by rank 0 as soon as all members follow. */
async function follow(
  member: BenchMember,
  group: Group,
  { plan, signal, onEvent }: Pick<AttendConfig, 'plan' | 'signal' | 'onEvent'>,
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

async function whenReady(group: Group, { size, clock, signal }: AttendConfig): Promise<void> {
  const off: (() => void)[] = []
  await new Promise<void>((resolve, reject) => {
    const look = () => {
      if (group.state === 'ready' && group.size >= size) resolve()
    }
    const late = () => {
      const open = group.links().filter(({ state }) => state === 'open').length
      const own = group.roster.find(({ peerId }) => peerId === group.peerId)?.name ?? 'this peer'
      reject(
        new JoinError(
          'GROUP_NOT_FORMED',
          `The group was not ready within ${joinSeconds} s: ${group.roster.length} of ${size} peers are in the room, ${open} links of ${own} are open.`,
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
    if (signal.aborted) abort()
    look()
  }).finally(() => {
    for (const end of off) end()
  })
}
