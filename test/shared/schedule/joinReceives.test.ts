import fc from 'fast-check'
import { expect, test } from 'vitest'
import { joinReceives } from '../../../shared/schedule/joinReceives.ts'
import type { How, Local, Receive } from '../../../shared/schedule/types.ts'

const scratchFrom = (first: number) => {
  let next = first
  return () => next++
}

test('one receive per peer is left as it is', () => {
  const receives: Receive[] = [
    { from: 2, slots: [0], how: 'store' },
    { from: 1, slots: [0], how: 'append' },
  ]
  expect(joinReceives(receives, scratchFrom(10))).toEqual({ receives, locals: [] })
})

test('what can be written at once is, in one receive per peer', () => {
  const joined = joinReceives(
    [
      { from: 1, slots: [0, 1], how: 'append' },
      { from: 2, slots: [0], how: 'append' },
      { from: 1, slots: [3], how: 'append' },
    ],
    scratchFrom(10),
  )
  expect(joined).toEqual({
    receives: [
      { from: 1, slots: [0, 1, 3], how: 'append' },
      { from: 2, slots: [0], how: 'append' },
    ],
    locals: [],
  })
})

test('a slot that peers write in another order than the first part waits', () => {
  const joined = joinReceives(
    [
      { from: 1, slots: [0], how: 'append' },
      { from: 2, slots: [0], how: 'append' },
      { from: 2, slots: [1], how: 'append' },
      { from: 1, slots: [1], how: 'append' },
    ],
    scratchFrom(10),
  )
  expect(joined.locals.filter(({ slot }) => slot === 1).map(({ from }) => from)).toEqual([13, 11])
})

/** Values as text: what a peer sends at place i of its message is named after both. */
function apply(receives: readonly Receive[], locals: readonly Local[]): string[] {
  const values: string[] = Array.from({ length: 40 }, (_, slot) => (slot < 6 ? `own${slot}` : ''))
  const sent = new Map<number, number>()
  const write = (slot: number, value: string, how: How) => {
    const before = values[slot]!
    values[slot] = { store: value, append: `(${before} ${value})`, prepend: `(${value} ${before})` }[how]
  }
  for (const { from, slots, how } of receives) {
    for (const slot of slots) {
      const place = sent.get(from) ?? 0
      sent.set(from, place + 1)
      write(slot, `${from}:${place}`, how)
    }
  }
  for (const { from, slot, how } of locals) write(slot, values[from]!, how)
  return values.slice(0, 6)
}

test('every slot ends with the same tree, with one receive per peer', () => {
  const receive = fc.record({
    from: fc.integer({ min: 0, max: 3 }),
    slots: fc.uniqueArray(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 3 }),
    how: fc.constantFrom<How>('store', 'append', 'prepend'),
  })
  fc.assert(
    fc.property(fc.array(receive, { maxLength: 10 }), (receives) => {
      const joined = joinReceives(receives, scratchFrom(6))
      expect(apply(joined.receives, joined.locals)).toEqual(apply(receives, []))
      expect(new Set(joined.receives.map(({ from }) => from)).size).toBe(joined.receives.length)
    }),
  )
})
