import { describe, expect, it } from 'vitest'
import type { Student } from '../../../../client/learn/student.ts'
import { Classroom } from '../../../../client/page/learn/classroom.ts'
import { pageWordOf } from '../../../../client/page/learn/pageState.ts'
import type { TrainerPort } from '../../../../client/page/learn/worker/trainerPort.ts'
import type { ServerState } from '../../../../client/page/session/lab.ts'
import { learnStatusOf } from '../../../../client/page/words/learn.ts'
import { realClock } from '../../../../shared/base/clock.ts'
import { ArgumentError, JoinError } from '../../../../shared/base/errors.ts'
import { createPrng } from '../../../../shared/base/prng.ts'
import { createMemoryRoom, type MemoryRoom } from '../../../../shared/collective/memoryGroup.ts'

const names = ['Ada', 'Bo', 'Cem', 'Dilek', 'Emil', 'Fatou', 'Goro', 'Hana']

/** A student of one weight that steps to its place: the average of places 0 to 4 is 2. */
function createStudent(place: number): Student {
  const weight = new Float32Array(1)
  return {
    facts: { classes: ['even', 'odd'], shape: [2], parameters: 1, testSamples: 1 },
    read: () => ({ weight: weight.slice() }),
    write: ({ weight: next }) => weight.set(next!),
    async train() {
      await new Promise((resolve) => setTimeout(resolve))
      weight[0] = place
      return { samples: 10, metrics: { loss: 0, accuracy: 1, own: 0.5, alone: 0.25 } }
    },
    evaluate: async () => ({ loss: 0, accuracy: weight[0]! / 10 }),
    answer: async (sample) => ({ together: [weight[0]! / 10, 0], alone: [sample[0]!, place / 10] }),
    dispose() {},
  }
}

interface Setting {
  readonly room?: MemoryRoom
  readonly refuse?: boolean
  readonly isBroken?: boolean
}

function openClassroom({ room = createMemoryRoom({ measure: false }), refuse, isBroken }: Setting = {}) {
  let joined = 0
  let tell = (_state: ServerState) => {}
  const trainer: Pick<TrainerPort, 'createStudent'> = {
    async createStudent(_lesson, place, onProgress) {
      if (isBroken) throw new ArgumentError('digits', 'The server has no digits (status 404).')
      onProgress(0.5)
      return createStudent(place)
    },
  }
  const classroom = new Classroom({
    async join({ kind }) {
      if (refuse) throw new JoinError('ROOM_FULL', 'Room k7f-2q9 is full.')
      const name = `${names[joined++ % names.length]}`
      const onServer = (listener: (state: ServerState) => void) => {
        if (kind === 'tab') tell = listener
        return () => {}
      }
      return { group: room.join(name), room: 'k7f-2q9', name, onServer }
    },
    trainer: trainer as TrainerPort,
    clock: realClock,
    prng: createPrng(1),
  })
  return { classroom, room, tellServer: (state: ServerState) => tell(state) }
}

function until(classroom: Classroom, isTrue: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const check = () => isTrue() && resolve()
    classroom.subscribe(check)
    check()
  })
}

const wish = { data: 'iris', rounds: 3, momentum: 0 } as const
const wordOf = (classroom: Classroom) => pageWordOf(classroom.state)

describe('a page alone', () => {
  it('adds four peers to itself and trains with them to the end', async () => {
    const { classroom } = openClassroom()
    await classroom.enter(undefined)
    expect(wordOf(classroom)).toBe('empty')
    classroom.train(wish, 4)
    await until(classroom, () => wordOf(classroom) === 'finished')
    const { run, members } = classroom.state.learning
    expect(members).toHaveLength(5)
    expect(run!.pupils.map(({ place, since }) => [place, since])).toEqual(
      [0, 1, 2, 3, 4].map((place) => [place, 0]),
    )
    expect([...run!.averaged.values()].map(({ accuracy }) => accuracy.toFixed(2))).toEqual([
      '0.20',
      '0.20',
      '0.20',
    ])
    expect(run!.lesson).toMatchObject({ hands: 8, classesPerHand: 1 })
    expect([...run!.bytesTo.values()].reduce((sum, bytes) => sum + bytes, 0)).toBeGreaterThan(0)
    expect(learnStatusOf(classroom.state).sentence).toBe(
      'After 3 rounds: right on 20.0 % together, 25.0 % alone. All 5 peers hold the same model, bit for bit.',
    )
    await classroom.leave()
  })

  it('is answered by every peer, each by its own model', async () => {
    const { classroom } = openClassroom()
    await classroom.enter(undefined)
    classroom.train(wish, 2)
    await until(classroom, () => wordOf(classroom) === 'finished')
    classroom.ask(new Float32Array([1, 0]))
    await until(classroom, () => classroom.state.learning.question?.opinions.size === 3)
    const { members, question } = classroom.state.learning
    const alone = members.map(({ peerId }) => question!.opinions.get(peerId)!.alone)
    expect(alone).toEqual([
      [1, 0],
      [1, 0.1],
      [1, 0.2],
    ])
    await classroom.leave()
  })

  it('stops all peers after the round in progress', async () => {
    const { classroom } = openClassroom()
    await classroom.enter(undefined)
    classroom.train({ ...wish, rounds: 1000 }, 2)
    await until(classroom, () => (classroom.state.learning.run?.rounds.length ?? 0) >= 2)
    classroom.stop()
    await until(classroom, () => wordOf(classroom) === 'stopped')
    expect(learnStatusOf(classroom.state).sentence).toMatch(
      /^Stopped after round \d+ of 1000: right on 10.0 %/,
    )
    // Whoever has stopped may begin anew.
    classroom.train(wish, 2)
    await until(classroom, () => wordOf(classroom) === 'finished')
    await classroom.leave()
  })

  it('says why it has no samples, and leaves instead of holding up the others', async () => {
    const { classroom, room } = openClassroom({ isBroken: true })
    const other = openClassroom({ room }).classroom
    await other.enter('k7f-2q9')
    await classroom.enter('k7f-2q9')
    await until(other, () => other.state.learning.present.size === 2)
    other.train(wish, 0)
    await until(other, () => wordOf(other) === 'finished')
    expect(classroom.state.learning.run).toMatchObject({ ending: 'failed' })
    expect(learnStatusOf(classroom.state).sentence).toBe('The server has no digits (status 404).')
    expect(other.state.learning.run!.pupils.map(({ leftAfter }) => leftAfter)).toEqual([undefined, 0])
    await other.leave()
  })
})

describe('several pages', () => {
  it('see the same run; one that comes late gets place, round and model', async () => {
    const first = openClassroom()
    const { room } = first
    const late = openClassroom({ room }).classroom
    await first.classroom.enter(undefined)
    first.classroom.train({ ...wish, rounds: 40 }, 1)
    await until(first.classroom, () => (first.classroom.state.learning.run?.rounds.length ?? 0) >= 5)
    await late.enter('k7f-2q9')
    await Promise.all([first.classroom, late].map((each) => until(each, () => wordOf(each) === 'finished')))
    const [one, other] = [first.classroom, late].map((each) => each.state.learning.run!)
    expect(other!.rounds.at(-1)!.hash).toBe(one!.rounds.at(-1)!.hash)
    expect(other!.lesson).toEqual(one!.lesson)
    expect(other!.synced!.round).toBeGreaterThanOrEqual(5)
    expect(one!.pupils[2]).toMatchObject({ place: 2, since: expect.any(Number) })
    expect(one!.pupils[2]!.since).toBeGreaterThanOrEqual(5)
    expect(learnStatusOf(late.state).sentence).toMatch(
      /This page came late, and got the model after round \d+ from/,
    )
    await Promise.all([first.classroom.leave(), late.leave()])
  })

  it('go on when rank 0 leaves, which had dealt the places', async () => {
    const { classroom, room } = openClassroom()
    const second = openClassroom({ room }).classroom
    await classroom.enter(undefined)
    await second.enter('k7f-2q9')
    await until(second, () => second.state.learning.present.size === 2)
    second.train({ ...wish, rounds: 60 }, 0)
    await until(second, () => (second.state.learning.run?.rounds.length ?? 0) >= 3)
    await classroom.leave()
    const third = openClassroom({ room }).classroom
    await third.enter('k7f-2q9')
    await Promise.all([second, third].map((each) => until(each, () => wordOf(each) === 'finished')))
    // It sits where rank 0 has left.
    expect(second.state.learning.run!.pupils.at(-1)).toMatchObject({ place: 0 })
    expect(learnStatusOf(second.state).sentence).toMatch(/Ada left; the others went on. Ada joined late/)
    await Promise.all([second.leave(), third.leave()])
  })
})

describe('a place in the room', () => {
  it('is refused in words, also when the code is none', async () => {
    const { classroom } = openClassroom({ refuse: true })
    await classroom.enter('k7f-2q9')
    expect(learnStatusOf(classroom.state)).toMatchObject({
      word: 'Outside',
      sentence: 'Room k7f-2q9 is full.',
    })
    await classroom.enter('no room!')
    expect(classroom.state.problem).toMatchObject({ code: 'ROOM_UNKNOWN' })
  })

  it('may be lost, and left and taken again', async () => {
    const { classroom, tellServer } = openClassroom()
    await classroom.enter(undefined)
    tellServer({ name: 'reconnecting' })
    expect(classroom.state.isServerThere).toBe(false)
    tellServer({ name: 'gone', error: new JoinError('ROOM_CLOSED', 'The room is closed.') })
    expect(wordOf(classroom)).toBe('refused')
    await classroom.enter('k7f-2q9')
    await classroom.leave()
    expect(wordOf(classroom)).toBe('left')
  })
})
