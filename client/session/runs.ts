/**
 * Takes part in runs: hands requests to rank 0, follows its orders, tells everybody the results. Every member of a room has one,
 * whatever it runs in; it knows no DOM.
 */
import type { Clock } from '../../shared/base/clock.ts'
import { Emitter, type Events } from '../../shared/base/emitter.ts'
import type { Prng } from '../../shared/base/prng.ts'
import type { Group } from '../../shared/collective/types.ts'
import { Follower, isOrder, unknownRun } from './follower.ts'
import { Leader } from './leader.ts'
import { packRunMessage, parseRunMessage, type RunMessage } from './messages.ts'
import type { VerdictCache } from './part.ts'
import { Presence } from './presence.ts'
import type { RunEvents } from './runEvents.ts'
import type { RunSpec } from './runSpec.ts'

export interface RunMemberConfig {
  group: Group
  clock: Clock
  prng: Prng
  /** Browser or runtime with its version, for people. */
  agent: string
  verdicts: VerdictCache
  breathe: () => Promise<void> | undefined
}

export class RunMember implements Events<RunEvents> {
  readonly #config: RunMemberConfig
  readonly #events = new Emitter<RunEvents>()
  readonly #follower: Follower
  readonly #leader: Leader
  readonly #presence: Presence
  readonly #off: (() => void)[]
  #readyEpoch = -1

  constructor(config: RunMemberConfig) {
    const { group, clock, prng, agent, verdicts, breathe } = config
    this.#config = config
    const voice = {
      nameOf: (peerId: string) => this.#presence.nameOf(peerId),
      tellAll: (message: RunMessage) => this.#tellAll(message),
      tell: (message: RunMessage, to: string) => this.#tell(message, to),
      tellLeader: (message: RunMessage) => this.#tellLeader(message),
    }
    this.#presence = new Presence({ group, clock, agent, ...voice })
    this.#leader = new Leader({ group, prng, ...voice })
    this.#follower = new Follower({ group, clock, verdicts, breathe, events: this.#events, ...voice })
    this.#off = [
      group.on('message', ({ from, data }) => {
        const message = parseRunMessage(data)
        if (message) this.#receive(from.peerId, message)
      }),
      group.on('view', () => this.#settle()),
      group.on('state', () => this.#settle()),
      group.on('waiting', (waiting) => this.#follower.waits(waiting)),
    ]
  }

  /** Takes part from now on; listeners that were added before miss nothing. */
  start(): void {
    this.#settle()
  }

  on<Name extends keyof RunEvents>(event: Name, listener: (value: RunEvents[Name]) => void): () => void {
    return this.#events.on(event, listener)
  }

  /** Asks rank 0 for a run; `started` or `refused` with this id follows. */
  request(requestId: string, spec: RunSpec): void {
    this.#tellLeader({ type: 'request', requestId, spec })
  }

  /** Asks rank 0 to measure all links again. */
  measure(): void {
    this.#tellLeader({ type: 'measure-request' })
  }

  /** Asks rank 0 to stop the run on all ranks. */
  stop(runId: string): void {
    this.#tellLeader({ type: 'stop-request', runId })
  }

  /** The tab went out of sight or came back. */
  hide(isHidden: boolean): void {
    this.#presence.hide(isHidden)
  }

  /** Takes no part any more. A call that goes on is not stopped: it ends here when the peer leaves, and the others go on with it. */
  close(): void {
    this.#presence.close()
    for (const off of this.#off) off()
    this.#follower.close()
  }

  #tellAll(message: RunMessage): void {
    const { group } = this.#config
    if (group.size > 1) group.tell(packRunMessage(message))
    this.#receive(group.peerId, message)
  }

  #tell(message: RunMessage, to: string): void {
    const { group } = this.#config
    if (to === group.peerId) this.#receive(to, message)
    else group.tell(packRunMessage(message), to)
  }

  /** Of the run that is going on, or else rank 0; who follows the one that has left is known before the links are ready. */
  get #leaderId(): string | undefined {
    const { leader } = this.#follower
    const { members, roster } = this.#config.group
    if (leader === undefined) return members[0]?.peerId
    return (roster.find(({ peerId }) => peerId === leader) ?? roster[0])?.peerId
  }

  #tellLeader(message: RunMessage): void {
    const leader = this.#leaderId
    if (leader !== undefined) this.#tell(message, leader)
  }

  /** The group has (another) ready epoch: say hello, and lead it when this is rank 0. */
  #settle(): void {
    const { group } = this.#config
    const isNew = group.state === 'ready' && group.epoch !== this.#readyEpoch
    if (isNew) {
      this.#readyEpoch = group.epoch
      this.#presence.greet()
    }
    this.#leader.settle(isNew ? this.#follower.inherit() : undefined)
  }

  #receive(from: string, message: RunMessage): void {
    if (isOrder(message)) {
      const isBeginning = message.type === 'start' && from === this.#config.group.members[0]?.peerId
      if (from !== this.#leaderId && !isBeginning) return
      // A rank 0 that came back knows nothing of the run that another one has taken over from it.
      if (isBeginning && from !== this.#config.group.peerId) this.#leader.yield()
      this.#follower.follow(from, message)
      return
    }
    switch (message.type) {
      case 'hello':
        this.#events.emit('present', { peerId: from, about: message.about })
        this.#presence.receive(from, message)
        break
      case 'result':
        this.#events.emit('result', { runId: message.runId, peerId: from, result: message.result })
        break
      case 'progress':
        this.#events.emit('peerProgress', {
          runId: message.runId,
          peerId: from,
          step: message.step,
          fraction: message.fraction,
        })
        break
      case 'failed':
        this.#events.emit('failed', { runId: message.runId, peerId: from, error: message.error })
        break
      case 'done':
        // Of a run whose leader left before this rank 0 has heard of it.
        if (this.#config.group.rank === 0 && !this.#follower.knows(message.runId))
          this.#tell({ type: 'finish', runId: message.runId, error: unknownRun }, from)
    }
    this.#leader.receive(from, message)
  }
}
