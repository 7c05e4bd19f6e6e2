/**
 * Benchmarks of a room: anybody asks, rank 0 gives the word, everybody carries it out. Messages of the application (`tell`) bring the plan; the
 * benchmark itself is calls of the group.
 */
import * as v from 'valibot'
import { Emitter } from '../base/emitter.ts'
import { AbortedError } from '../base/errors.ts'
import type { Group } from '../collective/types.ts'
import type { BenchEnd, BenchEvent } from './events.ts'
import { type BenchPlan, planSchema } from './plan.ts'
import { type BenchOptions, runBench } from './run.ts'

const text = v.pipe(v.string(), v.maxLength(300))
const epoch = v.pipe(v.number(), v.integer(), v.minValue(0))
const messageSchema = v.variant('type', [
  /** The sender takes part in benchmarks; `answer`: and wants to know who else does. */
  v.object({ type: v.literal('here'), answer: v.boolean() }),
  v.object({ type: v.literal('ask'), plan: planSchema }),
  v.object({ type: v.literal('refused'), reason: text }),
  v.object({ type: v.literal('start'), plan: planSchema, epoch }),
  v.object({ type: v.literal('stop') }),
])
type Message = v.InferOutput<typeof messageSchema>
const envelope = v.object({ bench: v.literal(1), message: messageSchema })

export interface BenchMemberEvents {
  /** Who takes part has changed. */
  present: readonly string[]
  /** This member asked for a benchmark that cannot run. */
  refused: string
  started: BenchPlan
  told: BenchEvent
  /** It has ended: well, or with an error that all members have. */
  finished: { readonly end?: BenchEnd; readonly error?: unknown }
}

export type BenchMemberConfig = Pick<BenchOptions, 'clock' | 'agent' | 'raw'> & { readonly group: Group }

export class BenchMember extends Emitter<BenchMemberEvents> {
  readonly #config: BenchMemberConfig
  readonly #present: Set<string>
  readonly #off: (() => void)[]
  #running: AbortController | undefined

  constructor(config: BenchMemberConfig) {
    super()
    this.#config = config
    const { group } = config
    this.#present = new Set([group.peerId])
    this.#off = [
      group.on('message', ({ from, data }) => {
        const parsed = v.safeParse(envelope, data)
        if (parsed.success) this.#receive(from.peerId, parsed.output.message)
      }),
      group.on('state', () => this.#greet()),
      group.on('view', () => this.emit('present', this.present)),
    ]
    this.#greet()
  }

  get isRunning(): boolean {
    return this.#running !== undefined
  }

  /** peerIds of the members that would follow. */
  get present(): readonly string[] {
    return this.#config.group.roster.flatMap(({ peerId }) => (this.#present.has(peerId) ? [peerId] : []))
  }

  /** Asks for a benchmark of all members; `started` or `refused` follows. */
  ask(plan: BenchPlan): void {
    const { group } = this.#config
    if (group.rank === 0) this.#begin(group.peerId, plan)
    else this.#tell({ type: 'ask', plan }, group.members[0]?.peerId)
  }

  /** Ends the benchmark that runs, on all members. */
  stop(): void {
    const { group } = this.#config
    if (group.rank === 0) this.#running?.abort(new AbortedError('The benchmark was stopped.'))
    else if (this.#running) this.#tell({ type: 'stop' }, group.members[0]?.peerId)
  }

  close(): void {
    for (const off of this.#off.splice(0)) off()
    this.#running?.abort(new AbortedError('This member left the benchmark.'))
  }

  #tell(message: Message, to?: string): void {
    this.#config.group.tell({ bench: 1, message }, to)
  }

  #greet(): void {
    if (this.#config.group.state === 'ready') this.#tell({ type: 'here', answer: true })
  }

  #receive(from: string, message: Message): void {
    const { group } = this.#config
    switch (message.type) {
      case 'here':
        this.#present.add(from)
        if (message.answer) this.#tell({ type: 'here', answer: false }, from)
        this.emit('present', this.present)
        break
      case 'ask':
        if (group.rank === 0) this.#begin(from, message.plan)
        break
      case 'refused':
        this.emit('refused', message.reason)
        break
      case 'start':
        if (from === group.members[0]?.peerId) void this.#follow(message.plan, message.epoch)
        break
      case 'stop':
        if (group.rank === 0) this.stop()
        break
    }
  }

  #begin(by: string, plan: BenchPlan): void {
    const { group } = this.#config
    const reason = this.#whyNot()
    if (reason === undefined) {
      this.#tell({ type: 'start', plan, epoch: group.epoch })
      void this.#run(plan)
    } else if (by === group.peerId) this.emit('refused', reason)
    else this.#tell({ type: 'refused', reason }, by)
  }

  /** Why no benchmark can begin now. */
  #whyNot(): string | undefined {
    const { group } = this.#config
    if (this.#running) return 'A benchmark is running already.'
    if (group.state !== 'ready') return 'The group is not ready yet.'
    const absent = group.members.filter(({ peerId }) => !this.#present.has(peerId))
    if (absent.length > 0)
      return `${absent.map(({ name }) => name).join(', ')} would not take part: open the benchmark there as well.`
    return undefined
  }

  /** The word may come before the epoch that it is for. */
  async #follow(plan: BenchPlan, wanted: number): Promise<void> {
    const { group } = this.#config
    const isThere = () => group.state === 'left' || (group.state === 'ready' && group.epoch >= wanted)
    if (!isThere())
      await new Promise<void>((resolve) => {
        const off = group.on('state', () => {
          if (!isThere()) return
          off()
          resolve()
        })
      })
    if (group.state === 'ready' && group.epoch === wanted && !this.#running) await this.#run(plan)
  }

  async #run(plan: BenchPlan): Promise<void> {
    const { group, clock, agent, raw } = this.#config
    const running = new AbortController()
    this.#running = running
    this.emit('started', plan)
    try {
      const end = await runBench(group, plan, {
        clock,
        agent,
        ...(raw && { raw }),
        signal: running.signal,
        onEvent: (event) => this.emit('told', event),
      })
      this.#running = undefined
      this.emit('finished', { end })
    } catch (error) {
      this.#running = undefined
      this.emit('finished', { error })
    }
  }
}
