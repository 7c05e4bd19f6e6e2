/**
 * Who is waited for. When nothing has moved in an op for a while, the members are asked whether they have called it: those who have not, or do
 * not answer, hold it up; else those whose data is missing.
 */
import type { Clock } from '../base/clock.ts'
import type { PeerName } from '../base/errors.ts'
import type { Member } from '../membership/types.ts'
import type { Execution } from './execution.ts'
import { type Attempt, nameOf } from './recovery.ts'
import type { Waiting } from './types.ts'

/** Nothing moved for so long: ask around. */
const stallSeconds = 1
const watchSeconds = 0.5

/** An op that runs on this member. */
export interface RunningOp {
  readonly op: number
  readonly attempt: Attempt
  readonly execution: Execution
}

export interface Stalls {
  /** Watches until nothing runs any more. */
  watch(): void
  heard(op: number, peerId: string, isCalled: boolean): void
  culprits(running: RunningOp): { step: number; peers: PeerName[] }
  end(op: number): void
}

export function createStalls(config: {
  clock: Clock
  running(): readonly RunningOp[]
  ask(op: number): void
  /** In a group that has not all links, not everybody is asked. */
  isNear(peerId: string): boolean
  onWaiting(waiting: Waiting): void
}): Stalls {
  const { clock } = config
  /** Of ops in which nothing moves: what members have said since they were asked. */
  const answers = new Map<number, Map<string, boolean>>()
  let isWatching = false

  const culprits = ({ op, attempt, execution }: RunningOp) => {
    const { step, peers } = execution.waitingFor()
    const said = answers.get(op)
    const ranks = attempt.members.map((_, rank) => rank).filter((rank) => rank !== attempt.rank)
    const isSilent = ({ peerId }: Member) => config.isNear(peerId) && said?.get(peerId) !== true
    const silent = said ? ranks.filter((rank) => isSilent(attempt.members[rank]!)) : []
    return { step, peers: (silent.length > 0 ? silent : peers).map((rank) => nameOf(attempt, rank)) }
  }
  const check = () => {
    const running = config.running()
    isWatching = running.length > 0
    for (const one of running) {
      const { op, execution } = one
      const seconds = clock.now() - execution.movedAt
      if (seconds < stallSeconds) {
        answers.delete(op)
        continue
      }
      if (answers.has(op)) config.onWaiting({ op, seconds, ...culprits(one) })
      else answers.set(op, new Map())
      config.ask(op)
    }
    if (isWatching) clock.after(watchSeconds, check)
  }
  return {
    culprits,
    watch() {
      if (!isWatching) clock.after(watchSeconds, check)
      isWatching = true
    },
    heard(op, peerId, isCalled) {
      answers.get(op)?.set(peerId, isCalled)
    },
    end(op) {
      answers.delete(op)
    },
  }
}
