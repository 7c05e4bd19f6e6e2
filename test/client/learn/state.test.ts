import { expect, it } from 'vitest'
import type { LearnEvent } from '../../../client/learn/events.ts'
import { createLesson } from '../../../client/learn/lesson.ts'
import { foldLearning, initialLearnState, outcomeOf } from '../../../client/learn/state.ts'
import type { RoundReport } from '../../../shared/federated/roundTypes.ts'

const members = (...names: string[]) => names.map((name) => ({ peerId: name[0]!, name, kind: 'memory' }))
const fold = (events: readonly LearnEvent[]) => events.reduce(foldLearning, initialLearnState)
const report = (round: number, alone: number): RoundReport => ({
  round,
  rounds: 3,
  epoch: 1,
  peers: [],
  metrics: { alone },
  norm: 1,
  hash: `h${round}`,
  bytesSent: 8,
  bytesReceived: 8,
  seconds: { train: 1, wait: 0, exchange: 0 },
})
const start = (places: readonly string[], now = members('Ada', 'Bo', 'Cem')): LearnEvent => ({
  kind: 'started',
  runId: 'r',
  by: 'A',
  lesson: createLesson({ peers: 2 }),
  places,
  members: now,
})
const group = (now: ReturnType<typeof members>): LearnEvent => ({
  kind: 'group',
  state: 'ready',
  epoch: 2,
  members: now,
})
const begin = [group(members('Ada', 'Bo')), start(['A', 'B'], members('Ada', 'Bo'))]

it('knows who left after which round, and who came in whose place', () => {
  const { run } = fold([
    ...begin,
    { kind: 'round', report: report(1, 0.2), bytesTo: { B: 5 } },
    group(members('Ada')),
    { kind: 'round', report: report(2, 0.2), bytesTo: {} },
    group(members('Ada', 'Cem')),
    start(['A', 'C']),
  ])
  expect(run!.pupils).toEqual([
    { peerId: 'A', name: 'Ada', place: 0, since: 0 },
    { peerId: 'B', name: 'Bo', place: 1, since: 0, leftAfter: 1 },
    { peerId: 'C', name: 'Cem', place: 1, since: 2 },
  ])
})

it('adds up bytes by peer, and takes the outcome of the last round that was evaluated', () => {
  const { run } = fold([
    ...begin,
    { kind: 'round', report: report(1, 0.2), bytesTo: { B: 5 } },
    { kind: 'evaluated', round: 1, evaluation: { loss: 1, accuracy: 0.5 } },
    { kind: 'round', report: report(2, 0.3), bytesTo: { B: 6 } },
    { kind: 'evaluated', round: 2, evaluation: { loss: 1, accuracy: 0.75 } },
    { kind: 'ended', ending: 'complete' },
  ])
  expect([...run!.bytesTo]).toEqual([['B', 11]])
  expect(outcomeOf(run!)).toEqual({ averaged: 0.75, alone: 0.3, hash: 'h2' })
  expect(run!.ending).toBe('complete')
})

it('takes answers to the last question only, and forgets them when a lesson begins', () => {
  const opinion = { together: [1], alone: [1] }
  const asked = fold([
    { kind: 'question', questionId: 'q1', sample: [0] },
    { kind: 'question', questionId: 'q2', sample: [1] },
    { kind: 'answer', questionId: 'q1', peerId: 'B', opinion },
    { kind: 'answer', questionId: 'q2', peerId: 'A', opinion },
  ])
  expect([...asked.question!.opinions.keys()]).toEqual(['A'])
  expect(begin.reduce(foldLearning, asked).question).toBeUndefined()
})
