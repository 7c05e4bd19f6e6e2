/** One peer without a page: takes a seat, follows runs like the peers of a page, comes back when it was put out by mistake. */
import type { Clock } from '../../shared/base/clock.ts'
import { createDeferred } from '../../shared/base/deferred.ts'
import { JoinError } from '../../shared/base/errors.ts'
import type { Prng } from '../../shared/base/prng.ts'
import type { Group } from '../../shared/collective/types.ts'
import { linksOf } from '../../shared/schedule/links.ts'
import type { JoinedGroup } from '../rtc/join.ts'
import type { VerdictCache } from '../session/part.ts'
import { Returns } from '../session/returns.ts'
import { pathOf } from '../session/routes.ts'
import { RunRecorder } from '../session/runRecorder.ts'
import { RunMember } from '../session/runs.ts'
import { type PeerEvent, verdictOf } from './peerEvents.ts'

export interface HeadlessPeerConfig {
  /** Takes a seat: the first time as asked for, later in the room of before. */
  join(room: string | undefined): Promise<Seated>
  readonly clock: Clock
  readonly prng: Prng
  /** Runtime with its version, for people. */
  readonly agent: string
  readonly verdicts: VerdictCache
  breathe(): Promise<void> | undefined
  onEvent(event: PeerEvent): void
}

/** The part of a joined group that a headless peer uses. */
export type Seated = Group &
  Pick<JoinedGroup, 'room' | 'name' | 'url'> & { readonly server: Pick<JoinedGroup['server'], 'on'> }

type Happening = PeerEvent extends infer Event
  ? Event extends PeerEvent
    ? Omit<Event, 'peerId' | 'name'>
    : never
  : never

/** A wait that takes longer is worth a word, and another one when it is for others. */
const waitSeconds = 3

export class HeadlessPeer {
  readonly #config: HeadlessPeerConfig
  readonly #returns = new Returns()
  /** Resolves when this peer has no seat any more, with the reason if it was put out. */
  readonly ended = createDeferred<Error | undefined>()
  #group: Seated | undefined
  #off: (() => void)[] = []
  #readyEpoch = -1
  #waitText = ''
  #leaving: Promise<void> | undefined

  constructor(config: HeadlessPeerConfig) {
    this.#config = config
  }

  get group(): Seated | undefined {
    return this.#group
  }

  /** @throws JoinError when the server refuses. */
  async enter(room?: string): Promise<void> {
    const { clock, join, onEvent: _, ...rest } = this.#config
    const group = await join(room)
    this.#group = group
    const member = new RunMember({ group, clock, ...rest })
    const recorder = new RunRecorder({
      group,
      member,
      clock,
      onStart: (record) => {
        const { runId, by, spec } = verdictOf(record)
        this.#tell({ event: 'started', runId, by, spec })
      },
      onEnd: (record) => this.#tell({ event: 'run', ...verdictOf(record) }),
    })
    this.#off = [
      () => recorder.close(),
      () => member.close(),
      group.on('state', () => this.#look()),
      group.on('view', () => this.#look()),
      member.on('waiting', ({ waiting: { peers, step } }) => {
        const names = peers.map(({ name, rank }) => `${name} (rank ${rank})`)
        this.#waits(names, `Waiting for ${names.join(', ')} in step ${step + 1}.`, step)
      }),
      group.server.on('state', (state) => {
        if (state.name === 'gone') this.#putOut(state)
        else this.#tell({ event: 'server', state: state.name })
      }),
      this.#watch(),
    ]
    this.#tell({ event: 'joined', room: group.room, link: group.url + pathOf(group.room) })
    member.start()
    this.#look()
  }

  leave(): Promise<void> {
    this.#leaving ??= this.#leave()
    return this.#leaving
  }

  async #leave(): Promise<void> {
    const group = this.#group
    if (!group) return
    this.#stop()
    await group.leave()
    this.#end()
  }

  /** What the group lacks to be ready: in words, and who. */
  missing(size: number): { readonly names: readonly string[]; readonly text: string } | undefined {
    const group = this.#group
    if (!group || (group.state === 'ready' && group.size >= size)) return undefined
    const more = size - group.roster.length
    if (more > 0) return { names: [], text: `Waiting for ${more} more of ${size} members.` }
    const open = new Set(group.links().flatMap(({ peerId, state }) => (state === 'open' ? [peerId] : [])))
    const { roster } = group
    const rank = roster.findIndex(({ peerId }) => peerId === group.peerId)
    const names = linksOf(roster.length, rank).flatMap((other) => {
      const { peerId, name } = roster[other]!
      return open.has(peerId) ? [] : [name]
    })
    if (names.length === 0) return { names, text: 'All links are open; the members agree on their ranks.' }
    return { names, text: `Waiting for links to ${names.join(', ')}.` }
  }

  #look(): void {
    const group = this.#group
    if (group?.state !== 'ready' || group.epoch === this.#readyEpoch) return
    this.#readyEpoch = group.epoch
    this.#waitText = ''
    this.#tell({ event: 'ready', rank: group.rank, size: group.size, epoch: group.epoch })
  }

  /** While the group is not ready, tells why. */
  #watch(): () => void {
    const { clock } = this.#config
    let cancel = () => {}
    const look = () => {
      const missing = this.missing(1)
      if (missing) this.#waits(missing.names, missing.text)
      cancel = clock.after(waitSeconds, look)
    }
    cancel = clock.after(waitSeconds, look)
    return () => cancel()
  }

  #waits(names: readonly string[], text: string, step?: number): void {
    if (text === this.#waitText) return
    this.#waitText = text
    this.#tell({ event: 'waiting', for: names, text, ...(step !== undefined && { step }) })
  }

  #putOut({ error, cause }: { error?: JoinError; cause?: Parameters<Returns['take']>[0] }): void {
    const group = this.#group
    if (!group || !error) return
    this.#stop()
    const { code, message } = error
    if (!this.#returns.take(cause, this.#config.clock.now())) {
      this.#end(error)
      return
    }
    this.#tell({ event: 'returning', code, message })
    this.enter(group.room).catch((refusal: Error) => this.#end(refusal))
  }

  #stop(): void {
    for (const off of this.#off.splice(0)) off()
    this.#readyEpoch = -1
  }

  #end(error?: Error): void {
    const code = error instanceof JoinError ? error.code : undefined
    this.#tell({ event: 'left', ...(error && { message: error.message }), ...(code && { code }) })
    this.#group = undefined
    this.ended.resolve(error)
  }

  #tell(happening: Happening): void {
    const { peerId, name } = this.#group!
    const { event, ...rest } = happening
    this.#config.onEvent({ event, peerId, name, ...rest } as PeerEvent)
  }
}
