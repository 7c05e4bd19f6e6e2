/**
 * The page without its looks: a place in a room, peers inside the page, and runs. All that happens goes to the event log; all
 * that is shown is read from there.
 */
import type { Clock } from '../../../shared/base/clock.ts'
import type { PapilioError } from '../../../shared/base/errors.ts'
import type { Prng } from '../../../shared/base/prng.ts'
import type { Group } from '../../../shared/collective/types.ts'
import type { RemovalCause } from '../../../shared/membership/types.ts'
import { isRoomCode } from '../../../shared/signaling/events.ts'
import type { VerdictCache } from '../../session/part.ts'
import { Returns } from '../../session/returns.ts'
import { createId, type RunSpec } from '../../session/runSpec.ts'
import { RunMember } from '../../session/runs.ts'
import { createEventLog, type EventLog } from './eventLog.ts'
import { foldState, initialState, type LabState } from './labState.ts'
import { logGroup, logRuns, noticeOf } from './logging.ts'

export interface Joined {
  readonly group: Group
  readonly room: string
  readonly name: string
  /** The connection to the signalling server comes and goes; `gone`: this peer has no place any more. */
  onServer?(listener: (state: ServerState) => void): () => void
}

export type ServerState =
  | { readonly name: 'connected' | 'reconnecting' }
  | { readonly name: 'gone'; readonly error?: PapilioError; readonly cause?: RemovalCause }

export interface JoinRequest {
  /** Absent: a new room. */
  readonly room?: string
  /** Make the room if it does not exist. */
  readonly create: boolean
  readonly kind: 'tab' | 'in-page'
}

export interface LabConfig {
  join(request: JoinRequest): Promise<Joined>
  clock: Clock
  prng: Prng
  agent: string
  breathe: () => Promise<void> | undefined
}

/** Links that cannot be measured within this time must not keep people from running; predictions then stay a guess. */
const measureSeconds = 12

interface OwnPeer {
  readonly group: Group
  readonly member: RunMember
  /** Ends what listens to it. */
  readonly off: (() => void)[]
}

export class Lab {
  readonly log: EventLog
  readonly #config: LabConfig
  readonly #verdicts: VerdictCache = new Map()
  readonly #inPage = new Map<string, OwnPeer>()
  #self: OwnPeer | undefined
  #isHidden = false
  #state: LabState = initialState
  #cancelMeasureLimit: (() => void) | undefined
  readonly #returns = new Returns()

  constructor(config: LabConfig) {
    this.#config = config
    this.log = createEventLog(config.clock)
    this.log.subscribe((entry) => {
      this.#state = foldState(this.#state, entry)
    })
  }

  /** All that was logged so far, folded. */
  get state(): LabState {
    return this.#state
  }

  /** Takes a place in the room; without one a new room is made. */
  async enter(room: string | undefined, create = room === undefined): Promise<void> {
    this.log.append({ kind: 'joining', room })
    if (room !== undefined && !isRoomCode(room))
      return this.refuse(
        'ROOM_UNKNOWN',
        `There is no room "${room}". A code is letters and digits, with hyphens.`,
      )
    await this.#takeSeat(room, create)
  }

  /** Does not even ask: the page stands at an address where there is no room. */
  refuse(code: string, message: string): void {
    this.log.append({ kind: 'refused', code, message })
  }

  /** More peers inside this page. */
  async addInPage(count: number): Promise<void> {
    const { room } = this.#state
    if (room === undefined || count < 1) return
    this.log.append({ kind: 'adding', count })
    await Promise.all(Array.from({ length: count }, () => this.#addOne(room)))
  }

  async removeInPage(peerId: string): Promise<void> {
    const peer = this.#inPage.get(peerId)
    if (!peer) return
    this.#inPage.delete(peerId)
    this.log.append({ kind: 'removing', peerId })
    part(peer)
    await peer.group.leave()
  }

  /** Opens real tabs with `open`, which says whether the browser let it. */
  openTabs(count: number, open: () => boolean): void {
    this.log.append({ kind: 'adding', count })
    const opened = Array.from({ length: count }, open).filter(Boolean).length
    this.log.append({ kind: 'tabs', asked: count, opened })
  }

  request(spec: RunSpec): void {
    const requestId = createId(this.#config.prng)
    this.log.append({ kind: 'requested', requestId })
    this.#self?.member.request(requestId, spec)
  }

  stop(): void {
    const { run } = this.#state
    if (run?.phase === 'running') this.#self?.member.stop(run.start.runId)
  }

  measure(): void {
    this.#self?.member.measure()
  }

  dismiss(): void {
    this.log.append({ kind: 'dismissed' })
  }

  /** The page went out of sight or came back; its peers tell the others, those that join later as well. */
  hide(isHidden: boolean): void {
    this.#isHidden = isHidden
    for (const peer of [this.#self, ...this.#inPage.values()]) peer?.member.hide(isHidden)
  }

  async leave(): Promise<void> {
    const peers = [this.#self, ...this.#inPage.values()]
    for (const peer of peers) if (peer) part(peer)
    await Promise.all(peers.map((peer) => peer?.group.leave()))
  }

  async #takeSeat(room: string | undefined, create: boolean): Promise<void> {
    try {
      const joined = await this.#config.join({ ...(room === undefined ? {} : { room }), create, kind: 'tab' })
      this.#settle(joined)
    } catch (error) {
      this.log.append({ kind: 'refused', ...noticeOf(error) })
    }
  }

  /** The server took the place of the page's own peer away. */
  #removed({ error, cause }: Extract<ServerState, { name: 'gone' }>): void {
    const own = this.#self
    if (!own || !error) return
    this.#self = undefined
    part(own)
    const { room } = this.#state
    if (!this.#returns.take(cause, this.#config.clock.now()) || room === undefined) {
      this.log.append({ kind: 'refused', ...noticeOf(error) })
      return
    }
    this.log.append({ kind: 'returning', ...noticeOf(error) })
    void this.#takeSeat(room, false)
  }

  async #addOne(room: string): Promise<void> {
    try {
      const { group, onServer } = await this.#config.join({ room, create: false, kind: 'in-page' })
      const member = this.#createMember(group)
      const peer: OwnPeer = { group, member, off: [] }
      this.#inPage.set(group.peerId, peer)
      // What keeps this page from answering is over for all of its peers at once: they come back with it.
      const off = onServer?.((state) => {
        if (state.name !== 'gone' || !this.#inPage.delete(group.peerId)) return
        part(peer)
        if (this.#returns.admits(state.cause)) void this.#addOne(room)
      })
      if (off) peer.off.push(off)
      this.log.append({ kind: 'added', peerId: group.peerId })
      member.start()
    } catch (error) {
      this.log.append({ kind: 'add-failed', ...noticeOf(error) })
    }
  }

  #createMember(group: Group): RunMember {
    const { clock, prng, agent, breathe } = this.#config
    const member = new RunMember({ group, clock, prng, agent, breathe, verdicts: this.#verdicts })
    member.hide(this.#isHidden)
    return member
  }

  /** The page's own peer has its place: from now on its events go to the log. */
  #settle({ group, room, name, onServer }: Joined): void {
    const { log } = this
    const member = this.#createMember(group)
    const off: (() => void)[] = []
    this.#self = { group, member, off }
    log.append({ kind: 'joined', room, peerId: group.peerId, name })
    const offServer = onServer?.((state) => {
      if (state.name === 'gone') this.#removed(state)
      else log.append({ kind: 'signal', isConnected: state.name === 'connected' })
    })
    if (offServer) off.push(offServer)
    off.push(...logGroup(group, log, () => this.#limitMeasuring()))
    logRuns(member, log)
    member.start()
  }

  #limitMeasuring(): void {
    this.#cancelMeasureLimit?.()
    const { epoch } = this.#state
    this.#cancelMeasureLimit = this.#config.clock.after(measureSeconds, () => {
      const now = this.#state
      // Links that are in use are measured when they have time.
      if (now.run?.phase === 'running') return this.#limitMeasuring()
      if (now.epoch !== epoch || now.measuredEpoch === epoch || now.members.length < 2) return
      const message = 'The links could not be measured; predictions are guesses.'
      this.log.append({ kind: 'measured', error: { code: 'TIMEOUT', message, peers: [] } })
    })
  }
}

function part({ member, off }: OwnPeer): void {
  for (const end of off) end()
  member.close()
}
