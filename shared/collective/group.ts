/**
 * A group: one member's handle on all that the members do together. It ties membership, links, epochs, measurement, choice and ops;
 * each of them lives in its own file and knows none of the others.
 */
import { type Clock, realClock } from '../base/clock.ts'
import { createDeferred, type Deferred } from '../base/deferred.ts'
import { Emitter } from '../base/emitter.ts'
import { ArgumentError, PapilioError, ProtocolError, TimeoutError } from '../base/errors.ts'
import { latencyOf, tailBeta } from '../cost/curve.ts'
import { encodeRow, foldModel, guessModel, rowLength } from '../cost/fit.ts'
import type { NetworkModel } from '../cost/types.ts'
import type { Membership, View } from '../membership/types.ts'
import { findAlgorithm } from '../schedule/registry.ts'
import type { Link, Transport } from '../transport/types.ts'
import { dtypeOf, type NumericArray } from '../wire/dtype.ts'
import { decodeFrame, signatureOf } from '../wire/frame.ts'
import { type Operator, operators } from '../wire/kernels.ts'
import { type Call, type Control, decodeControl, encodeControl, maxControlBytes } from './control.ts'
import { createEngine } from './engine.ts'
import { createEpochs, type Span } from './epochs.ts'
import { createLane, type Lane } from './lane.ts'
import { createProber } from './measure.ts'
import { choosePlan, type Plan, planOf } from './plan.ts'
import type { AllreduceOptions, CollectiveOptions, Group, GroupEvents, GroupState, Report } from './types.ts'

export interface GroupConfig {
  transport: Transport
  membership: Membership
  clock?: Clock
  /** Measure the links of a new epoch and agree on a model. Default true. */
  measure?: boolean
}

/** A message is cut into segments of this many bytes: at 64 KiB a data channel is at its plateau (docs/protocol.md). */
const segmentBytes = 65536 - 64
/** On links without a round trip to speak of, the processor decides: a deep window costs nothing there. */
const localWindowBytes = 1024 * 1024
const localLatency = 0.001
const minWindowBytes = 128 * 1024
const maxWindowBytes = 4 * 1024 * 1024
const defaultTimeoutMs = 10_000

export function createGroup(config: GroupConfig): Group {
  return new CollectiveGroup(config)
}

class CollectiveGroup extends Emitter<GroupEvents> implements Group {
  readonly #clock: Clock
  readonly #transport: Transport
  readonly #membership: Membership
  readonly #measures: boolean
  readonly #lanes = new Map<string, Lane>()
  readonly #epochs
  readonly #engine
  readonly #prober
  /** Members of the current epoch that are gone: ops wait for the next epoch. */
  readonly #gone = new Set<string>()
  /** Calls that wait for a number. */
  readonly #waiting: (() => void)[] = []
  /** Agreed models by the op that measured them; pending while it runs. */
  readonly #models: { op: number; model: Promise<NetworkModel | undefined> }[] = []
  /** One more than the highest number of an op of this member. */
  #called = 0
  /** Next number for a call, unless it is reserved. */
  #next = 0
  /** Numbers of measurements at boundaries that this member's own calls have not reached yet. */
  readonly #reserved = new Set<number>()
  #model: NetworkModel = guessModel(1)
  #state: GroupState = 'connecting'
  #lastStandings = ''

  constructor(config: GroupConfig) {
    super()
    this.#clock = config.clock ?? realClock
    this.#transport = config.transport
    this.#membership = config.membership
    this.#measures = config.measure ?? true
    this.#epochs = createEpochs(config.membership.selfId)
    const lane = (peerId: string) => this.#lanes.get(peerId)
    const tell = (control: Control, peerId?: string) => this.#tell(control, peerId)
    this.#engine = createEngine({
      clock: this.#clock,
      lane,
      tell,
      onWaiting: (waiting) => this.emit('waiting', waiting),
      onOffence: (peerId, error) => this.#membership.reportLost(peerId, error.issue),
    })
    this.#prober = createProber({ clock: this.#clock, segmentBytes, lane, tell })
    this.#transport.on('open', (link) => this.#linkOpened(link))
    this.#transport.on('close', ({ peerId, error }) => this.#linkClosed(peerId, error.message))
    this.#transport.on('status', (status) => this.emit('link', status))
    this.#transport.receive({
      message: (peerId, message) => this.#receive(peerId, message),
      drain: (peerId) => this.#lanes.get(peerId)?.drained(),
    })
    this.#membership.onView((view) => this.#viewChanged(view))
    const view = this.#membership.view()
    if (view) this.#viewChanged(view)
  }

  get rank() {
    return this.#epochs.current?.rank ?? 0
  }
  get size() {
    return this.members.length
  }
  get epoch() {
    return this.#epochs.current?.epoch ?? this.#epochs.view?.epoch ?? 0
  }
  get members() {
    return this.#epochs.current?.members ?? this.#epochs.view?.members ?? []
  }
  get roster() {
    return this.#epochs.view?.members ?? []
  }
  get peerId() {
    return this.#membership.selfId
  }
  get state() {
    return this.#state
  }
  get model() {
    return this.#model
  }
  links() {
    return this.#transport.statuses()
  }

  // ---- Collectives ----

  async allreduce<T extends NumericArray>(data: T, options: AllreduceOptions<T> = {}) {
    const dtype = dtypeOf(data)
    const operator = operatorOf(options.op ?? 'sum')
    if (
      options.into &&
      (options.into.constructor !== data.constructor || options.into.length !== data.length)
    )
      throw new ArgumentError(
        'into',
        `Pass an array of ${data.length} elements and the same type as the data.`,
      )
    const result = dtype.create(data.length) as T
    const report = await this.#collect(data, result, operator, options)
    operator.finish?.(result, report.contributors.length)
    options.into?.set(result as never)
    return { data: options.into ?? result, report }
  }

  async barrier(options: CollectiveOptions = {}) {
    const token = new Int32Array(1)
    // A rank ends when it has everybody's contribution: that is a barrier.
    return this.#collect(token, new Int32Array(1), operators.max, { name: 'barrier', ...options })
  }

  async #collect(
    data: NumericArray,
    result: NumericArray,
    operator: Operator,
    options: AllreduceOptions,
  ): Promise<Report> {
    const timeoutSeconds = (options.timeoutMs ?? defaultTimeoutMs) / 1000
    if (!(timeoutSeconds > 0)) throw new ArgumentError('timeoutMs', 'Pass a positive number of milliseconds.')
    const deadline = this.#clock.now() + timeoutSeconds
    const { op, span } = await this.#number(timeoutSeconds, options.signal)
    try {
      const model = await this.#engine.unlessFailed(op, this.#modelFor(op, span))
      const dtype = dtypeOf(data)
      const plan = choosePlan({ count: data.length, dtype, operator, options }, span.members.length, model)
      return await this.#run(
        op,
        span,
        plan,
        model,
        data,
        result,
        operator,
        options,
        deadline - this.#clock.now(),
      )
    } catch (error) {
      // Whatever stops the op here stops it everywhere.
      this.#engine.abandon(op, toError(error))
      throw error
    }
  }

  async #run(
    op: number,
    span: Span,
    plan: Plan,
    model: NetworkModel,
    data: NumericArray,
    result: NumericArray,
    operator: Operator,
    options: AllreduceOptions,
    timeoutSeconds: number,
  ): Promise<Report> {
    const dtype = dtypeOf(data)
    const lanes = span.members.flatMap((member) => this.#lanes.get(member.peerId) ?? [])
    const call: Call = {
      collective: plan.shape.collective,
      name: options.name ?? '',
      dtype: dtype.name,
      count: data.length,
      operator: operator.name,
      algorithm: `${plan.shape.algorithm} ${JSON.stringify(plan.shape.settings)}`,
      model: plan.isAutomatic ? String(model.version) : '',
    }
    const moved = await this.#engine.run({
      op,
      span,
      call,
      signature: signatureOf(JSON.stringify([span.epoch, call])),
      timeoutSeconds,
      signal: options.signal,
      execution: {
        algorithm: plan.shape.algorithm,
        settings: plan.shape.settings,
        onProgress: (progress) => {
          this.emit('progress', progress)
          options.onProgress?.(progress)
        },
        dataflow: {
          part: plan.part(span.rank),
          offsets: plan.offsets,
          dtype,
          combine: operator.combine,
          input: data,
          result,
          segmentBytes: Math.min(segmentBytes, ...lanes.map((lane) => lane.segmentBytes)),
        },
      },
    })
    const report: Report = {
      op,
      epoch: span.epoch,
      contributors: span.members,
      algorithm: plan.shape.algorithm,
      settings: plan.shape.settings,
      steps: plan.shape.steps,
      ...moved,
      predictedSeconds: plan.predictedSeconds,
      identical: plan.isIdentical || !operator.rounds || !dtype.isFloat,
      why: plan.why,
    }
    this.emit('report', report)
    return report
  }

  // ---- Measurement and the agreed model ----

  async measure(): Promise<NetworkModel> {
    const { op, span } = await this.#number(defaultTimeoutMs / 1000)
    const model = await this.#startMeasuring(op, span, true)
    if (!model)
      throw new TimeoutError('The links could not be measured on every rank.', {
        op,
        step: 0,
        waitingFor: [],
      })
    return model
  }

  #startMeasuring(op: number, span: Span, isFresh: boolean): Promise<NetworkModel | undefined> {
    const pending = this.#measureNow(op, span, isFresh).catch((error: unknown) => {
      this.#engine.abandon(op, toError(error))
      return undefined
    })
    this.#models.push({ op, model: pending })
    while (this.#models.length > 8) this.#models.shift()
    return pending
  }

  /** Every rank's row is summed into place with zeros from the others, which is exact: the same bits on every rank. */
  async #measureNow(op: number, span: Span, isFresh: boolean): Promise<NetworkModel> {
    const size = span.members.length
    const row = encodeRow(await this.#engine.unlessFailed(op, this.#prober.measure(op, span, isFresh)))
    const length = rowLength(size)
    const rows = new Float32Array(size * length)
    rows.set(row, span.rank * length)
    const all = new Float32Array(size * length)
    const guess = guessModel(size)
    const plan = planOf(findAlgorithm('ring', 'allreduce'), {}, size, rows.length)
    const options = { name: 'measure' }
    await this.#run(op, span, plan, guess, rows, all, operators.sum, options, defaultTimeoutMs / 1000)
    const model = foldModel(
      span.members.map((_, rank) => all.subarray(rank * length, (rank + 1) * length)),
      op + 1,
    )
    this.#model = model
    this.#sizeWindows(span, model)
    this.emit('model', model)
    return model
  }

  /** The newest model that was measured in this epoch before the op; the built-in guess when there is none. */
  async #modelFor(op: number, span: Span): Promise<NetworkModel> {
    for (let i = this.#models.length - 1; i >= 0; i--) {
      const { op: measuredBy, model } = this.#models[i]!
      if (measuredBy < span.boundary) break
      if (measuredBy >= op) continue
      const agreed = await model
      if (agreed) return agreed
    }
    return guessModel(span.members.length)
  }

  /** About four times bandwidth x round trip on the way: enough to fill the link, little enough to keep its queue short. */
  #sizeWindows(span: Span, model: NetworkModel) {
    for (const [rank, member] of span.members.entries()) {
      const lane = this.#lanes.get(member.peerId)
      const curve = model.links[span.rank]?.[rank]
      if (!lane || !curve) continue
      const product = (2 * latencyOf(curve)) / tailBeta(curve)
      lane.windowBytes =
        latencyOf(curve) < localLatency
          ? localWindowBytes
          : Math.min(maxWindowBytes, Math.max(minWindowBytes, 4 * product))
    }
  }

  predict(request: Parameters<Group['predict']>[0]) {
    const dtype = dtypeOf(request.dtype ?? new Float32Array(0))
    const operator = operatorOf(request.op ?? 'sum')
    const model = this.#model.size === this.size ? this.#model : guessModel(this.size)
    return choosePlan({ count: request.count, dtype, operator, options: request }, this.size, model).choice
  }

  // ---- Numbering and epochs ----

  /** The number of a new op: at once, or when the members have agreed on the epoch that it belongs to. */
  async #number(timeoutSeconds: number, signal?: AbortSignal): Promise<{ op: number; span: Span }> {
    this.#assertMember()
    signal?.throwIfAborted()
    if (this.#isHeld() || this.#waiting.length > 0) await this.#waitForNumber(timeoutSeconds, signal)
    this.#assertMember()
    while (this.#reserved.delete(this.#next)) this.#next++
    const op = this.#next++
    this.#called = Math.max(this.#called, op + 1)
    const span = this.#epochs.spanOf(op)!
    this.#engine.call(op, span)
    return { op, span }
  }

  #assertMember() {
    if (this.#state === 'left')
      throw new PapilioError('LEFT', 'This peer has left the group. Join again to run more ops.')
  }

  async #waitForNumber(timeoutSeconds: number, signal?: AbortSignal): Promise<void> {
    const turn: Deferred<void> = createDeferred()
    const waiter = () => turn.resolve()
    this.#waiting.push(waiter)
    const giveUp = (error: unknown) => {
      const at = this.#waiting.indexOf(waiter)
      if (at >= 0) this.#waiting.splice(at, 1)
      turn.reject(error)
    }
    const cancel = this.#clock.after(timeoutSeconds, () => giveUp(this.#notFormed(timeoutSeconds)))
    const onAbort = () => giveUp(signal?.reason)
    signal?.addEventListener('abort', onAbort)
    try {
      await turn.promise
    } finally {
      cancel()
      signal?.removeEventListener('abort', onAbort)
    }
  }

  #notFormed(seconds: number): TimeoutError {
    const members = this.#epochs.view?.members ?? []
    const waitingFor = members.flatMap((member, rank) =>
      member.peerId === this.peerId || this.#lanes.has(member.peerId) ? [] : [{ ...member, rank }],
    )
    const names = waitingFor.map((peer) => peer.name).join(', ') || 'the other members'
    const message = `The group was not complete within ${seconds} s: no link to ${names}.`
    return new TimeoutError(message, { op: this.#called, step: 0, waitingFor })
  }

  #isHeld(): boolean {
    const current = this.#epochs.current
    return (
      !current || this.#epochs.isFrozen || current.members.some((member) => this.#gone.has(member.peerId))
    )
  }

  #viewChanged(view: View) {
    if (this.#state === 'left') return
    if (!view.members.some((member) => member.peerId === this.peerId)) {
      this.#end()
      return
    }
    this.#epochs.begin(view)
    const present = new Set(view.members.map((member) => member.peerId))
    for (const member of this.#epochs.current?.members ?? [])
      if (!present.has(member.peerId)) this.#lose(member.peerId, 'it left the room.')
    this.#transport.want(
      view.members.map((member) => member.peerId).filter((peerId) => peerId !== this.peerId),
    )
    this.emit('view', view)
    this.#update()
  }

  #lose(peerId: string, reason: string) {
    const member = this.#epochs.current?.members.find((candidate) => candidate.peerId === peerId)
    if (!member) return
    this.#gone.add(peerId)
    this.#engine.lose(member, reason)
  }

  /** Moves the agreement on the newest view as far as it goes. */
  #update() {
    const { view } = this.#epochs
    if (!view) return
    const others = view.members.filter((member) => member.peerId !== this.peerId)
    if (others.every((member) => this.#lanes.has(member.peerId))) this.#epochs.ready()
    const span = this.#epochs.settle(this.#called)
    const standings = this.#epochs.standings()
    const text = JSON.stringify(standings)
    if (standings && text !== this.#lastStandings) {
      this.#lastStandings = text
      this.#tell({ type: 'sync', ...standings })
    }
    if (span) this.#enter(span)
    this.#setState(this.#epochs.isAgreed ? 'ready' : 'connecting')
  }

  #enter(span: Span) {
    if (this.#epochs.isFirst) {
      this.#next = span.boundary
      this.#engine.begin(span.boundary)
    }
    for (const peerId of [...this.#gone])
      if (!span.members.some((member) => member.peerId === peerId)) this.#gone.delete(peerId)
    this.#model = guessModel(span.members.length)
    if (this.#measures && span.members.length > 1) {
      // The first op of an epoch is a measurement that every member starts by itself.
      this.#engine.call(span.boundary, span)
      this.#reserved.add(span.boundary)
      this.#called = span.boundary + 1
      void this.#startMeasuring(span.boundary, span, false)
    }
    this.emit('view', { epoch: span.epoch, members: span.members })
    for (const waiter of this.#isHeld() ? [] : this.#waiting.splice(0)) waiter()
  }

  #setState(state: GroupState) {
    if (state === this.#state) return
    this.#state = state
    this.emit('state', state)
  }

  // ---- Links and frames ----

  #linkOpened(link: Link) {
    const options = { windowBytes: localWindowBytes, segmentBytes, oldestOp: () => this.#engine.oldestOp() }
    const fitting = Math.min(segmentBytes, (link.maxMessageBytes - 64) & ~15)
    this.#lanes.set(link.peerId, createLane(link, { ...options, segmentBytes: fitting }))
    const standings = this.#epochs.standings()
    if (standings) this.#tell({ type: 'sync', ...standings }, link.peerId)
    if (this.#epochs.view?.members.some((member) => member.peerId === link.peerId))
      this.#gone.delete(link.peerId)
    this.#update()
    for (const waiter of this.#isHeld() ? [] : this.#waiting.splice(0)) waiter()
  }

  #linkClosed(peerId: string, reason: string) {
    this.#lanes.delete(peerId)
    this.#prober.forget(peerId)
    if (this.#state === 'left') return
    const isMember = this.#epochs.view?.members.some((member) => member.peerId === peerId) ?? false
    if (isMember) this.#membership.reportLost(peerId, reason)
    this.#lose(peerId, reason)
    this.#update()
  }

  #receive(peerId: string, message: Uint8Array) {
    const lane = this.#lanes.get(peerId)
    if (!lane) return
    try {
      const frame = decodeFrame(message)
      lane.arrived(frame)
      if (frame.kind === 'data') this.#engine.data(peerId, frame)
      else if (frame.kind === 'control') this.#control(peerId, decodeControl(frame.payload))
      else if (frame.kind === 'ping' || frame.kind === 'pong') this.#prober.frame(peerId, frame)
      lane.pump()
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      this.#membership.reportLost(peerId, error.issue)
    }
  }

  #control(peerId: string, control: Control) {
    if (control.type === 'sync') {
      if (this.#epochs.merge(control.epoch, control.standings)) this.#update()
    } else if (control.type === 'probe' || control.type === 'probed') this.#prober.control(peerId, control)
    else if (control.type === 'tell') {
      const from = this.#epochs.view?.members.find((member) => member.peerId === peerId)
      if (from) this.emit('message', { from, data: control.data })
    } else this.#engine.control(peerId, control)
  }

  #tell(control: Control, peerId?: string) {
    const payload = encodeControl(control)
    for (const lane of peerId === undefined ? [...this.#lanes.values()] : [this.#lanes.get(peerId)])
      lane?.sendNow({ kind: 'control' }, payload)
  }

  tell(data: unknown, to?: string): void {
    const control: Control = { type: 'tell', data }
    const bytes = encodeControl(control).byteLength
    if (bytes > maxControlBytes)
      throw new ArgumentError(
        'data',
        `A message takes at most ${maxControlBytes} bytes as JSON, not ${bytes}.`,
      )
    this.#tell(control, to)
  }

  async leave(): Promise<void> {
    if (this.#state === 'left') return
    this.#setState('left')
    await this.#membership.leave()
    this.#end()
  }

  #end() {
    this.#setState('left')
    for (const waiter of this.#waiting.splice(0)) waiter()
    this.#engine.failAll(new PapilioError('LEFT', 'This peer left the group while the op ran.'))
    this.#transport.close()
    this.#lanes.clear()
  }
}

function toError(value: unknown): Error {
  return value instanceof Error ? value : new Error(String(value))
}

function operatorOf(name: string): Operator {
  const operator = Object.hasOwn(operators, name) ? operators[name as keyof typeof operators] : undefined
  if (!operator)
    throw new ArgumentError(
      'op',
      `Unknown operator '${name}'. Use one of: ${Object.keys(operators).join(', ')}.`,
    )
  return operator
}
