/** The page of a lesson without its looks: a place in a room, peers inside the page, lessons. All that happens goes to one log. */
import type { Clock } from '../../../shared/base/clock.ts'
import type { Prng } from '../../../shared/base/prng.ts'
import type { Group } from '../../../shared/collective/types.ts'
import { isRoomCode } from '../../../shared/signaling/events.ts'
import { createLesson, type Lesson, type LessonWish } from '../../learn/lesson.ts'
import { LearnMember } from '../../learn/member.ts'
import type { Joined, JoinRequest } from '../session/lab.ts'
import { noticeOf } from '../session/logging.ts'
import type { PageEntry, PageEvent } from './events.ts'
import { foldPage, initialPageState, isComplete, isLearningNow, type PageState } from './pageState.ts'
import type { TrainerPort } from './worker/trainerPort.ts'

export interface ClassroomConfig {
  join(request: JoinRequest): Promise<Joined>
  readonly trainer: TrainerPort
  readonly clock: Clock
  readonly prng: Prng
}

/** Hands that the samples are dealt into at least: who comes later has samples of its own as well. */
const fewestHands = 8
/** Old entries are dropped beyond this. */
const capacity = 5000

interface OwnPeer {
  readonly group: Group
  readonly member: LearnMember
  readonly off: (() => void)[]
}

export class Classroom {
  readonly entries: PageEntry[] = []
  readonly #config: ClassroomConfig
  readonly #listeners = new Set<(entry: PageEntry) => void>()
  readonly #inPage = new Map<string, OwnPeer>()
  readonly #begin: number
  #self: OwnPeer | undefined
  #state = initialPageState

  constructor(config: ClassroomConfig) {
    this.#config = config
    this.#begin = config.clock.now()
  }

  get state(): PageState {
    return this.#state
  }

  /** Calls `listener` with every entry from now on. */
  subscribe(listener: (entry: PageEntry) => void): void {
    this.#listeners.add(listener)
  }

  /** Takes a place in the room; without one a new room is made. */
  async enter(room: string | undefined, create = room === undefined): Promise<void> {
    this.#log({ kind: 'joining', room })
    if (room !== undefined && !isRoomCode(room)) {
      const message = `There is no room "${room}". A code is letters and digits, with hyphens.`
      return this.#log({ kind: 'refused', code: 'ROOM_UNKNOWN', message })
    }
    try {
      const joined = await this.#config.join({ create, kind: 'tab', ...(room !== undefined && { room }) })
      this.#settle(joined)
    } catch (error) {
      this.#log({ kind: 'refused', ...noticeOf(error) })
    }
  }

  /** More peers inside this page; all of them train in its worker. */
  async addInPage(count: number): Promise<void> {
    const { room } = this.#state
    if (room === undefined || count < 1) return
    this.#log({ kind: 'adding', count })
    await Promise.all(Array.from({ length: count }, () => this.#addOne(room)))
  }

  async removeInPage(peerId: string): Promise<void> {
    const peer = this.#inPage.get(peerId)
    this.#inPage.delete(peerId)
    if (peer) await part(peer)
  }

  /** Begins a lesson when everybody is here; alone with `inPage` more peers in this page. */
  train(wish: Omit<LessonWish, 'peers'>, inPage: number): void {
    this.#log({ kind: 'wished', wish })
    if (this.#state.learning.members.length < 2 && inPage > 0) void this.addInPage(inPage)
    this.#beginWhenComplete()
  }

  /** Ends the run on all peers after the round in progress. */
  stop(): void {
    this.#self?.member.stop()
  }

  ask(sample: Float32Array): void {
    this.#self?.member.question(sample)
  }

  /** The others go on without the peers of this page. */
  async leave(): Promise<void> {
    const peers = [this.#self, ...this.#inPage.values()]
    this.#self = undefined
    this.#inPage.clear()
    this.#log({ kind: 'left' })
    await Promise.all(peers.map((peer) => peer && part(peer)))
  }

  #beginWhenComplete(): void {
    const state = this.#state
    const { wish, learning } = state
    if (!wish || learning.isAsked || !isComplete(state) || isLearningNow(state)) return
    const peers = learning.members.length
    this.#self?.member.ask(lessonFor(wish, peers))
  }

  async #addOne(room: string): Promise<void> {
    try {
      const joined = await this.#config.join({ room, create: false, kind: 'in-page' })
      const peer = this.#createPeer(joined.group, false)
      this.#inPage.set(joined.group.peerId, peer)
      this.#log({ kind: 'added', peerId: joined.group.peerId })
      peer.member.start()
    } catch (error) {
      this.#log({ kind: 'add-failed', ...noticeOf(error) })
    }
  }

  #createPeer(group: Group, evaluates: boolean): OwnPeer {
    const { prng, trainer } = this.#config
    const { createStudent } = trainer
    const member = new LearnMember({ group, prng, evaluates, createStudent })
    return { group, member, off: [] }
  }

  /** The page's own peer has its place: from now on its events go to the log. */
  #settle({ group, room, name, onServer }: Joined): void {
    const peer = this.#createPeer(group, true)
    this.#self = peer
    this.#log({ kind: 'joined', room, peerId: group.peerId, name })
    const off = onServer?.((state) => {
      if (state.name !== 'gone') this.#log({ kind: 'signal', isConnected: state.name === 'connected' })
      else if (this.#self === peer && state.error) this.#log({ kind: 'refused', ...noticeOf(state.error) })
    })
    if (off) peer.off.push(off)
    peer.off.push(peer.member.on('event', (event) => this.#log(event)))
    peer.member.start()
  }

  #log(event: PageEvent): void {
    const entry = { at: this.#config.clock.now() - this.#begin, event }
    this.entries.push(entry)
    if (this.entries.length > capacity) this.entries.splice(0, capacity / 10)
    this.#state = foldPage(this.#state, event)
    for (const listener of [...this.#listeners]) listener(entry)
    if (event.kind === 'group' || event.kind === 'present' || event.kind === 'add-failed')
      this.#beginWhenComplete()
  }
}

async function part({ member, group, off }: OwnPeer): Promise<void> {
  for (const end of off) end()
  member.close()
  await group.leave()
}

/** What a lesson with these settings would be for the peers who are here. */
export function lessonFor(wish: Omit<LessonWish, 'peers'>, peers: number): Lesson {
  return createLesson({ ...wish, peers, hands: Math.max(fewestHands, peers) })
}
