/** Who takes part: each member says hello, and again when something about it changes. */
import type { Clock } from '../../shared/base/clock.ts'
import type { Group } from '../../shared/collective/types.ts'
import { meshSize } from '../../shared/schedule/links.ts'
import type { About, RunMessage } from './messages.ts'

export type HelloMessage = Extract<RunMessage, { type: 'hello' }>

export interface PresenceConfig {
  group: Group
  clock: Clock
  /** Browser or runtime with its version, for people. */
  agent: string
  tellAll(message: HelloMessage): void
  tell(message: HelloMessage, to: string): void
}

const describeSeconds = 0.2

export class Presence {
  readonly #config: PresenceConfig
  /** Everybody who was ever here, by the last rank. */
  readonly #names = new Map<string, string>()
  readonly #off: () => void
  #isHidden = false
  #hasGreeted = false
  #cancel: (() => void) | undefined

  constructor(config: PresenceConfig) {
    this.#config = config
    this.#off = config.group.on('link', () => this.#describeSoon())
  }

  /** A new epoch: everybody says who they are, newcomers get to know all. */
  greet(): void {
    for (const [rank, { peerId, name }] of this.#config.group.members.entries())
      this.#names.set(peerId, `${name} (rank ${rank})`)
    this.#hasGreeted = true
    // In a large group all greet at each change, and an answer of each to each would be too much.
    this.#config.tellAll({ type: 'hello', about: this.#about, answer: this.#config.group.size <= meshSize })
  }

  receive(from: string, { answer }: HelloMessage): void {
    const { group, tell } = this.#config
    if (answer && from !== group.peerId) tell({ type: 'hello', about: this.#about, answer: false }, from)
  }

  /** The tab went out of sight or came back. */
  hide(isHidden: boolean): void {
    this.#isHidden = isHidden
    this.#describeSoon()
  }

  /** Also of members that have left. */
  nameOf(peerId: string): string {
    return this.#names.get(peerId) ?? 'a peer'
  }

  close(): void {
    this.#off()
    this.#cancel?.()
  }

  get #about(): About {
    const { agent, group } = this.#config
    const open = group.links().filter((link) => link.state === 'open')
    const paths = Object.fromEntries(open.map((link) => [link.peerId, link.path]))
    return { agent, hidden: this.#isHidden, paths }
  }

  /** Links change in bursts: one message for all of them. */
  #describeSoon(): void {
    if (this.#cancel || !this.#hasGreeted) return
    this.#cancel = this.#config.clock.after(describeSeconds, () => {
      this.#cancel = undefined
      if (this.#config.group.state === 'ready')
        this.#config.tellAll({ type: 'hello', about: this.#about, answer: false })
    })
  }
}
