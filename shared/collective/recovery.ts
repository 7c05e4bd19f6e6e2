/**
 * What becomes of an op that lost a member while it ran. Pure: every survivor derives the same from the same standings.
 *
 * Invariant: a member tells its standing only after it has suspended the op, so nobody finishes the op in its old epoch after having
 * said that it has not. If anyone has finished, its result is the answer and the others adopt it; else all survivors run the
 * op again with their own inputs, which no op ever writes to.
 */
import type { PeerName } from '../base/errors.ts'
import type { Member } from '../membership/types.ts'
import type { Standing } from './control.ts'

/** Where an op runs: the members of an epoch that take part in it, and this member's place among them (-1: none). */
export interface Attempt {
  readonly epoch: number
  readonly members: readonly Member[]
  readonly rank: number
}

export function nameOf({ members }: Attempt, rank: number): PeerName {
  const { peerId = '', name = '' } = members[rank] ?? {}
  return { rank, peerId, name }
}

/** Ends an attempt, not the op: a member is gone, and the survivors agree on how the op goes on. */
export class Interruption extends Error {}

export type Recovery = {
  readonly op: number
  /** Members of the op that are gone. */
  readonly lost: readonly Member[]
} & (
  | { readonly kind: 'rerun'; readonly attempt: Attempt }
  /** members[0] of the attempt sends the result to the others. */
  | {
      readonly kind: 'adopt'
      readonly attempt: Attempt
      /** Epoch of the attempt that the result comes from, and whose data is in it. */
      readonly finishedIn: number
      readonly contributors: readonly Member[]
    }
)

export function recoveriesOf(config: {
  selfId: string
  epoch: number
  members: readonly Member[]
  standings: readonly Standing[]
  /** Ops that some member has yet to call. */
  uncalled: readonly number[]
  /** Members that the op began with. */
  membersOf(op: number): readonly Member[]
  /** Members of the op that took part in its attempt of this epoch. */
  participantsOf(op: number, epoch: number): readonly Member[]
}): Recovery[] {
  const present = new Set(config.members.map((member) => member.peerId))
  const lacksMember = (op: number) => config.membersOf(op).some((member) => !present.has(member.peerId))
  const suspended = new Set([
    ...config.standings.flatMap((standing) => standing.suspended ?? []),
    ...config.uncalled.filter(lacksMember),
  ])
  return [...suspended].map((op) => {
    const began = config.membersOf(op)
    const lost = began.filter((member) => !present.has(member.peerId))
    const survivors = began.filter((member) => present.has(member.peerId))
    const attempt = (members: readonly Member[]): Attempt => ({
      epoch: config.epoch,
      members,
      rank: members.findIndex((member) => member.peerId === config.selfId),
    })
    const finishedIn = new Map<string, number>()
    for (const { peerId, finished = [] } of config.standings)
      for (const [finishedOp, epoch] of finished) if (finishedOp === op) finishedIn.set(peerId, epoch)
    const source = survivors.find((member) => finishedIn.has(member.peerId))
    if (!source) return { op, lost, kind: 'rerun', attempt: attempt(survivors) }
    const others = survivors.filter((member) => !finishedIn.has(member.peerId))
    const epoch = finishedIn.get(source.peerId)!
    const contributors = config.participantsOf(op, epoch)
    return { op, lost, kind: 'adopt', attempt: attempt([source, ...others]), finishedIn: epoch, contributors }
  })
}
