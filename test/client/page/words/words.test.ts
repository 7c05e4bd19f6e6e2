import { describe, expect, it } from 'vitest'
import { initialState, type LabState } from '../../../../client/page/session/labState.ts'
import { glossary } from '../../../../client/page/words/glossary.ts'
import { problemCodes, problemOf } from '../../../../client/page/words/problems.ts'
import { statusOf } from '../../../../client/page/words/status.ts'

const member = (peerId: string) => ({ peerId, name: peerId.toUpperCase(), kind: 'tab' })
const about = { agent: 'Test 1', hidden: false, paths: {} }
const linked = (peerId: string) => ({ peerId, state: 'open', path: 'direct' }) as const

/** Three peers, all well. */
const ready: LabState = {
  ...initialState,
  place: 'joined',
  room: 'k7f-2q9',
  self: { peerId: 'a', name: 'A' },
  groupState: 'ready',
  epoch: 3,
  measuredEpoch: 3,
  members: ['a', 'b', 'c'].map(member),
  links: new Map(['b', 'c'].map((id) => [id, linked(id)])),
  about: new Map(['a', 'b', 'c'].map((id) => [id, about])),
}

describe('statusOf', () => {
  it.each([
    ['joining', { ...initialState, place: 'joining' }, 'connecting', /Asking the server/],
    ['alone', { ...ready, members: [member('a')] }, 'empty', /You are the first/],
    ['ready', ready, 'ready', /3 peers/],
    ['waiting', { ...ready, expected: 7 }, 'waiting', /3 of 7 here, waiting for 4 more/],
    [
      'linking',
      { ...ready, groupState: 'connecting', links: new Map([['b', linked('b')]]) },
      'connecting',
      /1 of 2 links open, waiting for C/,
    ],
    ['measuring', { ...ready, measuredEpoch: 2 }, 'connecting', /Measuring/],
    ['silent', { ...ready, about: new Map([['a', about]]) }, 'connecting', /B and C/],
    [
      'hidden',
      { ...ready, about: new Map(ready.about).set('b', { ...about, hidden: true }) },
      'ready',
      /3 peers/,
    ],
    [
      'relayed',
      { ...ready, links: new Map(ready.links).set('c', { ...linked('c'), path: 'relayed' }) },
      'degraded',
      /C \(rank 2\) can only be reached through a relay/,
    ],
    ['server gone', { ...ready, isServerThere: false }, 'reconnecting', /3 peers here can still run/],
    [
      'failed',
      { ...ready, notice: { code: 'PEER_LOST', message: '', tone: 'failure' } },
      'failed',
      /A peer left/,
    ],
    [
      'astray',
      { ...initialState, place: 'refused', refusal: { code: 'NOT_FOUND', message: 'Nothing at /x.' } },
      'not-found',
      /This page is in no room/,
    ],
    [
      'unknown',
      { ...initialState, place: 'refused', refusal: { code: 'ROOM_UNKNOWN', message: 'No room x.' } },
      'room-unknown',
      /This page is in no room/,
    ],
  ] as [string, LabState, string, RegExp][])('%s', (_, state, appState, sentence) => {
    const status = statusOf(state, 0)
    expect(status.state).toBe(appState)
    expect(status.sentence).toMatch(sentence)
    expect(status.word).not.toBe('')
  })

  it('explains a long wait and then offers a remedy', () => {
    const stuck: LabState = { ...ready, groupState: 'connecting', links: new Map() }
    expect(statusOf(stuck, 4).sentence).toMatch(/choose Allow/)
    expect(statusOf(stuck, 20).sentence).toMatch(/same network/)
  })
})

describe('words', () => {
  it('glossary entries have at most 30 words', () => {
    for (const [key, text] of Object.entries(glossary))
      expect(text.split(/\s+/).length, key).toBeLessThanOrEqual(30)
  })

  it('problems are facts without exclamation marks, and unknown codes still help', () => {
    for (const code of problemCodes) expect(problemOf(code).title).not.toMatch(/[!.]$|went wrong/)
    expect(problemOf('SOMETHING_NEW').remedies.length).toBeGreaterThan(0)
  })
})
