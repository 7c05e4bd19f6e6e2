import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createEventLog } from '../../../../client/page/session/eventLog.ts'
import {
  logAsJsonLines,
  runAsJson,
  runAsTrace,
  runsAsCsv,
} from '../../../../client/page/session/exportRun.ts'
import { stepEnds, tracesOf } from '../../../../client/page/session/playback.ts'
import { measurementsFor, outcomesOf, settingOf } from '../../../../client/page/session/results.ts'
import { beginRun, foldRun, loseMembers, type RunState } from '../../../../client/page/session/runState.ts'
import type { RankResult } from '../../../../client/session/messages.ts'
import { outcomeOf, quantile, survivorsOf, takenOver } from '../../../../client/session/outcome.ts'
import type { RunSpec } from '../../../../client/session/runSpec.ts'
import { VirtualClock } from '../../../../shared/base/clock.ts'
import { progressEvent } from './progressEvent.ts'

const members = ['a', 'b', 'c'].map((peerId) => ({ peerId, name: peerId, kind: 'tab' }))
const spec: RunSpec = {
  bytes: 4096,
  dtype: 'f32',
  op: 'sum',
  consistency: 'fast',
  data: 'real',
  repeats: 2,
  warmup: 1,
  variants: [{ algorithm: 'butterfly', r: 1 }, { algorithm: 'ring' }],
}
const result = (rank: number, changes: Partial<RankResult> = {}): RankResult => ({
  variant: 0,
  rank,
  algorithm: 'butterfly',
  settings: { r: 1, group: 'cyclic' },
  steps: 3,
  bytesSent: 5000 + rank,
  bytesReceived: 5000,
  contributors: ['a', 'b', 'c'],
  seconds: [0.01 + rank / 100, 0.02],
  predictedSeconds: 0.015,
  identicalByDesign: false,
  why: 'Because.',
  wrong: 0,
  exact: false,
  largestError: 0.25 * rank,
  hash: '0123456789abcdef',
  ...changes,
})

function runWith(results: readonly RankResult[], runId = 'run1'): RunState {
  const start = { runId, requestId: 'q', by: 'a', epoch: 3, seed: 7, spec }
  const begun = beginRun(start, members, 1)
  const ended = results.reduce(
    (run, each) => foldRun(run, { kind: 'result', runId, peerId: members[each.rank]!.peerId, result: each }),
    begun,
  )
  return foldRun(ended, { kind: 'run-finished', runId })
}

describe('a run that lost a member', () => {
  const begun = beginRun({ runId: 'r', requestId: 'q', by: 'a', epoch: 3, seed: 7, spec }, members, 1)
  const lost = loseMembers(begun, (peerId) => peerId !== 'b')
  const tell = (run: RunState, each: RankResult) =>
    foldRun(run, { kind: 'result', runId: 'r', peerId: members[each.rank]!.peerId, result: each })

  it('asks those who are left, and counts whose vectors are missing', () => {
    const contributors = ['a', 'c']
    const run = tell(tell(lost, result(0, { contributors })), result(2, { contributors }))
    expect(outcomeOf(run, 0)).toMatchObject({ told: 2, askedFor: 2, size: 2, lost: 1, missing: 1 })
    expect(outcomeOf(run, 0)?.identical).toBe(true)
    expect(survivorsOf(run).map(({ peerId }) => peerId)).toEqual(contributors)
  })

  it('shows the schedule of who has run it, not of who took the result over', () => {
    const adopted = result(2, { algorithm: takenOver, settings: {}, steps: 1, predictedSeconds: 0 })
    const run = tell(tell(lost, adopted), result(0))
    expect(outcomeOf(run, 0)).toMatchObject({ algorithm: 'butterfly', steps: 3, size: 3, askedFor: 2 })
    expect(outcomeOf(run, 0)).toMatchObject({ told: 2, missing: 0, lost: 1, identical: true })
    const finished = foldRun(run, { kind: 'run-finished', runId: 'r' })
    expect(measurementsFor([finished], settingOf(finished)).size).toBe(0)
  })

  it('forgets how far the old group was, but never goes back', () => {
    const half = loseMembers(foldRun(begun, progressEvent(2, 0.5)), (peerId) => peerId !== 'b')
    expect(half).toMatchObject({ attempt: 2, fraction: 0.5 })
    expect(half.progress).toBeUndefined()
    expect(foldRun(half, progressEvent(0, 0.5)).fraction).toBe(0.75)
    // A link broke, and the same members begin again.
    const anew = foldRun(foldRun(half, progressEvent(1, 0.5)), progressEvent(0, 0.1))
    expect(anew.attempt).toBe(3)
    expect(anew.fraction).toBeCloseTo(0.775)
    expect(loseMembers(half, (peerId) => peerId !== 'b')).toBe(half)
  })
})

describe('outcomeOf', () => {
  it('is the mean over the ranks for each repeat, and the worst of what they found', () => {
    const outcome = outcomeOf(runWith([result(0), result(1), result(2, { wrong: 3 })]), 0)
    expect(outcome).toMatchObject({
      told: 3,
      size: 3,
      correct: 2,
      wrong: 3,
      identical: true,
      largestError: 0.5,
      bytesSent: 5002,
    })
    expect(outcome?.times.seconds).toEqual([expect.closeTo(0.02), expect.closeTo(0.02)])
  })

  it('does not claim equal bits before all have told', () => {
    expect(outcomeOf(runWith([result(0), result(1)]), 0)?.identical).toBeUndefined()
    expect(
      outcomeOf(runWith([result(0), result(1), result(2, { hash: '1123456789abcdef' })]), 0)?.identical,
    ).toBe(false)
    expect(outcomeOf(runWith([]), 0)).toBeUndefined()
  })
})

describe('measurementsFor', () => {
  const runs = [
    runWith([result(0), result(1), result(2)], 'x'),
    runWith([result(0), result(1), result(2)], 'y'),
  ]

  it('pools what was measured with the same peers, size, type and operator', () => {
    const pooled = measurementsFor(runs, settingOf(runs[0]!))
    expect([...pooled.keys()]).toEqual(['butterfly group=cyclic r=1'])
    expect([...pooled.values()][0]?.seconds).toHaveLength(4)
  })

  it.each([{ bytes: 8 }, { op: 'max' }, { dtype: 'f64' }, { members: 'a b' }])(
    'and nothing else: %o',
    (other) => {
      expect(measurementsFor(runs, { ...settingOf(runs[0]!), ...other }).size).toBe(0)
    },
  )
})

it('quantiles lie between the extremes and are exact for ranks', () => {
  expect(quantile([3, 1, 2], 0.5)).toBe(2)
  expect(quantile([1, 2], 0.5)).toBe(1.5)
  expect(quantile([], 0.5)).toBeNaN()
  fc.assert(
    fc.property(
      fc.array(fc.double({ noNaN: true, min: 0, max: 1 }), { minLength: 1 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (values, q) => {
        expect(quantile(values, q)).toBeGreaterThanOrEqual(Math.min(...values))
        expect(quantile(values, q)).toBeLessThanOrEqual(Math.max(...values))
      },
    ),
  )
})

describe('traces', () => {
  const trace: RankResult['trace'] = [
    [0, 0, 1, 100, 0, 0.001],
    [1, 1, 2, 100, 0.002, 0.004],
  ]
  const run = runWith([result(0, { trace }), result(1)])

  it('come back by rank, with nothing for ranks that told none', () => {
    const traces = tracesOf(run, 0)
    expect(traces.map((each) => each?.length)).toEqual([2, undefined, undefined])
    expect(traces[0]?.[0]).toEqual({ step: 0, direction: 'send', peer: 1, bytes: 100, begin: 0, end: 0.001 })
  })

  it('end steps in order, also those that nobody has traced', () => {
    expect(stepEnds(tracesOf(run, 0), 3)).toEqual([0, 0.001, 0.004, 0.004])
  })
})

describe('files', () => {
  const run = runWith([result(0), result(1), result(2, { firstWrong: { index: 1, got: null, want: 2 } })])

  it('JSON has the run, its members, and what each rank found', () => {
    const file = JSON.parse(runAsJson(run, { version: '1.2.3', exportedAt: '2026-11-30T00:00:00Z' }))
    expect(file).toMatchObject({
      schema: 'papilio-lab-1',
      version: '1.2.3',
      run: { runId: 'run1', seed: 7, phase: 'done' },
      members: [{ rank: 0, peerId: 'a' }, {}, {}],
      outcomes: [{ algorithm: 'butterfly', wrong: 0 }],
    })
    expect(file.results[0].ranks).toHaveLength(3)
  })

  it('CSV has one row for each outcome, as many fields as columns, and escapes', () => {
    const odd = runWith([result(0, { algorithm: 'a,"b"' })], 'odd')
    const lines = runsAsCsv([run, odd]).trimEnd().split('\r\n')
    expect(lines).toHaveLength(1 + outcomesOf(run).length + 1)
    expect(lines[1]!.split(',')).toHaveLength(lines[0]!.split(',').length)
    expect(lines[1]).toMatch(/^run1,3,4096,f32,sum,butterfly,r=1 group=cyclic,3,5002,2,0.015,/)
    expect(lines[2]).toContain('"a,""b"""')
  })

  it('the trace has a process for each rank, and is not there when no rank told its messages', () => {
    expect(runAsTrace(run, 0, '1.2.3')).toBeUndefined()
    expect(runAsTrace(runWith([]), 0, '1.2.3')).toBeUndefined()
    const traced = runWith([result(0, { trace: [[0, 0, 1, 100, 0, 0.001]] }), result(1), result(2)])
    const file = JSON.parse(runAsTrace(traced, 0, '1.2.3')!)
    const processes = file.traceEvents.filter(({ name }: { name: string }) => name === 'process_name')
    expect(processes).toHaveLength(3)
    expect(file.otherData).toMatchObject({ algorithm: 'butterfly', run: 'run1', epoch: 3, version: '1.2.3' })
  })

  it('the log is one JSON value a line', () => {
    const log = createEventLog(new VirtualClock())
    log.append({ kind: 'joining', room: 'x' })
    log.append({ kind: 'dismissed' })
    const lines = logAsJsonLines(log)
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines).toMatchObject([{ schema: 'papilio-lab-1' }, { at: 0, event: { kind: 'joining' } }, {}])
  })
})

describe('the event log', () => {
  it('keeps every step, thins out progress between steps, and forgets the oldest', () => {
    const log = createEventLog(new VirtualClock())
    const progress = (step: number, fraction: number) => log.append(progressEvent(step, fraction))
    for (let i = 0; i < 100; i++) progress(0, i / 400)
    for (let step = 1; step <= 4; step++) progress(step, step / 4)
    expect(log.entries).toHaveLength(1 + 4)
    for (let i = 0; i < 6000; i++) log.append({ kind: 'dismissed' })
    expect(log.entries.length).toBeLessThanOrEqual(5000)
    expect(log.dropped + log.entries.length).toBe(5 + 6000)
  })
})
