import { expect, it } from 'vitest'
import type { LabEvent } from '../../../../client/page/session/events.ts'
import { foldState, initialState } from '../../../../client/page/session/labState.ts'
import { describeEvent } from '../../../../client/page/words/describe.ts'
import { progressEvent } from '../session/progressEvent.ts'

const member = (peerId: string) => ({ peerId, name: peerId.toUpperCase(), kind: 'tab' })
const spec = {
  bytes: 1024,
  dtype: 'f32',
  op: 'sum',
  consistency: 'fast',
  data: 'whole',
  repeats: 1,
  warmup: 0,
  variants: [{ algorithm: 'butterfly', r: 'auto' }],
} as const
const start = {
  runId: 'r',
  requestId: 'q',
  by: 'a',
  epoch: 2,
  seed: 1,
  spec: { ...spec, variants: [...spec.variants] },
}
const progress = (step: number) => progressEvent(step, step / 4)

const waiting = (seconds: number): LabEvent => ({
  kind: 'waiting',
  runId: 'r',
  waiting: { op: 1, step: 1, seconds, peers: [{ rank: 1, peerId: 'b', name: 'B' }] },
})

it('tells the story of a room in lines that name people', () => {
  const events: LabEvent[] = [
    { kind: 'joining', room: undefined },
    { kind: 'joined', room: 'k7f-2q9', peerId: 'a', name: 'A' },
    { kind: 'group', state: 'ready', epoch: 1, members: [member('a')] },
    { kind: 'tabs', asked: 6, opened: 1 },
    { kind: 'group', state: 'connecting', epoch: 1, members: [member('a'), member('b')] },
    { kind: 'link', peerId: 'b', state: 'checking', path: 'unknown' },
    { kind: 'link', peerId: 'b', state: 'open', path: 'direct' },
    { kind: 'group', state: 'ready', epoch: 2, members: [member('a'), member('b')] },
    { kind: 'run-started', start },
    progress(0),
    progress(1),
    progress(1),
    waiting(2),
    waiting(2.5),
    { kind: 'run-finished', runId: 'r', error: { code: 'PEER_LOST', message: 'B left.', peers: ['b'] } },
    { kind: 'group', state: 'ready', epoch: 3, members: [member('a')] },
    { kind: 'returning', code: 'ROOM_CLOSED', message: 'You did not answer.' },
  ]
  let state = initialState
  const lines = events.flatMap((event) => {
    const line = describeEvent(event, state)
    state = foldState(state, { at: 0, event })
    return line ? [line.text] : []
  })
  expect(lines).toEqual([
    'Asking for a new room',
    'In room k7f-2q9 as A',
    'A joined',
    'The browser opened 1 of 6 tabs',
    'B joined',
    'Link to B open, direct',
    'Epoch 2: 2 peers ready',
    'A runs sum of 1 KiB f32: butterfly r = auto',
    'Step 1 of 4 done',
    'Waiting for B (rank 1) in step 2',
    'Run ended: B left.',
    'B left',
    'You did not answer. Taking the seat again',
  ])
})
