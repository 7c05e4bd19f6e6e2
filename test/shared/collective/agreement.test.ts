import { expect, it } from 'vitest'
import { VirtualClock } from '../../../shared/base/clock.ts'
import { createAgreement } from '../../../shared/collective/agreement.ts'
import type { Standing } from '../../../shared/collective/control.ts'
import type { Span } from '../../../shared/collective/epochs.ts'
import { createPastCalls } from '../../../shared/collective/pastCalls.ts'

const members = ['ada', 'bo', 'cem'].map((peerId) => ({ peerId, name: peerId, kind: 'test' }))

/** Ada's side of a group of three, with op 0 called and ended on all. */
async function together(unsettled: readonly number[]) {
  const spans: Span[] = []
  const told: Standing[] = []
  const agreement = createAgreement({
    selfId: 'ada',
    clock: new VirtualClock(),
    isLinked: () => true,
    tell(control) {
      if (control.type !== 'sync') return
      const own = control.standings.find(({ peerId }) => peerId === 'ada')
      if (own) told.push(own)
    },
    onTell: () => {},
    finished: () => [[0, 1]],
    suspended: () => [],
    states: () => ({ offers: false, needs: false }),
    unsettledWith: (peerId) => (peerId === 'bo' ? [...unsettled] : []),
    onNumber: () => {},
    onForfeit: () => {},
    onLose: () => {},
    onEnter: (span) => spans.push(span),
  })
  const standing = (peerId: string, epoch: number): Standing => ({
    peerId,
    isFresh: epoch === 1,
    agreed: epoch - 1,
    called: epoch - 1,
    finished: [],
    suspended: [],
  })
  const agreeOn = (epoch: number) => {
    agreement.viewChanged({ epoch, members })
    agreement.heard(epoch, [standing('bo', epoch), standing('cem', epoch)])
  }
  agreeOn(1)
  await agreement.number(1)
  return { agreement, agreeOn, spans, told }
}

it('a member that stays but has lost its link gets what was on it, although this member has ended the op', async () => {
  const { agreement, agreeOn, spans, told } = await together([0])
  agreement.linkClosed('bo', 'closed')
  agreeOn(2)
  expect(told.at(-1)).toMatchObject({ suspended: [0], finished: [[0, 1]] })
  expect(spans.at(-1)).toMatchObject({
    epoch: 2,
    recoveries: [{ op: 0, kind: 'adopt', lost: [], finishedIn: 1, attempt: { members, rank: 0 } }],
  })
})

it('nothing is said of ops that a member has, or whose link was never lost', async () => {
  const settled = await together([])
  settled.agreement.linkClosed('bo', 'closed')
  settled.agreeOn(2)
  expect(settled.spans.at(-1)).toMatchObject({ epoch: 2, recoveries: [] })
  const linked = await together([0])
  linked.agreeOn(2)
  expect(linked.spans.at(-1)).toMatchObject({ epoch: 2, recoveries: [] })
})

it('remembers to whom an ended op has sent', () => {
  const past = createPastCalls()
  const call = {} as Parameters<typeof past.add>[1]['call']
  const attempt = { epoch: 1, members, rank: 0 }
  past.add(3, { attempt, call, signature: 1, sentTo: new Set(['bo']) })
  past.add(4, { attempt, call, signature: 1, sentTo: new Set(['bo', 'cem']) })
  expect([past.sentTo('bo'), past.sentTo('cem'), past.sentTo('ada')]).toEqual([[3, 4], [4], []])
})
