/** What a member does on the orders of a run's leader: each is carried out once, and answered. */
import type { Clock } from '../../shared/base/clock.ts'
import type { Emitter } from '../../shared/base/emitter.ts'
import { AbortedError } from '../../shared/base/errors.ts'
import type { Group, Progress, Waiting } from '../../shared/collective/types.ts'
import { packRunMessage, positionOf, type RunError, type RunMessage, type Task } from './messages.ts'
import { RunPart, type VerdictCache } from './part.ts'
import { describeError } from './runError.ts'
import type { RunEvents, RunStart } from './runEvents.ts'
import { callAt, callsOf } from './runSpec.ts'
import type { OpenRun } from './sequencer.ts'

export type OrderMessage = Task | Extract<RunMessage, { type: 'refused' | 'finish' }>

const orderTypes: ReadonlySet<string> = new Set(['refused', 'start', 'go', 'compare', 'measure', 'finish'])

/** Messages that only the leader may send. */
export function isOrder(message: RunMessage): message is OrderMessage {
  return orderTypes.has(message.type)
}

export interface FollowerConfig {
  group: Group
  clock: Clock
  verdicts: VerdictCache
  breathe: () => Promise<void> | undefined
  events: Emitter<RunEvents>
  tellAll(message: RunMessage): void
  tellLeader(message: RunMessage): void
}

interface CurrentRun {
  readonly runId: string
  /** Undefined: the links are measured. */
  readonly start: RunStart | undefined
  /** peerIds of who was there when it began. */
  readonly members: readonly string[]
  leader: string
  part: RunPart | undefined
  /** The last order. */
  task: Task
  /** This rank's answer to it. */
  answer: RunMessage | undefined
}

/** Others get to know this rank's progress this often; in large groups less often, so that it costs nobody time. */
const progressSeconds = (size: number) => 0.25 * Math.max(1, size / 8)

/** Its leader left before all had heard the same of it. */
export const unknownRun: RunError = { code: 'PEER_LOST', message: 'Who led the run left.', peers: [] }

export class Follower {
  readonly #config: FollowerConfig
  #toldProgressAt = 0
  /** Of the call that goes on, once something has moved. */
  #op: number | undefined
  #current: CurrentRun | undefined

  constructor(config: FollowerConfig) {
    this.#config = config
  }

  /** Of the run that is going on; it may have left. */
  get leader(): string | undefined {
    return this.#current?.leader
  }

  knows(runId: string): boolean {
    return this.#current?.runId === runId
  }

  close(): void {
    this.#current = undefined
  }

  /** A later op, such as a measurement that gives way to the run, waits quietly. */
  waits(waiting: Waiting): void {
    if (this.#current && waiting.op <= (this.#op ?? Number.POSITIVE_INFINITY))
      this.#config.events.emit('waiting', { runId: this.#current.runId, waiting })
  }

  /** A new epoch: the run that its rank 0 has to lead to the end, when this is rank 0 and the leader has left. */
  inherit(): OpenRun | undefined {
    const { group, tellLeader } = this.#config
    const run = this.#current
    const here = group.members.map(({ peerId }) => peerId)
    if (!run || here.includes(run.leader)) return undefined
    if (!run.start) {
      this.#current = undefined
      return undefined
    }
    const lost = run.leader
    run.leader = here[0]!
    if (group.rank === 0) {
      const members = here.filter((id) => run.members.includes(id))
      return { spec: run.start.spec, task: run.task, members, lost }
    }
    if (run.answer) tellLeader(run.answer)
    return undefined
  }

  follow(leader: string, order: OrderMessage): void {
    switch (order.type) {
      case 'refused':
        this.#config.events.emit('refused', { requestId: order.requestId, reason: order.reason })
        break
      case 'finish':
        this.#finish(order.runId, order.error)
        break
      default:
        this.#take(leader, order)
    }
  }

  #take(leader: string, task: Task): void {
    const { tellAll, tellLeader } = this.#config
    const { runId } = task
    const run = this.#current
    if (run?.runId !== runId) {
      const begun = this.#begin(leader, task)
      if (begun) this.#obey(begun, task)
      else tellAll({ type: 'failed', runId, error: unknownRun })
      return
    }
    run.leader = leader
    // Whoever takes the lead over gives the last order that it knows once more, to hear who has carried it out.
    const ahead = positionOf(run.task) - positionOf(task)
    if (ahead < 0) this.#obey(run, task)
    else if (ahead > 0) tellAll({ type: 'failed', runId, error: unknownRun })
    else if (run.answer) tellLeader(run.answer)
  }

  #begin(leader: string, task: Task): CurrentRun | undefined {
    const { group, verdicts, events } = this.#config
    const { runId } = task
    const members = group.members.map(({ peerId }) => peerId)
    const run = { runId, leader, members, task, part: undefined, answer: undefined }
    if (task.type === 'measure') {
      this.#current = { ...run, start: undefined }
      events.emit('measuring', { runId })
    } else if (task.type === 'start') {
      const { type: _, ...start } = task
      verdicts.clear()
      events.emit('started', start)
      this.#current = { ...run, start }
    } else return undefined
    return this.#current
  }

  /**
   * Begins at once, up to the first wait: a call must have its number before the next message is looked at. Tasks cannot meet, since the
   * leader waits for `done`. Then tells the leader, or everybody when it failed.
   */
  #obey(run: CurrentRun, task: Task): void {
    const { tellAll, tellLeader } = this.#config
    const { runId } = run
    run.task = task
    run.answer = undefined
    const answer = (message: RunMessage, tell: (message: RunMessage) => void) => {
      if (this.#current !== run) return
      run.answer = message
      tell(message)
    }
    this.#carryOut(run, task).then(
      (hash) => {
        const position = positionOf(task)
        answer({ type: 'done', runId, position, ...(hash === undefined ? {} : { hash }) }, tellLeader)
      },
      (error: unknown) => answer({ type: 'failed', runId, error: describeError(error) }, tellAll),
    )
  }

  /** The hash of the result where the leader needs one. */
  #carryOut(run: CurrentRun, task: Task): Promise<string | undefined> {
    switch (task.type) {
      case 'start':
        return this.#prepare(run, task)
      case 'go':
        return this.#go(run, task.index)
      case 'compare':
        return this.#compare(run, task.variant)
      case 'measure':
        return this.#measure(run.runId)
    }
  }

  /** Here the vectors are made: a device may be too small for them. */
  async #prepare(run: CurrentRun, { runId, seed, spec }: RunStart): Promise<undefined> {
    const { group, verdicts, breathe, events, tellAll } = this.#config
    run.part = new RunPart({
      group,
      runId,
      seed,
      spec,
      verdicts,
      breathe,
      onProgress: (progress) => this.#progressed(runId, progress),
      onReport: (call, report) => events.emit('report', { runId, call, report }),
      onResult: (result) => tellAll({ type: 'result', runId, result }),
    })
    await run.part.prepare()
  }

  async #go({ runId, start, part }: CurrentRun, index: number): Promise<string | undefined> {
    if (!start || !part) return undefined
    const { spec } = start
    this.#toldProgressAt = this.#config.clock.now()
    this.#op = undefined
    this.#config.events.emit('call', { runId, index, total: callsOf(spec), ...callAt(spec, index) })
    return await part.go(index)
  }

  async #compare({ runId, part }: CurrentRun, variant: number): Promise<undefined> {
    if (!part) return
    this.#op = undefined
    const spread = await part.compare()
    this.#config.events.emit('spread', { runId, variant, spread })
  }

  async #measure(runId: string): Promise<undefined> {
    const { group, events } = this.#config
    try {
      await group.measure()
      events.emit('measured', { runId })
    } catch (error) {
      events.emit('measured', { runId, error: describeError(error) })
    }
  }

  #progressed(runId: string, progress: Progress): void {
    const { clock, group, events } = this.#config
    this.#op = progress.op
    events.emit('progress', { runId, progress })
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
    // The call that is going on has been made by all; when the leader gives it up it ends on all. (Were everybody to give it up, one
    // whose call still waits for its number would never make it, and count its calls differently from then on.)
    if (run.leader === this.#config.group.peerId) run.part?.abort(new AbortedError('The run has ended.'))
    if (run.start) this.#config.events.emit('finished', { runId, ...(error ? { error } : {}) })
  }
}
