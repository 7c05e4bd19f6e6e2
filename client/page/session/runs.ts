/**
 * Takes part in runs: hands requests to rank 0, follows its orders, tells everybody the results. Every member of a room has one,
 * whatever it runs in; it knows no DOM.
 */
import type { Clock } from '../../../shared/base/clock.ts'
import { Emitter, type Events } from '../../../shared/base/emitter.ts'
import { AbortedError } from '../../../shared/base/errors.ts'
import type { Prng } from '../../../shared/base/prng.ts'
import type { Group, Progress } from '../../../shared/collective/types.ts'
import { Leader } from './leader.ts'
import { packRunMessage, parseRunMessage, type RunError, type RunMessage } from './messages.ts'
import { RunPart, type VerdictCache } from './part.ts'
import { Presence } from './presence.ts'
import { describeError } from './runError.ts'
import type { RunEvents, RunStart } from './runEvents.ts'
import { callAt, callsOf, type RunSpec } from './runSpec.ts'

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

interface CurrentRun {
  readonly start: RunStart | undefined
  readonly runId: string
  readonly leader: string
  part: RunPart | undefined
}

/** Others get to know this rank's progress this often; in large groups less often, so that it costs nobody time. */
const progressSeconds = (size: number) => 0.25 * Math.max(1, size / 8)

/** Messages that only rank 0 may send. */
const orderTypes: ReadonlySet<string> = new Set(['refused', 'start', 'go', 'compare', 'measure', 'finish'])

export class RunMember implements Events<RunEvents> {
  readonly #config: RunMemberConfig
  readonly #events = new Emitter<RunEvents>()
  readonly #leader: Leader
  readonly #presence: Presence
  readonly #off: (() => void)[]
  #readyEpoch = -1
  #toldProgressAt = 0
  /** Of the call that goes on, once something has moved. */
  #op: number | undefined
  #current: CurrentRun | undefined

  constructor(config: RunMemberConfig) {
    const { group, clock, prng, agent } = config
    this.#config = config
    const voice = {
      tellAll: (message: RunMessage) => this.#tellAll(message),
      tell: (message: RunMessage, to: string) => this.#tell(message, to),
    }
    this.#presence = new Presence({ group, clock, agent, ...voice })
    this.#leader = new Leader({
      group,
      prng,
      nameOf: (peerId) => this.#presence.nameOf(peerId),
      ...voice,
    })
    this.#off = [
      group.on('message', ({ from, data }) => {
        const message = parseRunMessage(data)
        if (message) this.#receive(from.peerId, message)
      }),
      group.on('view', () => this.#settle()),
      group.on('state', () => this.#settle()),
      // A later op, such as a measurement that gives way to the run, waits quietly.
      group.on('waiting', (waiting) => {
        if (this.#current && waiting.op <= (this.#op ?? Number.POSITIVE_INFINITY))
          this.#events.emit('waiting', { runId: this.#current.runId, waiting })
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
    this.#current = undefined
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

  /** Of the run that is going on, or else rank 0. */
  get #leaderId(): string | undefined {
    return this.#current?.leader ?? this.#config.group.members[0]?.peerId
  }

  #tellLeader(message: RunMessage): void {
    const leader = this.#leaderId
    if (leader !== undefined) this.#tell(message, leader)
  }

  /** The group has (another) ready epoch: say hello, and lead it when this is rank 0. */
  #settle(): void {
    const { group } = this.#config
    if (group.state === 'ready' && group.epoch !== this.#readyEpoch) {
      this.#readyEpoch = group.epoch
      this.#presence.greet()
      this.#leaveOrphan()
    }
    this.#leader.settle()
  }

  /** A run whose leader is gone gets no more orders. */
  #leaveOrphan(): void {
    const run = this.#current
    if (!run || this.#config.group.members.some((member) => member.peerId === run.leader)) return
    const message = `${this.#presence.nameOf(run.leader)}, which led the run, left.`
    this.#finish(run.runId, { code: 'PEER_LOST', message, peers: [run.leader] })
  }

  #receive(from: string, message: RunMessage): void {
    if (orderTypes.has(message.type)) {
      if (from === this.#leaderId) this.#follow(from, message)
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
    }
    this.#leader.receive(from, message)
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
    this.#op = undefined
    this.#events.emit('call', { runId, index, total: callsOf(spec), ...callAt(spec, index) })
    return await run.part.go(index)
  }

  async #compare(variant: number): Promise<undefined> {
    const run = this.#current
    if (!run?.part) return
    this.#op = undefined
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
    this.#op = progress.op
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
}
