/**
 * Numbers for ops and the epochs that they belong to, on this member: gives each call its number, holds calls back while an epoch is being
 * agreed on or a member is gone, and hands suspended ops their recovery.
 */
import type { Clock } from '../base/clock.ts'
import { createDeferred, type Deferred } from '../base/deferred.ts'
import { AbortedError, EpochError, PapilioError, type PeerName, TimeoutError } from '../base/errors.ts'
import type { Member, View } from '../membership/types.ts'
import { meshSize } from '../schedule/links.ts'
import type { Control, Standing } from './control.ts'
import { createEpochs, type Epochs, type Span } from './epochs.ts'
import type { Attempt, Recovery } from './recovery.ts'

export interface AgreementConfig {
  readonly selfId: string
  readonly clock: Clock
  isLinked(peerId: string): boolean
  tell(control: Control, peerId?: string): void
  /** This member tells how far its ops are: from now until the new epoch none of them may get any further. */
  onTell(): void
  /** What this member's standing says of its ops. */
  finished(): [op: number, epoch: number][]
  suspended(): number[]
  states(): { readonly offers: boolean; readonly needs: boolean }
  /** Ops that have ended here; the peer has not said that it has all that was sent to it. */
  unsettledWith(peerId: string): number[]
  /** An op has its number. */
  onNumber(numbered: Numbered): void
  /** The caller of a numbered op has given up. */
  onForfeit(op: number, error: Error): void
  /** A member of the current epoch is gone: its ops must stop now. */
  onLose(member: Member, reason: string): void
  onEnter(span: Span): void
}

export interface Numbered {
  readonly op: number
  readonly attempt: Attempt
  /** The others had to recover the op before this member called it. */
  readonly recovery: Recovery | undefined
}

export interface Agreement {
  readonly epochs: Epochs
  /** No call has a smaller number to come. */
  readonly nextOp: number
  /** Calls that wait for their number or for a recovery, and recoveries that wait for their call. */
  readonly waiting: number
  /** A member of the current epoch that is lost. */
  isGone(peerId: string): boolean
  viewChanged(view: View): void
  linkOpened(peerId: string): void
  linkClosed(peerId: string, reason: string): void
  heard(epoch: number, standings: readonly Standing[]): void
  /** The number of a new op and where it runs: at once, or when the members have agreed. EpochError when it is not `epoch`. */
  number(timeoutSeconds: number, signal?: AbortSignal, epoch?: number): Promise<Numbered>
  /** Takes the boundary of the new epoch for an op that every member starts by itself. */
  reserve(op: number): void
  /** How an op that was suspended in `epoch` goes on, once the members have agreed on it. */
  recovery(op: number, epoch: number, timeoutSeconds: number): Promise<Recovery>
  end(): void
}

const epochError = (wanted: number, { epoch, members }: Attempt) =>
  new EpochError(wanted, {
    epoch,
    members: members.map(({ peerId, name }, rank) => ({ rank, peerId, name })),
  })

/** More than any program has under way. */
const maxOwed = 256
/** Views that may be overtaken one after the other before they are agreed on. */
const maxViewsBack = 64
/** In large groups standings come in crowds: those of such a while are passed on together. */
const gossipSeconds = 0.005

export function createAgreement(config: AgreementConfig): Agreement {
  const { clock, selfId } = config
  const epochs = createEpochs(selfId)
  /** Members of the current epoch that are gone, with the reason. */
  const gone = new Map<string, string>()
  const waiting: (() => void)[] = []
  const recoveries = new Map<number, Recovery>()
  const awaited = new Map<number, Deferred<Recovery>>()
  /** Numbers of measurements at boundaries that this member's own calls have not reached yet. */
  const reserved = new Set<number>()
  /** One more than the highest number of an op of this member. */
  let called = 0
  let nextOp = 0
  /** The standings that the neighbours have been told, by epoch. */
  const told = new Map<number, Set<Standing>>()
  let isTelling = false
  let hasEnded = false

  const isHeld = () => {
    const { current } = epochs
    return !current || epochs.isFrozen || current.members.some((member) => gone.has(member.peerId))
  }
  const release = () => {
    while (!isHeld() && waiting.length > 0) waiting.shift()!()
  }
  const lose = (peerId: string, reason: string) => {
    const member = epochs.current?.members.find((candidate) => candidate.peerId === peerId)
    if (!member || gone.has(peerId)) return
    gone.set(peerId, reason)
    config.onLose(member, reason)
  }

  /**
   * Ops that this member has yet to call and that lack a member of theirs: whoever had called them may be gone too, and then nobody
   * else would say that they must go on without it.
   */
  const owed = ({ members }: View): number[] => {
    const present = new Set(members.map((member) => member.peerId))
    const lacksMember = (op: number) => {
      if (reserved.has(op)) return false
      const attempt = recoveries.get(op)?.attempt ?? epochs.spanOf(op)
      return attempt?.members.some((member) => !present.has(member.peerId)) ?? false
    }
    return Array.from(
      { length: Math.min(maxOwed, Math.max(0, called - nextOp)) },
      (_, i) => nextOp + i,
    ).filter(lacksMember)
  }

  /** What has come since the last time; a neighbour whose link has just opened gets all. */
  const tellNews = () => {
    for (const { epoch, standings } of epochs.standings()) {
      const before = told.get(epoch) ?? new Set()
      told.set(epoch, before)
      const news = standings.filter((standing) => !before.has(standing))
      for (const standing of news) before.add(standing)
      if (news.length > 0) config.tell({ type: 'sync', epoch, standings: news })
    }
  }

  /** Moves the agreement on the newest view as far as it goes. */
  const update = () => {
    const { view } = epochs
    if (!view || hasEnded) return
    if (view.members.every(({ peerId }) => peerId === selfId || config.isLinked(peerId))) epochs.ready()
    for (const missed of epochs.catchUp()) enter(missed)
    const span = epochs.settle(() => {
      config.onTell()
      // Who stays but lost its link may lack what was on it, and not know that: its own link may have been another one.
      const cutOff = view.members.flatMap(({ peerId }) =>
        gone.has(peerId) ? config.unsettledWith(peerId) : [],
      )
      const suspended = [...new Set([...config.suspended(), ...owed(view), ...cutOff])].slice(0, maxOwed)
      const { offers, needs } = config.states()
      return {
        called,
        finished: config.finished(),
        suspended,
        ...(offers && { offersState: true }),
        ...(needs && { needsState: true }),
      }
    })
    if (view.members.length <= meshSize) tellNews()
    else if (!isTelling) {
      isTelling = true
      clock.after(gossipSeconds, () => {
        isTelling = false
        if (!hasEnded) tellNews()
      })
    }
    for (const epoch of told.keys()) if (epoch < view.epoch - maxViewsBack) told.delete(epoch)
    if (span) enter(span)
  }
  const enter = (span: Span) => {
    for (const peerId of [...gone.keys()]) {
      const isMember = span.members.some((member) => member.peerId === peerId)
      if (!isMember || config.isLinked(peerId)) gone.delete(peerId)
    }
    if (epochs.isFirst) nextOp = span.boundary
    called = Math.max(called, span.boundary)
    // Of ops that this member has yet to call, it still has to know how the others went on with them.
    for (const op of recoveries.keys()) if (op < nextOp) recoveries.delete(op)
    config.onEnter(span)
    const suspended = config.suspended()
    for (const recovery of span.recoveries) {
      const { op } = recovery
      const waiter = awaited.get(op)
      waiter?.resolve(recovery)
      awaited.delete(op)
      const isToCome = op >= nextOp && !reserved.has(op)
      if (isToCome || (!waiter && suspended.includes(op))) recoveries.set(op, recovery)
    }
    release()
  }

  const missing = (): PeerName[] =>
    (epochs.view?.members ?? []).flatMap((member, rank) =>
      member.peerId === selfId || (config.isLinked(member.peerId) && !gone.has(member.peerId))
        ? []
        : [{ ...member, rank }],
    )
  const notTogether = (op: number, seconds: number) => {
    const peers = missing()
    const names = peers.map((peer) => peer.name).join(', ') || 'the other members'
    const message = `The group was not complete within ${seconds} s: no link to ${names}.`
    return new TimeoutError(message, { op, step: 0, waitingFor: peers })
  }
  const assertMember = () => {
    if (hasEnded) throw new PapilioError('LEFT', 'This peer has left the group. Join again to run more ops.')
  }
  /** An op that goes on may be interrupted again, but only with another recovery. */
  const takeRecovery = (op: number) => {
    const recovery = recoveries.get(op)
    recoveries.delete(op)
    return recovery
  }
  /** The next number, with the op known to the engine before anything else can happen. */
  const take = (epoch?: number): Numbered => {
    assertMember()
    while (reserved.delete(nextOp)) nextOp++
    // All members derive the same epoch for a number, so all refuse it or none does.
    const attempt = epochs.spanOf(nextOp)!
    if (epoch !== undefined && epoch !== attempt.epoch) throw epochError(epoch, attempt)
    const op = nextOp++
    called = Math.max(called, op + 1)
    const numbered = { op, attempt, recovery: takeRecovery(op) }
    config.onNumber(numbered)
    return numbered
  }
  /**
   * A call that is given up while it waits takes its number all the same when its turn comes, and ends the op on all ranks: without
   * it, this member's later calls would meet other calls of the others.
   */
  const waitForTurn = async (
    timeoutSeconds: number,
    signal?: AbortSignal,
    epoch?: number,
  ): Promise<Numbered> => {
    const turn = createDeferred<Numbered>()
    let givenUp: Error | undefined
    const giveUp = (error: Error) => {
      givenUp ??= error
      turn.reject(error)
    }
    waiting.push(() => {
      try {
        const numbered = take(epoch)
        if (givenUp) config.onForfeit(numbered.op, givenUp)
        else turn.resolve(numbered)
      } catch (error) {
        turn.reject(error)
      }
    })
    const cancel = clock.after(timeoutSeconds, () => giveUp(notTogether(nextOp, timeoutSeconds)))
    const onAbort = () =>
      giveUp(new AbortedError('The op was stopped by its caller before it began.', { cause: signal?.reason }))
    if (signal?.aborted) onAbort()
    signal?.addEventListener('abort', onAbort)
    try {
      return await turn.promise
    } finally {
      cancel()
      signal?.removeEventListener('abort', onAbort)
    }
  }

  return {
    epochs,
    get nextOp() {
      return nextOp
    },
    get waiting() {
      return waiting.length + awaited.size + recoveries.size
    },
    isGone: (peerId) => gone.has(peerId),
    viewChanged(view) {
      epochs.begin(view)
      const present = new Set(view.members.map((member) => member.peerId))
      for (const { peerId } of epochs.current?.members ?? [])
        if (!present.has(peerId)) lose(peerId, 'it left the room.')
      update()
    },
    linkOpened(peerId) {
      for (const known of epochs.standings()) config.tell({ type: 'sync', ...known }, peerId)
      update()
    },
    linkClosed(peerId, reason) {
      lose(peerId, reason)
      update()
    },
    heard(epoch, standings) {
      if (epochs.merge(epoch, standings)) update()
    },
    async number(timeoutSeconds, signal, epoch) {
      assertMember()
      return isHeld() || waiting.length > 0 ? waitForTurn(timeoutSeconds, signal, epoch) : take(epoch)
    },
    reserve(op) {
      reserved.add(op)
      called = Math.max(called, op + 1)
    },
    async recovery(op, epoch, timeoutSeconds) {
      const known = takeRecovery(op)
      if (known && known.attempt.epoch > epoch) return known
      const answer = awaited.get(op) ?? createDeferred<Recovery>()
      awaited.set(op, answer)
      const cancel = clock.after(timeoutSeconds, () => answer.reject(notTogether(op, timeoutSeconds)))
      try {
        return await answer.promise
      } finally {
        cancel()
        awaited.delete(op)
      }
    },
    end() {
      hasEnded = true
      for (const waiter of waiting.splice(0)) waiter()
      const error = new PapilioError('LEFT', 'This peer left the group while the op ran.')
      for (const answer of awaited.values()) answer.reject(error)
    },
  }
}
