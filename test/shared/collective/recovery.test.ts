import { describe, expect, it } from 'vitest'
import type { Standing } from '../../../shared/collective/control.ts'
import { recoveriesOf } from '../../../shared/collective/recovery.ts'

const member = (peerId: string) => ({ peerId, name: peerId, kind: 'test' })
const [ada, bo, cem, dua] = ['ada', 'bo', 'cem', 'dua'].map(member) as [Member, Member, Member, Member]
type Member = ReturnType<typeof member>

/** Dua is gone; the others tell what they know of op 5, with which all four began. */
const recover = (told: readonly Partial<Standing>[], uncalled: readonly number[] = []) =>
  recoveriesOf({
    selfId: 'bo',
    epoch: 9,
    members: [ada, bo, cem],
    standings: told.map((standing, index) => ({
      peerId: [ada, bo, cem][index]!.peerId,
      isFresh: false,
      agreed: 8,
      ...standing,
    })),
    uncalled,
    membersOf: (op) => (op === 5 ? [ada, bo, cem, dua] : [ada, bo, cem]),
    participantsOf: () => [ada, bo, cem, dua],
  })

describe('an op that lost a member', () => {
  it('is run again by all who began it when nobody has finished it', () => {
    expect(recover([{}, { suspended: [5] }, {}])).toEqual([
      { op: 5, lost: [dua], kind: 'rerun', attempt: { epoch: 9, members: [ada, bo, cem], rank: 1 } },
    ])
  })

  it('is passed on by the first who has finished it to those who have not', () => {
    expect(recover([{ finished: [[5, 8]] }, { suspended: [5] }, { finished: [[5, 8]] }])).toMatchObject([
      {
        op: 5,
        kind: 'adopt',
        finishedIn: 8,
        attempt: { members: [ada, bo], rank: 1 },
        contributors: [ada, bo, cem, dua],
      },
    ])
  })

  it('is recovered for who has yet to call it, although nobody is in the middle of it', () => {
    expect(recover([{ finished: [[5, 8]] }, {}, {}], [5])).toMatchObject([{ op: 5, kind: 'adopt' }])
    expect(recover([{}, {}, {}], [5])).toMatchObject([{ op: 5, kind: 'rerun' }])
    // No member of it is gone.
    expect(recover([{}, {}, {}], [6])).toEqual([])
  })
})
