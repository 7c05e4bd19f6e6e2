/**
 * A group: one member's handle on all that the members do together. It ties membership, links, epochs, measurement and ops; each of
 * them lives in its own file and knows nothing of the others.
 */
import { assert } from '../base/assert.ts'
import { type Clock, realClock } from '../base/clock.ts'
import { Emitter } from '../base/emitter.ts'
import { PapilioError, type ProtocolError, TimeoutError } from '../base/errors.ts'
import { latencyOf, tailBeta } from '../cost/curve.ts'
import type { NetworkModel } from '../cost/types.ts'
import type { Membership, View } from '../membership/types.ts'
import { meshSize } from '../schedule/links.ts'
import type { Transport } from '../transport/types.ts'
import type { NumericArray, VectorArray } from '../wire/dtype.ts'
import type { Frame } from '../wire/frame.ts'
import { type Adoption, createAdoption } from './adoption.ts'
import { type Agreement, createAgreement } from './agreement.ts'
import { type Calls, createCalls, defaultTimeoutMs, segmentBytes } from './calls.ts'
import { contribute } from './contribution.ts'
import { type Control, decodeControl, tellControl } from './control.ts'
import { createEngine, type Engine } from './engine.ts'
import type { Span } from './epochs.ts'
import { createHeartbeat, type Heartbeat } from './heartbeat.ts'
import type { Lane } from './lane.ts'
import { createLanes, type Lanes } from './lanes.ts'
import { createProber, type Prober } from './measure.ts'
import { createModels, type Models } from './models.ts'
import { createNeighbours, type Neighbours } from './neighbours.ts'
import { judge } from './nonFinite.ts'
import { createOverlay, type Overlay } from './overlay.ts'
import { type PartedCollective, takePart } from './parts.ts'
import { predictCall } from './plan.ts'
import type { Attempt } from './recovery.ts'
import { createRetainedResults, type RetainedResults } from './retained.ts'
import { createStates, type States } from './states.ts'
import type {
  AllgatherOptions,
  AllreduceOptions,
  AlltoallOptions,
  BroadcastOptions,
  CollectiveOptions,
  GatherOptions,
  Group,
  GroupEvents,
  GroupState,
  Progress,
  ReduceOptions,
  ReduceScatterOptions,
  Result,
  ScatterOptions,
  StateProvider,
} from './types.ts'

export interface GroupConfig {
  transport: Transport
  membership: Membership
  clock?: Clock
  /** Measure the links of a new epoch and agree on a model. Default true. */
  measure?: boolean
  /**
   * A member that gives no sign of life for so long is reported as lost. Default 5: on a busy machine the association of a living
   * peer stands still for 3 s when it repeats itself in vain, and closing it costs the op that runs; Infinity: never.
   */
  silenceSeconds?: number | undefined
  /** More members than that do not keep all links (schedule/links.ts). The same on all members; default meshSize. */
  largestMesh?: number | undefined
}

/** How often a missing link is asked for again. */
const reconnectSeconds = 1
/** Links of older views that are not needed any more are kept for so long: others may still be in an op of that time. */
const pruneSeconds = 10
/** Members of a large group come in crowds, and each moves the places of many links: they are opened when so long none has come. */
const settleSeconds = 0.2
const longestSettleSeconds = 2

/** What a group keeps at this moment, in numbers: all of it is bounded, and goes when nobody needs it any more. */
export interface Holdings {
  /** Ops that have not ended here. */
  readonly ops: number
  /** Calls that wait for their number or for a recovery, and recoveries that wait for their call. */
  readonly calls: number
  /** Frames that wait for their op, and ops ahead of which others have told something. */
  readonly early: number
  readonly ahead: number
  /** Results of ended ops that others may need. */
  readonly results: number
  /** Lanes through neighbours. */
  readonly relays: number
}

/** A group in this thread. */
export interface LocalGroup extends Group {
  holdings(): Holdings
}

export function createGroup(config: GroupConfig): LocalGroup {
  return new CollectiveGroup(config)
}

class CollectiveGroup extends Emitter<GroupEvents> implements LocalGroup {
  readonly #clock: Clock
  readonly #transport: Transport
  readonly #membership: Membership
  readonly #measures: boolean
  readonly #lanes: Lanes
  readonly #agreement: Agreement
  readonly #engine: Engine
  readonly #prober: Prober
  readonly #retained: RetainedResults
  readonly #heartbeat: Heartbeat
  readonly #adoption: Adoption
  readonly #calls: Calls
  readonly #models: Models
  readonly #states: States
  #state: GroupState = 'connecting'
  #stopConnecting = () => {}
  readonly #largestMesh: number
  readonly #neighbours: Neighbours
  readonly #overlay: Overlay
  #stopPruning = () => {}
  #growsSince: number | undefined
  /** Ops that wait for links which the view does not need. */
  readonly #awaiting = new Set<() => void>()

  constructor(config: GroupConfig) {
    super()
    const { transport, membership, clock = realClock, measure = true, silenceSeconds = 5 } = config
    const { largestMesh = meshSize } = config
    this.#clock = clock
    this.#transport = transport
    this.#membership = membership
    this.#measures = measure
    const { selfId } = membership
    this.#largestMesh = largestMesh
    const isOpen = (peerId: string) => transport.link(peerId) !== undefined
    this.#neighbours = createNeighbours({ selfId, largestMesh, isOpen })
    const onOffence = (peerId: string, error: ProtocolError) =>
      membership.reportLost(peerId, error.issue, false)
    this.#lanes = createLanes({
      transport,
      options: {
        segmentBytes,
        oldestOp: () => this.#engine.oldestOp(),
        settledBelow: () => Math.min(this.#engine.oldestOp(), this.#agreement.nextOp),
      },
      onFrame: (peerId, frame, lane) => this.#receive(peerId, frame, lane),
      onLinked: (peerId) => this.#linked(peerId),
      onUnlinked: (peerId, reason) => this.#unlinked(peerId, reason),
      onFailed: (peerId, reason) => this.#report(peerId, reason, false),
      onOffence,
    })
    const { get: lane, tell: tellNeighbours } = this.#lanes
    this.#overlay = createOverlay({
      selfId,
      largestMesh,
      lanes: this.#lanes,
      deliver: (peerId, control) => this.#control(peerId, control),
    })
    /** Who is asked where an op stands are those that can be seen from here. */
    const tell = (control: Control, peerId?: string) =>
      control.type === 'where' ? tellNeighbours(control, peerId) : this.#overlay.tell(control, peerId)
    this.#retained = createRetainedResults(selfId)
    this.#heartbeat = createHeartbeat({
      clock,
      limitSeconds: silenceSeconds,
      lanes: () => this.#lanes.entries(),
      onDoubt: (peerId) => {
        if (this.#needs(peerId)) membership.doubt?.(peerId)
      },
      onSilent: (peerId, seconds) => this.#reconnect(peerId, `no sign of life for ${seconds.toFixed(1)} s`),
    })
    this.#engine = createEngine({
      clock,
      lane,
      isGone: (peerId) => this.#agreement.isGone(peerId),
      tell,
      isNear: (peerId) => this.#neighbours.needs(peerId),
      reach: (peerIds) => this.#reach(peerIds),
      onWaiting: (waiting) => this.emit('waiting', waiting),
      onOffence,
    })
    this.#agreement = createAgreement({
      selfId,
      clock,
      isLinked: (peerId) => lane(peerId) !== undefined || !this.#neighbours.needs(peerId),
      tell: tellNeighbours,
      onTell: () => this.#engine.pause(),
      finished: () => this.#retained.list(),
      suspended: () => this.#engine.suspended(),
      states: () => this.#states,
      unsettledWith: (peerId) =>
        this.#engine.sentTo(peerId).filter((op) => !this.#retained.isSettled(peerId, op)),
      onNumber: ({ op, attempt, recovery }) => this.#engine.call(op, recovery?.attempt ?? attempt),
      onForfeit: (op, error) => this.#engine.abandon(op, error),
      onLose: ({ peerId }) => this.#lost(peerId),
      onEnter: (span) => this.#enter(span),
    })
    this.#prober = createProber({ clock, segmentBytes, lane, tell: tellNeighbours })
    const common = {
      engine: this.#engine,
      retained: this.#retained,
      segmentFor: ({ members }: Attempt) =>
        Math.min(segmentBytes, ...members.map(({ peerId }) => lane(peerId)?.segmentBytes ?? segmentBytes)),
      onProgress: (progress: Progress) => this.emit('progress', progress),
    }
    this.#adoption = createAdoption(common)
    this.#calls = createCalls({
      ...common,
      clock,
      agreement: this.#agreement,
      adoption: this.#adoption,
      models: () => this.#models,
      largestMesh,
    })
    this.#models = createModels({
      engine: this.#engine,
      agreement: this.#agreement,
      adoption: this.#adoption,
      retained: this.#retained,
      prober: this.#prober,
      calls: this.#calls,
      timeoutSeconds: defaultTimeoutMs / 1000,
      onModel: (model, attempt) => this.#modelAgreed(model, attempt),
    })
    this.#states = createStates({ clock, engine: this.#engine, calls: this.#calls, tell })
    transport.on('status', (status) => this.emit('link', status))
    membership.onView((view) => this.#viewChanged(view))
    const view = membership.view()
    if (view) this.#viewChanged(view)
  }

  get rank() {
    return this.#agreement.epochs.current?.rank ?? 0
  }
  get size() {
    return this.members.length
  }
  get epoch() {
    return this.#agreement.epochs.current?.epoch ?? this.#agreement.epochs.view?.epoch ?? 0
  }
  get members() {
    return this.#agreement.epochs.current?.members ?? this.roster
  }
  get roster() {
    return this.#agreement.epochs.view?.members ?? []
  }
  get peerId() {
    return this.#membership.selfId
  }
  get state() {
    return this.#state
  }
  get model() {
    return this.#models.current
  }
  links() {
    return this.#transport.statuses()
  }
  holdings() {
    return {
      ...this.#engine.holdings(),
      calls: this.#agreement.waiting,
      results: this.#retained.list().length,
      relays: this.#lanes.relays,
    }
  }

  async allreduce<T extends VectorArray>(data: T, options: AllreduceOptions<T> = {}) {
    const { vector, take, drop } = contribute(data, options)
    try {
      const collected = await this.#calls.collect({ vectorOf: vector, isAlike: true }, options)
      const report = judge(collected.report, collected.notes, options.nonFinite)
      // The fold itself may be kept for others; the caller gets an array of its own.
      const result = take(report.contributors.length, this.#isKept(report.op, vector().result))
      this.emit('report', report)
      return { data: result, report }
    } catch (error) {
      drop()
      throw error
    }
  }

  async broadcast<T extends VectorArray>(data: T, options: BroadcastOptions<T> = {}) {
    return whole(await this.#take('broadcast', data, options))
  }
  reduce<T extends VectorArray>(data: T, options: ReduceOptions<T> = {}) {
    return this.#take('reduce', data, options)
  }
  async reduceScatter<T extends VectorArray>(data: T, options: ReduceScatterOptions<T> = {}) {
    return whole(await this.#take('reduceScatter', data, options))
  }
  async allgather<T extends VectorArray>(data: T, options: AllgatherOptions<T> = {}) {
    return whole(await this.#take('allgather', data, options))
  }
  gather<T extends VectorArray>(data: T, options: GatherOptions<T> = {}) {
    return this.#take('gather', data, options)
  }
  async scatter<T extends VectorArray>(data: T, options: ScatterOptions<T> = {}) {
    return whole(await this.#take('scatter', data, options))
  }
  async alltoall<T extends VectorArray>(data: T, options: AlltoallOptions<T> = {}) {
    return whole(await this.#take('alltoall', data, options))
  }

  async barrier(options: CollectiveOptions = {}) {
    // A rank has the result when it has heard of everybody: that is a barrier.
    const { vector } = contribute(new Int32Array(1), { op: 'max' })
    const { report } = await this.#calls.collect(
      { vectorOf: () => ({ ...vector(), collective: 'barrier' }), isAlike: true },
      options,
    )
    this.emit('report', report)
    return report
  }

  async #take<T extends VectorArray>(
    collective: PartedCollective,
    data: T,
    options: CollectiveOptions & Parameters<typeof takePart<T>>[2],
  ): Promise<Result<T | undefined>> {
    const { contribution, take, drop } = takePart(collective, data, options)
    try {
      const collected = await this.#calls.collect(contribution, options)
      const report = judge(collected.report, collected.notes, options.nonFinite)
      const result = take(report.contributors.length, (array) => this.#isKept(report.op, array))
      this.emit('report', report)
      return { data: result, report }
    } catch (error) {
      drop()
      throw error
    }
  }

  /** Others may still need this array as it is. */
  #isKept(op: number, result: NumericArray): boolean {
    return this.#retained.get(op)?.data === result
  }

  async measure(): Promise<NetworkModel> {
    if (this.size > this.#largestMesh) return this.model
    const { op, attempt, recovery } = await this.#agreement.number(defaultTimeoutMs / 1000)
    const model = await this.#models.measure(op, attempt, true, recovery)
    if (!model)
      throw new TimeoutError('The links could not be measured on every rank.', {
        op,
        step: 0,
        waitingFor: [],
      })
    return model
  }

  predict(request: Parameters<Group['predict']>[0]) {
    return predictCall(request, this.size, this.model)
  }

  tell(data: unknown, to?: string): void {
    this.#overlay.tell(tellControl(data), to)
  }

  offerState(provider: StateProvider): () => void {
    return this.#states.offer(provider)
  }
  receiveState() {
    return this.#states.received()
  }

  async leave(): Promise<void> {
    if (this.#state === 'left') return
    this.#setState('left')
    // The others may still need what this member has sent last.
    await Promise.all([...this.#lanes.entries()].map(([, lane]) => this.#prober.flush(lane)))
    await this.#membership.leave()
    this.#end()
  }

  #end() {
    this.#setState('left')
    this.#agreement.end()
    this.#states.end()
    this.#heartbeat.stop()
    this.#prober.stop()
    this.#stopConnecting()
    this.#stopPruning()
    this.#engine.failAll(new PapilioError('LEFT', 'This peer left the group while the op ran.'))
    this.#transport.close()
    this.#lanes.clear()
  }

  #viewChanged(view: View) {
    if (this.#state === 'left') return
    if (!view.members.some((member) => member.peerId === this.peerId)) {
      this.#end()
      return
    }
    const isGrowing = view.members.length > this.roster.length
    this.#neighbours.viewChanged(view)
    this.#overlay.viewChanged(view)
    this.#agreement.viewChanged(view)
    this.#retained.keepFor(view.members)
    this.#engine.keepFor((peerId) => view.members.some((member) => member.peerId === peerId))
    if (isGrowing && this.#neighbours.isSparse) this.#connectSoon()
    else this.#connect()
    this.#lanes.viewChanged(view)
    this.#setState(this.#agreement.epochs.isAgreed ? 'ready' : 'connecting')
    this.emit('view', view)
  }

  #connectSoon() {
    this.#stopConnecting()
    const now = this.#clock.now()
    this.#growsSince ??= now
    const wait = Math.min(settleSeconds, this.#growsSince + longestSettleSeconds - now)
    this.#stopConnecting = this.#clock.after(wait, () => this.#connect())
  }

  /** Asks for links to the neighbours, again and again while one is missing. */
  #connect() {
    this.#stopConnecting()
    this.#growsSince = undefined
    const wanted = this.#neighbours.wanted()
    this.#transport.want(wanted)
    this.#stopConnecting = this.#clock.after(reconnectSeconds, () => {
      if (this.#state !== 'left' && wanted.some((peerId) => !this.#transport.link(peerId))) this.#connect()
    })
  }

  /** A link that carries nothing is closed, so that a new one can be made if the peer is alive. */
  #reconnect(peerId: string, reason: string) {
    this.#report(peerId, reason, true)
    this.#transport.want(this.#neighbours.wanted().filter((other) => other !== peerId))
  }

  /** Links of a large group that the agreed epoch does not need are given up, once no op of before can run over them on any member. */
  #prune(span: Span) {
    this.#stopPruning()
    if (!this.#neighbours.isSparse) return
    this.#stopPruning = this.#clock.after(pruneSeconds, () => {
      if (this.#engine.oldestOp() < span.boundary || this.#awaiting.size > 0) {
        this.#prune(span)
        return
      }
      this.#neighbours.prune()
      this.#connect()
      this.#retained.keepFor(this.roster.filter(({ peerId }) => this.#neighbours.needs(peerId)))
    })
  }

  /** Links to these members: asked for where there are none, which only happens in large groups. Undefined when all are there. */
  #reach(peerIds: readonly string[]): Promise<void> | undefined {
    const isMissing = (peerId: string) =>
      !this.#lanes.get(peerId) && !this.#neighbours.needs(peerId) && !this.#agreement.isGone(peerId)
    if (!this.#neighbours.isSparse || !peerIds.some(isMissing)) return undefined
    this.#neighbours.add(peerIds)
    this.#connect()
    return new Promise((resolve) => {
      const look = () => {
        if (peerIds.some(isMissing)) return
        this.#awaiting.delete(look)
        resolve()
      }
      this.#awaiting.add(look)
    })
  }

  #linked(peerId: string) {
    this.#agreement.linkOpened(peerId)
    for (const look of [...this.#awaiting]) look()
  }

  #lost(peerId: string) {
    this.#engine.suspend((_, attempt) => attempt.members.some((member) => member.peerId === peerId))
  }

  #enter(span: Span) {
    if (this.#agreement.epochs.isFirst) this.#engine.begin(span.boundary)
    const recovering = new Map(span.recoveries.map((recovery) => [recovery.op, recovery]))
    // Where others have stopped an op, this member stops too, and all go on as agreed.
    this.#engine.suspend((op) => recovering.has(op))
    this.#engine.proceed()
    for (const recovery of span.recoveries)
      if (recovery.kind === 'adopt' && recovery.attempt.rank === 0)
        void this.#adoption.serve(recovery, defaultTimeoutMs / 1000)
    this.#models.begin(span.members.length)
    let first = span.boundary
    // To measure the links of a large group pair by pair would take minutes: it goes by the guess.
    const isSparse = span.members.length > this.#largestMesh
    if (isSparse) this.emit('model', this.#models.current)
    if (this.#measures && span.members.length > 1 && !isSparse) {
      // The first op of an epoch is a measurement that every member starts by itself.
      this.#agreement.reserve(first)
      this.#engine.call(first, span)
      void this.#models.measure(first, span, false)
      first++
    }
    if (span.state) this.#agreement.reserve(first)
    this.#states.begin(first, span)
    this.#prune(span)
    this.emit('view', { epoch: span.epoch, members: span.members })
    this.#setState('ready')
  }

  #setState(state: GroupState) {
    if (state === this.#state || this.#state === 'left') return
    this.#state = state
    this.emit('state', state)
  }

  #modelAgreed(model: NetworkModel, attempt: Attempt) {
    this.#lanes.tune(
      attempt.members.flatMap(({ peerId }, rank) => {
        const curve = model.links[attempt.rank]?.[rank]
        return curve ? [{ peerId, latency: latencyOf(curve), secondsPerByte: tailBeta(curve) }] : []
      }),
    )
    this.emit('model', model)
  }

  #unlinked(peerId: string, reason: string) {
    this.#prober.forget(peerId)
    this.#heartbeat.forget(peerId)
    if (this.#state === 'left') return
    if (!this.#neighbours.needs(peerId)) {
      this.#neighbours.drop(peerId)
      return
    }
    this.#report(peerId, reason, true)
    this.#agreement.linkClosed(peerId, reason)
  }

  #report(peerId: string, reason: string, wasOpen: boolean) {
    if (this.#needs(peerId)) this.#membership.reportLost(peerId, reason, wasOpen)
  }

  #needs(peerId: string): boolean {
    return this.#state !== 'left' && this.#neighbours.needs(peerId)
  }

  #receive(peerId: string, frame: Frame, lane: Lane) {
    this.#heartbeat.heard(peerId)
    if (frame.kind === 'data' || frame.kind === 'ack') this.#retained.heard(peerId, frame.settled)
    if (frame.kind === 'data') this.#engine.data(peerId, frame, lane)
    else if (frame.kind === 'control') this.#control(peerId, decodeControl(frame.payload))
    else if (frame.kind === 'ping' || frame.kind === 'pong') this.#prober.frame(peerId, frame)
  }

  #control(peerId: string, control: Control) {
    if (control.type === 'sync') this.#agreement.heard(control.epoch, control.standings)
    else if (control.type === 'probe' || control.type === 'probed') this.#prober.control(peerId, control)
    else if (control.type === 'pass') this.#overlay.passed(peerId, control)
    else if (control.type === 'state') this.#states.heard(peerId, control)
    else if (control.type === 'tell') {
      const from = this.roster.find((member) => member.peerId === peerId)
      if (from) this.emit('message', { from, data: control.data })
    } else this.#engine.control(peerId, control)
  }
}

function whole<T>({ data, report }: Result<T | undefined>): Result<T> {
  assert(data !== undefined, 'every rank gets a part')
  return { data, report }
}
