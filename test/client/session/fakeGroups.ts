/** Groups in one process whose faults a test chooses: calls end when all members have made them, told messages arrive in order. */
import { createDeferred, type Deferred } from '../../../shared/base/deferred.ts'
import { Emitter } from '../../../shared/base/emitter.ts'
import { AbortedError, PeerLostError } from '../../../shared/base/errors.ts'
import type {
  AllreduceOptions,
  Choice,
  CollectiveOptions,
  Group,
  GroupEvents,
  GroupState,
  Report,
  Result,
} from '../../../shared/collective/types.ts'
import type { NetworkModel } from '../../../shared/cost/types.ts'
import type { Member } from '../../../shared/membership/types.ts'
import type { LinkStatus } from '../../../shared/transport/types.ts'
import { dtypeOf, type NumberArray, type VectorArray } from '../../../shared/wire/dtype.ts'
import type { OperatorName } from '../../../shared/wire/operator.ts'
import { resolveOperator } from '../../../shared/wire/resolve.ts'

interface PendingOp {
  readonly inputs: Map<string, NumberArray>
  readonly ends: Map<string, Deferred<NumberArray>>
}

export interface Faults {
  /** Changes what `peerId` gets from an op. */
  corrupt?(peerId: string, result: NumberArray, options: AllreduceOptions): void
}

export class FakeNetwork {
  members: Member[] = []
  epoch = 0
  readonly groups = new Map<string, FakeGroup>()
  readonly ops = new Map<number, PendingOp>()
  /** Names of the calls of each peer, in order. */
  readonly calls = new Map<string, string[]>()
  faults: Faults = {}

  /** At the end, or on the seat that it had before. */
  join(peerId: string, rank = this.members.length): FakeGroup {
    const group = new FakeGroup(this, peerId)
    this.groups.set(peerId, group)
    const member = { peerId, name: peerId.toUpperCase(), kind: 'tab' }
    this.#view([...this.members.slice(0, rank), member, ...this.members.slice(rank)])
    return group
  }

  /** The peer vanishes: ops that wait for it fail, a new view follows. */
  lose(peerId: string): void {
    const lost = this.members.findIndex((member) => member.peerId === peerId)
    this.groups.get(peerId)?.setState('left')
    this.groups.delete(peerId)
    for (const [op, { inputs, ends }] of this.ops) {
      if (inputs.has(peerId)) continue
      const peer = { rank: lost, peerId, name: peerId }
      for (const end of ends.values())
        end.reject(new PeerLostError(`${peerId} left.`, { peer, epoch: this.epoch }))
      this.ops.delete(op)
    }
    this.#view(this.members.filter((member) => member.peerId !== peerId))
  }

  #view(members: Member[]): void {
    this.members = members
    this.epoch++
    const calls = Math.max(0, ...[...this.groups.values()].map((group) => group.called))
    for (const group of this.groups.values()) {
      group.called = calls
      group.setState('connecting')
    }
    for (const group of this.groups.values()) group.setState('ready')
  }
}

export class FakeGroup extends Emitter<GroupEvents> implements Group {
  readonly peerId: string
  readonly #network: FakeNetwork
  state: GroupState = 'connecting'
  called = 0
  epoch = 0
  members: readonly Member[] = []

  constructor(network: FakeNetwork, peerId: string) {
    super()
    this.#network = network
    this.peerId = peerId
  }

  get rank() {
    return this.members.findIndex((member) => member.peerId === this.peerId)
  }
  get size() {
    return this.members.length
  }
  get roster() {
    return this.#network.members
  }
  get model(): NetworkModel {
    return { version: 0, size: this.size, links: [], gamma: 0, overhead: 0, hostBeta: 0 }
  }
  links(): readonly LinkStatus[] {
    return []
  }

  setState(state: GroupState): void {
    this.members = this.#network.members
    this.epoch = this.#network.epoch
    this.state = state
    this.emit('state', state)
  }

  tell(data: unknown, to?: string): void {
    const from = this.members[this.rank]!
    const json = JSON.stringify(data)
    for (const { peerId } of this.members)
      if (peerId !== this.peerId && (to === undefined || to === peerId))
        queueMicrotask(() =>
          this.#network.groups.get(peerId)?.emit('message', { from, data: JSON.parse(json) }),
        )
  }

  async allreduce<T extends VectorArray>(data: T, options: AllreduceOptions<T> = {}): Promise<Result<T>> {
    const op = this.called++
    const { ops, calls, faults } = this.#network
    calls.set(this.peerId, [...(calls.get(this.peerId) ?? []), options.name ?? ''])
    const pending: PendingOp = ops.get(op) ?? { inputs: new Map(), ends: new Map() }
    ops.set(op, pending)
    const end = createDeferred<NumberArray>()
    pending.inputs.set(this.peerId, data as NumberArray)
    pending.ends.set(this.peerId, end)
    const abort = () => {
      const reason = options.signal?.reason
      for (const other of pending.ends.values())
        other.reject(reason instanceof AbortedError ? reason : new AbortedError('aborted'))
    }
    options.signal?.addEventListener('abort', abort)
    if (options.signal?.aborted) abort()
    const members = this.members
    options.onProgress?.(progress(op, 0))
    if (pending.inputs.size === members.length) {
      ops.delete(op)
      const operator = (options.op ?? 'sum') as OperatorName
      const { combine, finish } = resolveOperator(operator, dtypeOf(data))
      const [first, ...others] = members.map((member) => pending.inputs.get(member.peerId)!)
      const result = first!.slice()
      for (const other of others) combine(result, result, other)
      finish?.(result, members.length)
      for (const each of pending.ends.values()) each.resolve(result)
    }
    const result = (await end.promise).slice()
    faults.corrupt?.(this.peerId, result, options as AllreduceOptions)
    options.onProgress?.(progress(op, 1))
    const target = (options.into ?? (data as NumberArray).slice()) as NumberArray
    target.set(result)
    return { data: target as T, report: this.#report(op, options, members) }
  }

  #report(op: number, options: CollectiveOptions, contributors: readonly Member[]): Report {
    return {
      op,
      epoch: this.epoch,
      contributors,
      algorithm: options.algorithm === undefined || options.algorithm === 'auto' ? 'ring' : options.algorithm,
      settings: typeof options.r === 'number' ? { r: options.r } : {},
      steps: 1,
      attempts: 1,
      bytesSent: 4,
      bytesReceived: 4,
      seconds: 0.001 * (op + 1),
      predictedSeconds: 0.001,
      identical: true,
      perStep: [],
      messages: [{ step: 0, direction: 'send', peer: 0, bytes: 4, begin: 0, end: 0.00012345678 }],
      why: 'Because.',
    }
  }

  async barrier(): Promise<Report> {
    return (await this.allreduce(new Int32Array(0))).report
  }

  async measure(): Promise<NetworkModel> {
    await this.barrier()
    return this.model
  }

  predict(): Choice {
    throw new Error('not here')
  }
  broadcast = notHere
  reduce = notHere
  reduceScatter = notHere
  allgather = notHere
  gather = notHere
  scatter = notHere
  alltoall = notHere

  offerState() {
    return () => {}
  }
  async receiveState() {
    return undefined
  }
  async leave(): Promise<void> {
    this.#network.lose(this.peerId)
  }
}

/** The page makes no such calls. */
function notHere(): Promise<never> {
  return Promise.reject(new Error('not here'))
}

function progress(op: number, step: number) {
  return {
    op,
    algorithm: 'ring',
    settings: {},
    step,
    steps: 1,
    bytes: step * 8,
    bytesTotal: 8,
    fraction: step,
  }
}
