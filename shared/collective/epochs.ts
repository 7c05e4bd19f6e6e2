/**
 * How the members agree on where an epoch begins in the sequence of ops. Pure: no links, no time.
 *
 * A new view does not stop the ops that run. Each member tells when its links to the new members are open; when all have said so, each
 * stops numbering new ops for a moment and tells how many it has called; when all have told, the epoch begins at the
 * boundary: the largest of these counts. Ops before the boundary belong to the older epochs and their members, ops from it on to all
 * members of the new one. So everybody derives the same members for every op, and a newcomer enters between two ops.
 * Standings are merged and passed on (gossip), so that not every pair needs a link.
 *
 * A view may be overtaken by the next one when some members have agreed on it and others have not heard all standings yet. So a
 * member that says it is ready for a view also says which epoch it has agreed on last, and agrees on no older one after that; the
 * others make up for the epochs in between, whose standings they have heard before they could hear this.
 */
import type { Member, View } from '../membership/types.ts'
import type { Standing } from './control.ts'
import { type Attempt, type Recovery, recoveriesOf } from './recovery.ts'

/** An agreed epoch: ops from `boundary` on (until the next span's) run among its members. */
export interface Span extends Attempt {
  readonly boundary: number
  /** What becomes of the ops that were suspended. */
  readonly recoveries: readonly Recovery[]
  /** Who passes on the state of the application, and to whom; absent when nobody lacks it or nobody has it (states.ts). */
  readonly state?: { readonly source: Member; readonly needy: readonly Member[] }
}

/** What a member tells about its ops. */
export type Told = Required<Pick<Standing, 'called' | 'finished' | 'suspended'>> &
  Pick<Standing, 'offersState' | 'needsState'>

export interface Epochs {
  /** The newest agreed epoch. */
  readonly current: Span | undefined
  /** The newest view, which may not be agreed on yet. */
  readonly view: View | undefined
  readonly isAgreed: boolean
  /** The current epoch is this member's first. */
  readonly isFirst: boolean
  /** Numbering of new ops is held back: this member has told its count and the agreement is not complete. */
  readonly isFrozen: boolean
  /** A newer view: the agreement starts anew. */
  begin(view: View): void
  /** This member's links to all members of `view` are open. */
  ready(): void
  /** Takes what another member knows; returns whether anything was new. */
  merge(epoch: number, standings: readonly Standing[]): boolean
  /** Epochs that others have agreed on and this member has missed, oldest first: they come before anything else. */
  catchUp(): Span[]
  /** Moves on as far as the standings allow; asks for this member's own when it is time to tell. Returns the new span once it is agreed. */
  settle(tell: () => Told): Span | undefined
  /** What to tell the others, by epoch, oldest first: all that is known. */
  standings(): { epoch: number; standings: Standing[] }[]
  /** The span that op belongs to; undefined when it is not known yet. */
  spanOf(op: number): Span | undefined
  /** Members of the op that are members of that epoch too. */
  participantsOf(op: number, epoch: number): readonly Member[]
}

/** More than any program has under way. */
const maxUncalled = 256

/** Ops before the boundary that some member has yet to call: it must hear what became of those that lack a member by then. */
function uncalledBy(standings: readonly Standing[], boundary: number): number[] {
  const counts = standings.flatMap(({ isFresh, called = 0 }) => (isFresh ? [] : [called]))
  const least = Math.min(boundary, ...counts)
  return Array.from({ length: Math.min(maxUncalled, boundary - least) }, (_, i) => least + i)
}

/** Epochs whose standings are kept and passed on after a newer view has come: members may still have to hear of them. */
const epochsBack = 16

export function createEpochs(selfId: string): Epochs {
  const spans: Span[] = []
  const known = new Map<number, Map<string, Standing>>()
  let view: View | undefined
  /** Views that were overtaken, in which this member has told its count: others may have agreed on them. */
  let overtaken: View[] = []
  let isReady = false

  const current = () => spans[spans.length - 1]
  const isAgreed = () => view !== undefined && current()?.epoch === view.epoch
  const own = (): Standing | undefined => (view ? known.get(view.epoch)?.get(selfId) : undefined)
  const tell = (standing: Standing) => {
    if (!view) return
    const standings = known.get(view.epoch) ?? new Map<string, Standing>()
    known.set(view.epoch, standings)
    standings.set(standing.peerId, standing)
  }
  /** The standings of all members of the view, when each is known and passes the test. */
  const allOf = ({ epoch, members }: View, test: (standing: Standing) => boolean): Standing[] | undefined => {
    const standings = members.map((member) => known.get(epoch)?.get(member.peerId))
    return standings.every((standing) => standing !== undefined && test(standing))
      ? (standings as Standing[])
      : undefined
  }
  const hasTold = (standing: Standing) => standing.called !== undefined
  const agree = ({ epoch, members }: View, standings: readonly Standing[]): Span => {
    const boundary = standings.reduce(
      (most, { isFresh, called = 0 }) => (isFresh ? most : Math.max(most, called)),
      0,
    )
    const membersOf = (op: number) => spanOf(op)?.members ?? []
    const uncalled = uncalledBy(standings, boundary)
    const recoveries = recoveriesOf({
      selfId,
      epoch,
      members,
      standings,
      uncalled,
      membersOf,
      participantsOf,
    })
    const rank = members.findIndex((member) => member.peerId === selfId)
    const needy = members.filter((_, at) => standings[at]!.needsState)
    const source = members.find((_, at) => standings[at]!.offersState && !standings[at]!.needsState)
    const state = source && needy.length > 0 && { source, needy }
    const span: Span = { epoch, boundary, members, rank, recoveries, ...(state && { state }) }
    spans.push(span)
    return span
  }

  /**
   * The epochs that this member has still to agree on before it may tell its count for the newest view, oldest first. Undefined while standings
   * are missing. An epoch counts when somebody says that it is the last one agreed on; those before it follow from its own standings.
   */
  const missed = (): { view: View; standings: Standing[] }[] | undefined => {
    if (!view || !isReady || isAgreed()) return []
    const chain: { view: View; standings: Standing[] }[] = []
    let standings = allOf(view, () => true)
    while (standings) {
      const newest = Math.max(...standings.map((standing) => standing.agreed))
      const earlier = overtaken.find(({ epoch }) => epoch === newest)
      if (!earlier || newest <= (current()?.epoch ?? 0)) return chain
      standings = allOf(earlier, hasTold)
      if (standings) chain.unshift({ view: earlier, standings })
    }
    return undefined
  }

  const spanOf = (op: number): Span | undefined => {
    for (let i = spans.length - 1; i >= 0; i--) if (spans[i]!.boundary <= op) return spans[i]
    return undefined
  }
  const participantsOf = (op: number, epoch: number): readonly Member[] => {
    const present = new Set(
      spans.find((span) => span.epoch === epoch)?.members.map((member) => member.peerId),
    )
    return spanOf(op)?.members.filter((member) => present.has(member.peerId)) ?? []
  }

  return {
    get current() {
      return current()
    },
    get view() {
      return view
    },
    get isAgreed() {
      return isAgreed()
    },
    get isFirst() {
      return spans.length === 1
    },
    get isFrozen() {
      return !isAgreed() && own()?.called !== undefined
    },
    begin(next) {
      if (view && next.epoch <= view.epoch) return
      if (view && !isAgreed() && own()?.called !== undefined) overtaken.push(view)
      view = next
      isReady = false
      for (const epoch of known.keys()) if (epoch < next.epoch - epochsBack) known.delete(epoch)
      overtaken = overtaken.filter(({ epoch }) => epoch >= next.epoch - epochsBack)
    },
    ready() {
      if (!view || isReady || isAgreed()) return
      isReady = true
      tell({ peerId: selfId, isFresh: spans.length === 0, agreed: current()?.epoch ?? 0 })
    },
    merge(epoch, standings) {
      if (view && epoch < view.epoch - epochsBack) return false
      const mine = known.get(epoch) ?? new Map<string, Standing>()
      known.set(epoch, mine)
      let isNew = false
      for (const standing of standings) {
        const before = mine.get(standing.peerId)
        if (
          standing.peerId === selfId ||
          (before && (before.called !== undefined || standing.called === undefined))
        )
          continue
        mine.set(standing.peerId, standing)
        isNew = true
      }
      return isNew
    },
    catchUp() {
      const chain = missed() ?? []
      const caughtUp = chain.map((earlier) => agree(earlier.view, earlier.standings))
      if (chain.length > 0) overtaken = []
      return caughtUp
    },
    settle(told) {
      // Whoever has missed an epoch makes up for it first.
      if (!view || !isReady || isAgreed() || missed()?.length !== 0) return undefined
      const mine = own()!
      if (mine.called === undefined) tell({ ...mine, ...told() })
      const standings = allOf(view, hasTold)
      return standings && agree(view, standings)
    },
    standings() {
      return [...known]
        .sort(([a], [b]) => a - b)
        .map(([epoch, standings]) => ({ epoch, standings: [...standings.values()] }))
    },
    spanOf,
    participantsOf,
  }
}
