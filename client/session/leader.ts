/**
 * What a member does beyond its own part when it is rank 0: it keeps the book (sequencer.ts) and gives the orders. A run is led to its
 * end by the same member, also when the rank 0 that was lost comes back meanwhile.
 */
import type { Prng } from '../../shared/base/prng.ts'
import type { Group } from '../../shared/collective/types.ts'
import type { RunMessage } from './messages.ts'
import { createId } from './runSpec.ts'
import { type OpenRun, type Order, Sequencer } from './sequencer.ts'

export interface LeaderConfig {
  group: Group
  prng: Prng
  nameOf(peerId: string): string
  /** To the others first and to this member last, so that nobody waits for its work. */
  tellAll(message: RunMessage): void
  tell(message: RunMessage, to: string): void
}

export class Leader {
  readonly #config: LeaderConfig
  readonly #sequencer: Sequencer

  constructor(config: LeaderConfig) {
    this.#config = config
    this.#sequencer = new Sequencer(() => createId(config.prng), config.nameOf)
  }

  /** The group may have changed its members, its ranks, or its state; `inherited` has lost its leader, and this member is rank 0. */
  settle(inherited?: OpenRun): void {
    const { group, tell } = this.#config
    if (group.rank !== 0) this.#sequencer.onDeposed()
    if (inherited) this.#sequencer.onInherited(inherited)
    const leads = group.rank === 0 || this.#sequencer.isLeading
    const members = group.members.map((member) => member.peerId)
    if (group.state === 'ready' && leads) this.#give(this.#sequencer.onReady(group.epoch, members))
    else this.#sequencer.onPending()
    if (inherited) for (const peerId of inherited.members) tell(inherited.task, peerId)
  }

  /** Another rank 0 has begun a run: members follow that. */
  yield(): void {
    this.#sequencer.onOvertaken()
  }

  receive(from: string, message: RunMessage): void {
    // Who is present is remembered on every rank: each may lead one day.
    if (message.type === 'hello') this.#give(this.#sequencer.onPresent(from))
    else if (this.#config.group.rank === 0 || this.#sequencer.isLeading)
      this.#give(this.#ordersAfter(from, message))
  }

  #ordersAfter(from: string, message: RunMessage): Order[] {
    const isFirst = this.#config.group.rank === 0
    switch (message.type) {
      case 'request': {
        const request = { requestId: message.requestId, by: from, spec: message.spec }
        const reason = 'A run is going on. Try again after it.'
        return isFirst ? this.#sequencer.onRequest(request) : [{ type: 'refused', request, reason }]
      }
      case 'measure-request':
        return isFirst ? this.#sequencer.onMeasureRequest() : []
      case 'stop-request':
        return this.#sequencer.onFailed(message.runId, {
          code: 'ABORTED',
          message: `Stopped by ${this.#config.nameOf(from)}.`,
          peers: [],
        })
      case 'done':
        return this.#sequencer.onDone(from, message.runId, message.position, message.hash)
      case 'failed':
        return this.#sequencer.onFailed(message.runId, message.error)
      default:
        return []
    }
  }

  #give(orders: readonly Order[]): void {
    const { group, prng, tell, tellAll } = this.#config
    for (const order of orders)
      switch (order.type) {
        case 'refused': {
          const { requestId, by } = order.request
          tell({ type: 'refused', requestId, reason: order.reason }, by)
          break
        }
        case 'start': {
          const { runId, request } = order
          tellAll({ type: 'start', runId, ...request, epoch: group.epoch, seed: prng.below(2 ** 31) })
          break
        }
        default:
          tellAll(order)
      }
  }
}
