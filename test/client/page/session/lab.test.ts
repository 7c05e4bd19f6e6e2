import { describe, expect, it } from 'vitest'
import { appStateOf, peerStateOf, whyNoRun } from '../../../../client/page/session/appState.ts'
import { choiceOfRun } from '../../../../client/page/session/choices.ts'
import type { LabEvent } from '../../../../client/page/session/events.ts'
import { Lab, type ServerState } from '../../../../client/page/session/lab.ts'
import { foldLog, foldState, initialState } from '../../../../client/page/session/labState.ts'
import { measurementsFor, outcomesOf, settingOf } from '../../../../client/page/session/results.ts'
import { percentOf } from '../../../../client/page/ui/ProgressLine.tsx'
import { statusOf } from '../../../../client/page/words/status.ts'
import { contributorsOf } from '../../../../client/session/outcome.ts'
import type { RunSpec } from '../../../../client/session/runSpec.ts'
import { realClock } from '../../../../shared/base/clock.ts'
import { JoinError } from '../../../../shared/base/errors.ts'
import { createPrng } from '../../../../shared/base/prng.ts'
import { createMemoryRoom } from '../../../../shared/collective/memoryGroup.ts'
import { guessModel } from '../../../../shared/cost/fit.ts'
import type { RemovalCause } from '../../../../shared/membership/types.ts'
import { createMemoryLab } from '../harness/memoryLab.ts'

const spec: RunSpec = {
  bytes: 4000,
  dtype: 'f32',
  op: 'sum',
  consistency: 'fast',
  data: 'whole',
  repeats: 2,
  warmup: 1,
  variants: [{ algorithm: 'ring' }, { algorithm: 'recursive-doubling' }, { algorithm: 'auto' }],
}

function until(lab: Lab, isTrue: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const check = () => {
      if (!isTrue()) return
      off()
      resolve()
    }
    const off = lab.log.subscribe(check)
    check()
  })
}

/** A lab whose places the server can take away: that of the page, or of one of its peers. */
function createLosableLab() {
  const room = createMemoryRoom({})
  let joins = 0
  const tell = new Map<string, (state: ServerState) => void>()
  const lab = new Lab({
    async join() {
      joins++
      const group = room.join('Ada')
      const onServer = (listener: (state: ServerState) => void) => {
        tell.set(group.peerId, listener)
        return () => {}
      }
      return { group, room: 'k7f-2q9', name: 'Ada', onServer }
    },
    clock: realClock,
    prng: createPrng(1),
    agent: 'Test 1',
    breathe: () => undefined,
  })
  const lose = async (cause: RemovalCause, peerId = lab.state.self?.peerId ?? '') => {
    tell.get(peerId)?.({ name: 'gone', error: new JoinError('ROOM_CLOSED', 'You did not answer.'), cause })
    room.network.kill(peerId)
    await new Promise((resolve) => setTimeout(resolve))
  }
  return { lab, lose, joins: () => joins }
}

/** What the progress bar has shown. */
function percentsOf(lab: Lab): number[] {
  let state = initialState
  return lab.log.entries.flatMap((entry) => {
    state = foldState(state, entry)
    return entry.event.kind === 'progress' ? [percentOf(state.run!)] : []
  })
}

const kinds = (lab: Lab) => lab.log.entries.map(({ event }) => event.kind)

describe('Lab on real groups in memory', () => {
  it('goes from empty to seven ready peers, runs, verifies, and its state is the fold of its log', async () => {
    const { lab } = createMemoryLab()
    expect(appStateOf(lab.state)).toBe('connecting')
    await lab.enter(undefined)
    await until(lab, () => appStateOf(lab.state) === 'empty')
    expect(whyNoRun(lab.state)).toMatch(/at least two peers/)

    await lab.addInPage(6)
    await until(lab, () => appStateOf(lab.state) === 'ready')
    expect(lab.state.members).toHaveLength(7)
    expect(lab.state.inPage.size).toBe(6)
    expect(lab.state.members.every(({ peerId }) => peerStateOf(lab.state, peerId) === 'ready')).toBe(true)
    expect(lab.state.model?.size).toBe(7)
    expect(whyNoRun(lab.state)).toBeUndefined()

    lab.request(spec)
    await until(lab, () => lab.state.run?.phase === 'running')
    expect(appStateOf(lab.state)).toBe('running')
    await until(lab, () => lab.state.run?.phase === 'done')
    expect(appStateOf(lab.state)).toBe('ready')
    for (const outcome of outcomesOf(lab.state.run!))
      expect(outcome).toMatchObject({ told: 7, correct: 7, wrong: 0, identical: true, exact: true })
    expect(outcomesOf(lab.state.run!).map(({ times }) => times.seconds.length)).toEqual([2, 2, 2])
    expect(foldLog(lab.log.entries)).toEqual(lab.state)
  })

  it('goes on with the others when a peer of the page is sent away', async () => {
    const { lab } = createMemoryLab()
    await lab.enter('k7f-2q9')
    await lab.addInPage(3)
    await until(lab, () => appStateOf(lab.state) === 'ready')
    await lab.removeInPage([...lab.state.inPage][1]!)
    await until(lab, () => appStateOf(lab.state) === 'ready' && lab.state.members.length === 3)
    expect(lab.state.members.map(({ peerId }) => lab.state.hues.get(peerId))).toEqual([0, 1, 3])
    lab.request({ ...spec, variants: [{ algorithm: 'auto' }] })
    await until(lab, () => lab.state.run?.phase === 'done')
    expect(outcomesOf(lab.state.run!)[0]).toMatchObject({ told: 3, wrong: 0 })
    lab.request({ ...spec, variants: [{ algorithm: 'nonsense' }] })
    await until(lab, () => lab.state.run?.phase === 'failed')
    expect(appStateOf(lab.state)).toBe('failed')
    expect(lab.state.notice).toMatchObject({ code: 'INVALID_ARGUMENT' })
    lab.dismiss()
    expect(appStateOf(lab.state)).toBe('ready')
    await lab.leave()
  })

  it('counts a result of the survivors, and says whose vectors are not in it', async () => {
    const { lab, room } = createMemoryLab({ latency: 0.002 })
    await lab.enter(undefined)
    await lab.addInPage(3)
    await until(lab, () => appStateOf(lab.state) === 'ready')
    lab.request({ ...spec, bytes: 1 << 20, repeats: 1, warmup: 0, variants: [{ algorithm: 'ring' }] })
    await until(lab, () => lab.state.run?.progress !== undefined)
    room.network.kill('peer-2')
    await until(lab, () => lab.state.run!.lost.length > 0)
    // Known at once, while the others go on.
    expect(appStateOf(lab.state)).toBe('degraded')
    expect(lab.state.run).toMatchObject({ phase: 'running', lost: [{ name: 'Cem' }] })
    expect(lab.state.run?.progress).toBeUndefined()
    expect(lab.state.notice).toEqual({
      code: 'PEER_LOST',
      message: 'Cem (rank 2) left during the run. The 3 peers still here go on with it.',
      tone: 'remark',
    })
    expect(statusOf(lab.state, 0)).toMatchObject({
      word: 'Running with fewer',
      sentence: expect.stringMatching(/^Cem left; 3 peers go on/),
    })
    await until(lab, () => lab.state.run?.progress !== undefined)
    // A ring of three has four steps, one of four had six.
    expect(lab.state.run!.progress!.steps).toBe(4)
    await until(lab, () => lab.state.run?.phase !== 'running')
    const run = lab.state.run!
    expect(run.phase).toBe('done')
    expect(outcomesOf(run)[0]).toMatchObject({
      told: 3,
      askedFor: 3,
      size: 3,
      lost: 1,
      missing: 1,
      wrong: 0,
      identical: true,
    })
    expect(contributorsOf(run, 0).map(({ name }) => name)).toEqual(['Ada', 'Bo', 'Dilek'])
    expect(measurementsFor(lab.state.history, settingOf(run)).size).toBe(0)
    expect(lab.state.notice).toMatchObject({ code: 'PEER_LOST', tone: 'remark' })
    expect(lab.state.notice?.message).toBe(
      'Cem (rank 2) left during the run. The 3 peers still here finished it together, without its vector.',
    )
    expect(percentsOf(lab)).toEqual([...percentsOf(lab)].sort((a, b) => a - b))
    // Stop and the next run work.
    await until(lab, () => appStateOf(lab.state) === 'ready')
    lab.request({ ...spec, bytes: 1 << 20, repeats: 1, warmup: 0, variants: [{ algorithm: 'ring' }] })
    await until(lab, () => lab.state.run?.progress !== undefined)
    lab.stop()
    await until(lab, () => lab.state.run?.phase === 'stopped')
    expect(lab.state.notice).toMatchObject({ code: 'STOPPED' })
    lab.request({ ...spec, variants: [{ algorithm: 'auto' }] })
    await until(lab, () => lab.state.run?.phase === 'done')
    expect(outcomesOf(lab.state.run!)[0]).toMatchObject({ told: 3, size: 3, lost: 0, wrong: 0 })
  })

  it('goes on without a peer of the page that is sent away in the middle', async () => {
    const { lab } = createMemoryLab({ latency: 0.002 })
    await lab.enter(undefined)
    await lab.addInPage(3)
    await until(lab, () => appStateOf(lab.state) === 'ready')
    lab.request({ ...spec, bytes: 1 << 20, repeats: 1, warmup: 0, variants: [{ algorithm: 'ring' }] })
    await until(lab, () => lab.state.run?.progress !== undefined)
    await lab.removeInPage([...lab.state.inPage][1]!)
    await until(lab, () => lab.state.run?.phase !== 'running')
    expect(lab.state.run).toMatchObject({ phase: 'done', lost: [{ name: 'Cem' }] })
    expect(outcomesOf(lab.state.run!)[0]).toMatchObject({ told: 3, askedFor: 3, wrong: 0 })
  })

  it('can be stopped when it has lost a peer, by any of those who are left', async () => {
    const { lab, room } = createMemoryLab({ latency: 0.002 })
    await lab.enter(undefined)
    await lab.addInPage(3)
    await until(lab, () => appStateOf(lab.state) === 'ready')
    lab.request({ ...spec, bytes: 1 << 22, repeats: 3, warmup: 0, variants: [{ algorithm: 'ring' }] })
    await until(lab, () => lab.state.run?.progress !== undefined)
    room.network.kill('peer-2')
    await until(lab, () => lab.state.run!.lost.length > 0)
    lab.stop()
    await until(lab, () => lab.state.run?.phase !== 'running')
    expect(lab.state.run).toMatchObject({ phase: 'stopped', error: { code: 'ABORTED' } })
    await until(lab, () => appStateOf(lab.state) === 'ready')
    lab.request({ ...spec, variants: [{ algorithm: 'auto' }] })
    await until(lab, () => lab.state.run?.phase === 'done')
    expect(outcomesOf(lab.state.run!)[0]).toMatchObject({ told: 3, size: 3, wrong: 0 })
  })

  it('predicts a run once: a model that is measured meanwhile changes nothing, the loss of a peer does', async () => {
    const { lab, room } = createMemoryLab({ latency: 0.002 })
    await lab.enter(undefined)
    await lab.addInPage(3)
    await until(lab, () => appStateOf(lab.state) === 'ready')
    lab.request({ ...spec, bytes: 1 << 20, repeats: 1, warmup: 0, variants: [{ algorithm: 'auto' }] })
    await until(lab, () => lab.state.run?.phase === 'running')
    const before = choiceOfRun(lab.state.run!, 0)
    lab.log.append({ kind: 'model', model: guessModel(4) })
    expect(choiceOfRun(lab.state.run!, 0)).toBe(before)
    expect(before).toMatchObject({ chosen: { seconds: expect.any(Number) } })
    await until(lab, () => lab.state.run?.progress !== undefined)
    room.network.kill('peer-2')
    await until(lab, () => lab.state.run!.lost.length > 0)
    expect(choiceOfRun(lab.state.run!, 0)).not.toBe(before)
    await until(lab, () => lab.state.run?.phase !== 'running')
  })

  it('logs every step of a call once, in order, and progress never falls', async () => {
    const { lab } = createMemoryLab()
    await lab.enter(undefined)
    await lab.addInPage(4)
    await until(lab, () => appStateOf(lab.state) === 'ready')
    lab.request({ ...spec, bytes: 1 << 18, repeats: 1, warmup: 0, variants: [{ algorithm: 'ring' }] })
    await until(lab, () => lab.state.run?.phase === 'done')
    const progress = lab.log.entries.flatMap(({ event }) =>
      event.kind === 'progress' ? [event.progress] : [],
    )
    expect([...new Set(progress.map(({ step }) => step))]).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8])
    const fractions = progress.map(({ fraction }) => fraction)
    expect(fractions).toEqual([...fractions].sort((a, b) => a - b))
    expect(fractions.at(-1)).toBe(1)
  })

  it('tells the others of a page that is out of sight, also when it was before it joined', async () => {
    const { lab } = createMemoryLab()
    const hidden = () => [...lab.state.about.values()].map((about) => about.hidden)
    lab.hide(true)
    await lab.enter(undefined)
    await lab.addInPage(1)
    await until(lab, () => hidden().length === 2)
    expect(hidden()).toEqual([true, true])
    lab.hide(false)
    await until(lab, () => hidden().every((each) => !each))
  })

  it('says that a browser let only some tabs open', async () => {
    const { lab } = createMemoryLab()
    await lab.enter(undefined)
    let opened = 0
    lab.openTabs(6, () => opened++ < 1)
    expect(lab.state).toMatchObject({ tabs: { asked: 6, opened: 1 }, expected: 2 })
    expect(lab.state.notice?.code).toBe('POPUP_BLOCKED')
    expect(appStateOf(lab.state)).toBe('waiting')
    await lab.addInPage(5)
    expect(lab.state.notice).toBeUndefined()
  })

  it('takes its seat again when the others lost it for a while', async () => {
    const { lab, lose, joins } = createLosableLab()
    await lab.enter('k7f-2q9')
    for (const cause of ['lost', 'unreachable'] as const) {
      await until(lab, () => appStateOf(lab.state) === 'empty')
      await lose(cause)
      await until(lab, () => appStateOf(lab.state) === 'empty')
      expect(kinds(lab).filter((kind) => kind === 'returning')).toHaveLength(joins() - 1)
      expect(lab.state.members).toHaveLength(1)
      expect(lab.state.notice).toEqual({
        code: 'REMOVED',
        message: 'You did not answer. The others went on without this page; it takes its seat again.',
        tone: 'remark',
      })
    }
    await lose('kicked')
    expect(joins()).toBe(3)
    expect(lab.state).toMatchObject({ place: 'refused', refusal: { message: 'You did not answer.' } })
  })

  it('brings a peer of the page back as well, unless somebody sent it away', async () => {
    const { lab, lose, joins } = createLosableLab()
    await lab.enter('k7f-2q9')
    await lab.addInPage(1)
    await until(lab, () => appStateOf(lab.state) === 'ready')
    await lose('lost', [...lab.state.inPage][0])
    await until(lab, () => appStateOf(lab.state) === 'ready' && joins() === 3)
    expect(lab.state.members).toHaveLength(2)
    await lose('kicked', [...lab.state.inPage].at(-1))
    await until(lab, () => appStateOf(lab.state) === 'empty')
    expect(joins()).toBe(3)
  })

  it('stays outside when it is lost again and again', async () => {
    const { lab, lose, joins } = createLosableLab()
    await lab.enter('k7f-2q9')
    for (let time = 0; time < 5; time++) await lose('lost')
    expect(joins()).toBe(4)
    expect(lab.state.place).toBe('refused')
  })

  it.each(['qqq qqq!', '', '-'])('asks for no room "%s", which cannot be', async (code) => {
    const { lab, joins } = createLosableLab()
    await lab.enter(code)
    expect(appStateOf(lab.state)).toBe('room-unknown')
    expect(statusOf(lab.state, 0).action).toBe('new-room')
    expect(joins()).toBe(0)
  })

  it.each([
    ['ROOM_UNKNOWN', 'room-unknown'],
    ['ROOM_FULL', 'room-full'],
    ['VERSION_MISMATCH', 'version-mismatch'],
    ['NO_WEBRTC', 'unsupported'],
    ['SIGNAL_UNREACHABLE', 'failed'],
  ] as const)('shows %s as %s', async (code, state) => {
    const lab = new Lab({
      join: () => Promise.reject(new JoinError(code, 'No.')),
      clock: realClock,
      prng: createPrng(1),
      agent: 'Test 1',
      breathe: () => undefined,
    })
    await lab.enter('k7f-2q9')
    expect(appStateOf(lab.state)).toBe(state)
    expect(kinds(lab)).toEqual(['joining', 'refused'] satisfies LabEvent['kind'][])
  })
})
