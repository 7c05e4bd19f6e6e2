/** The page of a benchmark without its looks: a place in a room, peers inside the page, and what they measure together. */
import type { Clock } from '../../../shared/base/clock.ts'
import { AbortedError } from '../../../shared/base/errors.ts'
import type { BenchEvent } from '../../../shared/bench/events.ts'
import { BenchMember } from '../../../shared/bench/member.ts'
import type { BenchPlan } from '../../../shared/bench/plan.ts'
import type { Group } from '../../../shared/collective/types.ts'
import { isRoomCode } from '../../../shared/signaling/events.ts'
import type { Joined, JoinRequest } from '../session/lab.ts'
import { noticeOf } from '../session/logging.ts'
import { type BenchState, initialBenchState, isComplete } from './benchState.ts'

export interface BenchRoomConfig {
  join(request: JoinRequest): Promise<Joined>
  readonly clock: Clock
  readonly agent: string
}

interface OwnPeer {
  readonly group: Group
  readonly member: BenchMember
  readonly off: (() => void)[]
}

export class BenchRoom {
  readonly #config: BenchRoomConfig
  readonly #listeners = new Set<(state: BenchState) => void>()
  readonly #inPage = new Map<string, OwnPeer>()
  #self: OwnPeer | undefined
  #state = initialBenchState

  constructor(config: BenchRoomConfig) {
    this.#config = config
  }

  get state(): BenchState {
    return this.#state
  }

  subscribe(listener: (state: BenchState) => void): void {
    this.#listeners.add(listener)
  }

  /** Takes a place in the room; without one a new room is made. */
  async enter(room: string | undefined): Promise<void> {
    this.#become({ ...initialBenchState, room })
    if (room !== undefined && !isRoomCode(room)) {
      const message = `There is no room "${room}". A code is letters and digits, with hyphens.`
      return this.#become({ place: 'refused', problem: { code: 'ROOM_UNKNOWN', message } })
    }
    try {
      const create = room === undefined
      this.#settle(await this.#config.join({ create, kind: 'tab', ...(room !== undefined && { room }) }))
    } catch (error) {
      this.#become({ place: 'refused', problem: noticeOf(error) })
    }
  }

  /** More peers inside this page. */
  async addInPage(count: number): Promise<void> {
    const { room, expected, members } = this.#state
    if (room === undefined) return
    this.#become({ expected: Math.max(expected, members.length) + count })
    await Promise.all(Array.from({ length: count }, () => this.#addOne(room)))
  }

  async removeInPage(peerId: string): Promise<void> {
    const peer = this.#inPage.get(peerId)
    this.#inPage.delete(peerId)
    this.#become({ inPage: new Set(this.#inPage.keys()), expected: 1 })
    if (peer) await part(peer)
  }

  /** Begins when everybody is here; alone with `inPage` more peers in this page. */
  run(plan: BenchPlan, inPage: number): void {
    this.#become({ wanted: plan, refusal: undefined })
    if (this.#state.members.length < 2) void this.addInPage(inPage)
    this.#beginWhenComplete()
  }

  /** Ends it on all peers, before the next call. */
  stop(): void {
    if (this.#state.phase === 'running') this.#self?.member.stop()
    else this.#become({ wanted: undefined })
  }

  #beginWhenComplete(): void {
    const { wanted } = this.#state
    if (!wanted || !isComplete(this.#state)) return
    this.#become({ wanted: undefined })
    this.#self?.member.ask(wanted)
  }

  async #addOne(room: string): Promise<void> {
    try {
      const { group } = await this.#config.join({ room, create: false, kind: 'in-page' })
      this.#inPage.set(group.peerId, this.#createPeer(group))
      this.#become({ inPage: new Set(this.#inPage.keys()) })
    } catch (error) {
      this.#become({ wanted: undefined, expected: 1, refusal: noticeOf(error).message })
    }
  }

  #createPeer(group: Group): OwnPeer {
    const { clock, agent } = this.#config
    return { group, member: new BenchMember({ group, clock, agent }), off: [] }
  }

  #settle({ group, room, name, onServer }: Joined): void {
    const own = this.#createPeer(group)
    const { member } = own
    this.#self = own
    this.#become({ place: 'joined', room, self: { peerId: group.peerId, name } })
    const look = () => {
      this.#become({ members: group.roster, groupState: group.state, present: member.present })
      this.#beginWhenComplete()
    }
    own.off.push(
      group.on('view', look),
      group.on('state', look),
      member.on('present', look),
      member.on('refused', (refusal) => this.#become({ refusal })),
      member.on('started', (plan) =>
        this.#become({
          plan,
          phase: 'running',
          events: [],
          rows: [],
          progress: undefined,
          error: undefined,
          refusal: undefined,
        }),
      ),
      member.on('told', (event) => this.#told(event)),
      member.on('finished', ({ error }) => this.#finished(error)),
    )
    const offServer = onServer?.((server) => {
      if (server.name === 'gone') this.#removed(server.error)
      else this.#become({ isServerThere: server.name === 'connected' })
    })
    if (offServer) own.off.push(offServer)
    look()
  }

  #told(event: BenchEvent): void {
    const { events, rows } = this.#state
    if (event.kind === 'progress') this.#become({ progress: event })
    else if (event.kind === 'row') this.#become({ rows: [...rows, event.row], events: [...events, event] })
    else this.#become({ events: [...events, event] })
  }

  #finished(error: unknown): void {
    if (error === undefined) this.#become({ phase: 'done', progress: undefined })
    else
      this.#become({
        phase: error instanceof AbortedError ? 'stopped' : 'failed',
        error: noticeOf(error).message,
      })
  }

  #removed(error: unknown): void {
    const own = this.#self
    if (!own) return
    this.#self = undefined
    for (const end of own.off) end()
    own.member.close()
    this.#become({ place: 'refused', ...(error !== undefined && { problem: noticeOf(error) }) })
  }

  #become(changes: Partial<BenchState>): void {
    this.#state = { ...this.#state, ...changes }
    for (const listener of [...this.#listeners]) listener(this.#state)
  }
}

async function part({ member, group, off }: OwnPeer): Promise<void> {
  for (const end of off) end()
  member.close()
  await group.leave()
}
