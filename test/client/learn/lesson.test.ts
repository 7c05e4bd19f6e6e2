import fc from 'fast-check'
import { expect, it } from 'vitest'
import { loadIris } from '../../../client/learn/iris.ts'
import { countClasses, createLesson, divide } from '../../../client/learn/lesson.ts'
import { parseLearnMessage } from '../../../client/learn/messages.ts'
import { ArgumentError } from '../../../shared/base/errors.ts'

it('leaves no class without a peer, however few they are, and no sample with two', async () => {
  const iris = await loadIris()
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 12 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.nat(1000),
      (peers, skew, seed) => {
        const { hands, test, train } = divide(createLesson({ peers, data: 'iris', skew, seed }), iris)
        expect(hands).toHaveLength(peers)
        expect(test.count).toBe(50)
        expect(hands.reduce((sum, { count }) => sum + count, 0)).toBe(train.count)
        const all = hands.map(countClasses)
        for (let label = 0; label < 3; label++)
          expect(all.reduce((sum, counts) => sum + counts[label]!, 0)).toBe(countClasses(train)[label])
      },
    ),
    { numRuns: 50 },
  )
})

it('deals digits so that the peers who begin have all classes, whatever is kept for those who come later', () => {
  expect(createLesson({ peers: 3, hands: 8 }).classesPerHand).toBe(4)
  expect(createLesson({ peers: 5 })).toMatchObject({ classesPerHand: 2, hands: 5 })
  expect(createLesson({ peers: 7 }).classesPerHand).toBe(2)
  expect(createLesson({ peers: 1, data: 'iris' }).classesPerHand).toBe(3)
})

it('refuses what is out of range, and flowers for a convolution', () => {
  expect(() => createLesson({ peers: 2, rounds: 0 })).toThrow(ArgumentError)
  expect(() => createLesson({ peers: 2, skew: 1.1 })).toThrow(/skew/)
  expect(() => createLesson({ peers: 2, data: 'iris', model: 'cnn' })).toThrow(/pictures/)
})

it('reads only messages of its own kind, with a lesson that is one', () => {
  const start = {
    app: 'learn',
    type: 'start',
    runId: 'r1',
    by: 'a',
    lesson: createLesson({ peers: 2 }),
    places: ['a', 'b'],
  }
  expect(parseLearnMessage(start)).toEqual(start)
  expect(parseLearnMessage({ ...start, lesson: { ...start.lesson, rounds: 1e9 } })).toBeUndefined()
  expect(parseLearnMessage({ ...start, more: 1 })).toBeUndefined()
  expect(
    parseLearnMessage({ app: 'learn', type: 'question', questionId: 'q', sample: Array(785).fill(0) }),
  ).toBeUndefined()
  expect(parseLearnMessage({ type: 'hello' })).toBeUndefined()
})
