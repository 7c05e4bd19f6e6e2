/**
 * Takes part in runs: hands requests to rank 0, follows its orders, tells everybody the results. On rank 0 it also gives the
 * orders. Every member of a room has one, whatever it runs in; it knows no DOM.
 */
import type { Clock } from '../../../shared/base/clock.ts'
import { Emitter, type Events } from '../../../shared/base/emitter.ts'
import { AbortedError, PapilioError, PeerLostError, TimeoutError } from '../../../shared/base/errors.ts'
import type { Prng } from '../../../shared/base/prng.ts'
import type { Group, Progress, Report, Waiting } from '../../../shared/collective/types.ts'
import {
  type About,
  packRunMessage,
  parseRunMessage,
  type RankResult,
  type RunError,
  type RunMessage,
} from './messages.ts'
import { type Compared, RunPart, type VerdictCache } from './part.ts'
import { type Call, callAt, callsOf, type RunSpec } from './runSpec.ts'
import { type Order, Sequencer } from './sequencer.ts'

export interface RunStart {
  readonly runId: string
  readonly requestId: string
  /** peerId of who asked for it. */
  readonly by: string
  readonly epoch: number
  readonly seed: number
  readonly spec: RunSpec
}

export interface RunEvents {
  /** A member follows orders (again). */
  present: { peerId: string; about: About }
  refused: { requestId: string; reason: string }
  started: RunStart
  /** Links are being measured; runs wait. */
  measuring: { runId: string }
  measured: { runId: string; error?: RunError }
  call: Call & { runId: string; index: number; total: number }
  /** Of this rank. */
  progress: { runId: string; progress: Progress }
  /** Of another rank, in a long call. */
  peerProgress: { runId: string; peerId: string; step: number; fraction: number }
  waiting: { runId: string; waiting: Waiting }
  /** This rank's own report, after each measured call. */
  report: { runId: string; call: Call; report: Report }
  /** What one rank says of one variant. */
  result: { runId: string; peerId: string; result: RankResult }
  spread: { runId: string; variant: number; spread: Compared }
  failed: { runId: string; peerId: string; error: RunError }
  finished: { runId: string; error?: RunError }
}

export interface RunMemberConfig {
  group: Group
  clock: Clock
  prng: Prng
  /** Browser or runtime with its version, for people. */
  agent: string
  verdicts: VerdictCache
  breathe: () => Promise<void> | undefined
}

type StartMessage = Extract<RunMessage, { type: 'start' }>
type HelloMessage = Extract<RunMessage, { type: 'hello' }>

interface CurrentRun {
  readonly start: RunStart | undefined
  readonly runId: string
  readonly leader: string
  part: RunPart | undefined
}

const describeSeconds = 0.2
/** Others get to know this rank's progress this often; in large groups less often, so that it costs nobody time. */
const progressSeconds = (size: number) => 0.25 * Math.max(1, size / 8)

/** Messages that only rank 0 may send. */
const orderTypes: ReadonlySet<string> = new Set(['refused', 'start', 'go', 'compare', 'measure', 'finish'])

export class RunMember implements Events<RunEvents> {
  readonly #config: RunMemberConfig
  readonly #events = new Emitter<RunEvents>()
  readonly #sequencer: Sequencer
  readonly #present = new Set<string>()
  /** Everybody who was ever here, by the last rank. */
  readonly #names = new Map<string, string>()
  readonly #off: (() => void)[]
  #isHidden = false
  #cancelDescribe: (() => void) | undefined
  #readyEpoch = -1
  #toldProgressAt = 0
  #current: CurrentRun | undefined

  constructor(config: RunMemberConfig) {
    this.#config = config
    this.#sequencer = new Sequencer(
      () => createId(config.prng),
      (peerId) => this.#nameOf(peerId),
    )
    const { group } = config
    this.#off = [
      group.on('message', ({ from, data }) => {
        const message = parseRunMessage(data)
        if (message) this.#receive(from.peerId, message)
      }),
      group.on('view', () => this.#settle()),
      group.on('state', () => this.#settle()),
      group.on('link', () => this.#describeSoon()),
      group.on('waiting', (waiting) => {
        if (this.#current) this.#events.emit('waiting', { runId: this.#current.runId, waiting })
      }),
    ]
  }

  /** Takes part from now on; listeners that were added before miss nothing. */
  start(): void {
    this.#settle()
  }

  on<Name extends keyof RunEvents>(event: Name, listener: (value: RunEvents[Name]) => void): () => void {
    return this.#events.on(event, listener)
  }

  /** Members that follow orders: a run can start when it is everybody. */
  get present(): ReadonlySet<string> {
    return this.#present
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
    this.#isHidden = isHidden
    this.#describeSoon()
  }

  close(): void {
    this.#cancelDescribe?.()
    for (const off of this.#off) off()
    this.#current?.part?.abort(new AbortedError('This peer left.'))
  }

  get #about(): About {
    const { agent, group } = this.#config
    const open = group.links().filter((link) => link.state === 'open')
    const paths = Object.fromEntries(open.map((link) => [link.peerId, link.path]))
    return { agent, hidden: this.#isHidden, paths }
  }

  /** Links change in bursts: one message for all of them. */
  #describeSoon(): void {
    if (this.#cancelDescribe || this.#readyEpoch < 0) return
    this.#cancelDescribe = this.#config.clock.after(describeSeconds, () => {
      this.#cancelDescribe = undefined
      if (this.#config.group.state === 'ready')
        this.#tellAll({ type: 'hello', about: this.#about, answer: false })
    })
  }

  #tellAll(message: RunMessage): void {
    const { group } = this.#config
    if (group.size > 1) group.tell(packRunMessage(message))
    this.#receive(group.peerId, message)
  }

  #tellLeader(message: RunMessage): void {
    const { group } = this.#config
    const leader = this.#current?.leader ?? group.members[0]?.peerId
    if (leader === undefined) return
    if (leader === group.peerId) this.#receive(leader, message)
    else group.tell(packRunMessage(message), leader)
  }

  /** The group has (another) ready epoch: say hello, and lead it when this is rank 0. */
  #settle(): void {
    const { group } = this.#config
    if (group.state !== 'ready') {
      this.#sequencer.onPending()
      return
    }
    const members = group.members.map((member) => member.peerId)
    if (group.epoch !== this.#readyEpoch) this.#greetEpoch(members)
    if (group.rank === 0) this.#give(this.#sequencer.onReady(group.epoch, members))
    else this.#sequencer.onDeposed()
  }

  #greetEpoch(members: readonly string[]): void {
    const { group } = this.#config
    this.#readyEpoch = group.epoch
    for (const [rank, { peerId, name }] of group.members.entries())
      this.#names.set(peerId, `${name} (rank ${rank})`)
    for (const id of this.#present) if (!members.includes(id)) this.#present.delete(id)
    this.#tellAll({ type: 'hello', about: this.#about, answer: true })
    const run = this.#current
    if (run && !members.includes(run.leader))
      this.#finish(run.runId, {
        code: 'PEER_LOST',
        message: 'Rank 0, which led the run, left.',
        peers: [run.leader],
      })
  }

  #receive(from: string, message: RunMessage): void {
    const { group } = this.#config
    if (orderTypes.has(message.type)) {
      const leader = this.#current?.leader ?? group.members[0]?.peerId
      if (from === leader) this.#follow(from, message)
      return
    }
    if (message.type === 'hello') this.#greet(from, message)
    if (message.type === 'result')
      this.#events.emit('result', { runId: message.runId, peerId: from, result: message.result })
    if (message.type === 'progress') {
      const { runId, step, fraction } = message
      this.#events.emit('peerProgress', { runId, peerId: from, step, fraction })
    }
    if (message.type === 'failed')
      this.#events.emit('failed', { runId: message.runId, peerId: from, error: message.error })
    this.#give(this.#ordersAfter(from, message))
  }

  #greet(from: string, message: HelloMessage): void {
    const { group } = this.#config
    this.#present.add(from)
    this.#events.emit('present', { peerId: from, about: message.about })
    if (message.answer && from !== group.peerId)
      group.tell(packRunMessage({ type: 'hello', about: this.#about, answer: false }), from)
  }

  /** What rank 0 orders upon a message; others only remember who is present. */
  #ordersAfter(from: string, message: RunMessage): Order[] {
    if (message.type === 'hello') return this.#sequencer.onPresent(from)
    if (this.#config.group.rank !== 0) return []
    switch (message.type) {
      case 'request':
        return this.#sequencer.onRequest({ requestId: message.requestId, by: from, spec: message.spec })
      case 'measure-request':
        return this.#sequencer.onMeasureRequest()
      case 'stop-request':
        return this.#sequencer.onFailed(message.runId, {
          code: 'ABORTED',
          message: `Stopped by ${this.#nameOf(from)}.`,
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

  /** Rank 0: sends orders out, to itself last, so that nobody waits for this rank's work. */
  #give(orders: readonly Order[]): void {
    const { group, prng } = this.#config
    if (group.rank !== 0) return
    for (const order of orders)
      switch (order.type) {
        case 'refused': {
          const { requestId, by } = order.request
          const message: RunMessage = { type: 'refused', requestId, reason: order.reason }
          if (by === group.peerId) this.#receive(by, message)
          else group.tell(packRunMessage(message), by)
          break
        }
        case 'start': {
          const { runId, request } = order
          this.#tellAll({ type: 'start', runId, ...request, epoch: group.epoch, seed: prng.below(2 ** 31) })
          break
        }
        default:
          this.#tellAll(order)
      }
  }

  #follow(leader: string, message: RunMessage): void {
    switch (message.type) {
      case 'refused':
        this.#events.emit('refused', { requestId: message.requestId, reason: message.reason })
        break
      case 'start':
        this.#start(leader, message)
        break
      case 'measure':
        this.#current = { runId: message.runId, leader, start: undefined, part: undefined }
        this.#events.emit('measuring', { runId: message.runId })
        this.#obey(message.runId, message.position, () => this.#measure(message.runId))
        break
      case 'go':
        this.#obey(message.runId, message.position, () => this.#go(message.index))
        break
      case 'compare':
        this.#obey(message.runId, message.position, () => this.#compare(message.variant))
        break
      case 'finish':
        this.#finish(message.runId, message.error)
    }
  }

  #start(leader: string, message: StartMessage): void {
    const { group, verdicts, breathe } = this.#config
    const { type: _, ...start } = message
    const { runId, seed, spec } = start
    verdicts.clear()
    this.#events.emit('started', start)
    const run: CurrentRun = { runId, leader, start, part: undefined }
    this.#current = run
    // Here the vectors are made: a device may be too small for them.
    this.#obey(runId, 0, async () => {
      run.part = new RunPart({
        group,
        runId,
        seed,
        spec,
        verdicts,
        breathe,
        onProgress: (progress) => this.#progressed(runId, progress),
        onReport: (call, report) => this.#events.emit('report', { runId, call, report }),
        onResult: (result) => this.#tellAll({ type: 'result', runId, result }),
      })
      await run.part.prepare()
      return undefined
    })
  }

  /**
   * Does `job` at once, up to its first wait: a call must have its number before the next message is looked at. Jobs cannot meet,
   * since rank 0 waits for `done`. Then tells rank 0, or everybody when it failed.
   */
  #obey(runId: string, position: number, job: () => Promise<string | undefined>): void {
    job().then(
      (hash) => {
        if (this.#current?.runId === runId)
          this.#tellLeader({ type: 'done', runId, position, ...(hash === undefined ? {} : { hash }) })
      },
      (error: unknown) => {
        if (this.#current?.runId === runId)
          this.#tellAll({ type: 'failed', runId, error: describeError(error) })
      },
    )
  }

  async #go(index: number): Promise<string | undefined> {
    const run = this.#current
    if (!run?.start || !run.part) return undefined
    const { runId, spec } = run.start
    this.#toldProgressAt = this.#config.clock.now()
    this.#events.emit('call', { runId, index, total: callsOf(spec), ...callAt(spec, index) })
    return await run.part.go(index)
  }

  async #compare(variant: number): Promise<undefined> {
    const run = this.#current
    if (!run?.part) return
    const spread = await run.part.compare()
    this.#events.emit('spread', { runId: run.runId, variant, spread })
  }

  async #measure(runId: string): Promise<undefined> {
    try {
      await this.#config.group.measure()
      this.#events.emit('measured', { runId })
    } catch (error) {
      this.#events.emit('measured', { runId, error: describeError(error) })
    }
  }

  #progressed(runId: string, progress: Progress): void {
    this.#events.emit('progress', { runId, progress })
    const { clock, group } = this.#config
    if (clock.now() - this.#toldProgressAt < progressSeconds(group.size) || progress.fraction === 1) return
    this.#toldProgressAt = clock.now()
    const { step, steps } = progress
    const fraction = Math.min(1, Math.max(0, progress.fraction * steps - step))
    group.tell(packRunMessage({ type: 'progress', runId, step, fraction }))
  }

  #finish(runId: string, error: RunError | undefined): void {
    const run = this.#current
    if (run?.runId !== runId) return
    this.#current = undefined
    // The call that is going on has been made by all; when rank 0 gives it up it ends on all. (Were everybody to give it up, one
    // whose call still waits for its number would never make it, and count its calls differently from then on.)
    if (run.leader === this.#config.group.peerId) run.part?.abort(new AbortedError('The run has ended.'))
    if (run.start) this.#events.emit('finished', { runId, ...(error ? { error } : {}) })
  }

  #nameOf(peerId: string): string {
    return this.#names.get(peerId) ?? 'a peer'
  }
}

export function createId(prng: Prng): string {
  return Array.from({ length: 3 }, () =>
    prng
      .below(36 ** 4)
      .toString(36)
      .padStart(4, '0'),
  ).join('')
}

/** An error as the other members and the page need it. */
export function describeError(error: unknown): RunError {
  const message = error instanceof Error ? error.message.slice(0, 500) : String(error).slice(0, 500)
  if (error instanceof TimeoutError)
    return {
      code: error.code,
      message,
      peers: error.waitingFor.map((peer) => peer.peerId).slice(0, 64),
      step: error.step,
    }
  if (error instanceof PeerLostError) return { code: error.code, message, peers: [error.peer.peerId] }
  if (error instanceof PapilioError) return { code: error.code, message, peers: [] }
  // What the engine throws when an array cannot be allocated.
  if (error instanceof RangeError) return { code: 'TOO_LARGE', message, peers: [] }
  return { code: 'INTERNAL', message, peers: [] }
}
