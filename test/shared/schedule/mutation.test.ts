import { describe, expect, test } from 'vitest'
import { ScheduleError } from '../../../shared/base/errors.ts'
import { createPrng, type Prng } from '../../../shared/base/prng.ts'
import { buildSchedule } from '../../../shared/schedule/build.ts'
import { algorithms } from '../../../shared/schedule/registry.ts'
import type {
  Algorithm,
  Local,
  RankSchedule,
  Receive,
  Schedule,
  Send,
  Step,
} from '../../../shared/schedule/types.ts'
import { verifySchedule } from '../../../shared/schedule/verify.ts'
import { caseName, spread } from '../../support/schedules.ts'

const SIZES = [2, 3, 5, 6, 8]
const reductions = new Set(['allreduce', 'reduceScatter', 'reduce'])
/** Broken copies of each kind per schedule. */
const TRIES = 6

interface Place {
  readonly rank: number
  readonly step: number
}

/** The same schedule with one step of one rank replaced. */
function withStep(schedule: Schedule, { rank, step }: Place, change: (step: Step) => Step): Schedule {
  const changePart = (part: RankSchedule): RankSchedule => ({
    ...part,
    steps: part.steps.map((old, index) => (index === step ? change(old) : old)),
  })
  return {
    ...schedule,
    ranks: schedule.ranks.map((part, index) => (index === rank ? changePart(part) : part)),
  }
}

function places(schedule: Schedule, accept: (step: Step) => boolean): Place[] {
  return schedule.ranks.flatMap(({ steps, rank }) =>
    steps.flatMap((content, step) => (accept(content) ? [{ rank, step }] : [])),
  )
}

const replace = <T>(entries: readonly T[], at: number, ...by: T[]): T[] => [
  ...entries.slice(0, at),
  ...by,
  ...entries.slice(at + 1),
]

/** A message that is not sent; with `pair`, nor waited for. */
function dropSend(schedule: Schedule, prng: Prng, pair: boolean): Schedule | undefined {
  const place = pick(
    places(schedule, ({ sends }) => sends.length > 0),
    prng,
  )
  if (place === undefined) return undefined
  const { sends } = schedule.ranks[place.rank]!.steps[place.step]!
  const at = prng.below(sends.length)
  const { to } = sends[at]!
  const unsent = withStep(schedule, place, (step) => ({ ...step, sends: replace(sends, at) }))
  if (!pair) return unsent
  return withStep(unsent, { rank: to, step: place.step }, (step) => ({
    ...step,
    receives: step.receives.filter(({ from }) => from !== place.rank),
  }))
}

/** Two chunks of a message in each other's place, or one in the place of another that the rank has. */
function swapChunks(schedule: Schedule, prng: Prng): Schedule | undefined {
  const distinct = (part: RankSchedule, { slots }: Send) =>
    part.slots.findIndex((chunk) => chunk !== part.slots[slots[0]!])
  const place = pick(
    places(schedule, ({ sends }) => sends.length > 0).filter(({ rank, step }) => {
      const part = schedule.ranks[rank]!
      return part.steps[step]!.sends.some((send) => distinct(part, send) >= 0)
    }),
    prng,
  )
  if (place === undefined) return undefined
  const part = schedule.ranks[place.rank]!
  return withStep(schedule, place, (step) => {
    const at = step.sends.findIndex((send) => distinct(part, send) >= 0)
    const send = step.sends[at]!
    const other = send.slots.findIndex((slot) => part.slots[slot] !== part.slots[send.slots[0]!])
    const slots = [...send.slots]
    slots[0] = other >= 0 ? send.slots[other]! : distinct(part, send)
    if (other >= 0) slots[other] = send.slots[0]!
    return { ...step, sends: replace(step.sends, at, { ...send, slots }) }
  })
}

/** What a receive or local writes is written once more, combined with what is there. */
function doubleContribution(schedule: Schedule, prng: Prng): Schedule | undefined {
  const place = pick(
    places(schedule, ({ receives, locals }) => receives.length + locals.length > 0),
    prng,
  )
  if (place === undefined) return undefined
  return withStep(schedule, place, (step) => {
    const written = pick<Receive | Local>([...step.receives, ...step.locals], prng)!
    const slot = 'slots' in written ? written.slots[prng.below(written.slots.length)]! : written.slot
    return { ...step, locals: [...step.locals, { from: slot, slot, how: 'append' }] }
  })
}

function pick<T>(entries: readonly T[], prng: Prng): T | undefined {
  return entries[prng.below(entries.length)]
}

function eachBroken(
  algorithm: Algorithm,
  mutate: (schedule: Schedule, prng: Prng) => Schedule | undefined,
  check: (broken: Schedule, name: string) => void,
): number {
  let count = 0
  for (const size of SIZES)
    for (const settings of spread(algorithm.variants(size), 5)) {
      const schedule = buildSchedule(algorithm, size, settings)
      for (let seed = 0; seed < TRIES; seed++) {
        const broken = mutate(schedule, createPrng(seed))
        if (broken === undefined) continue
        check(broken, `${caseName(algorithm, size, settings)}, seed ${seed}`)
        count++
      }
    }
  return count
}

describe.each(
  algorithms.map((algorithm) => [`${algorithm.collective} ${algorithm.name}`, algorithm] as const),
)('the verifier catches in %s', (_, algorithm) => {
  const { idempotent } = algorithm.restrictions
  const refused = (broken: Schedule, name: string) =>
    expect(() => verifySchedule(broken, { idempotent }), name).toThrow(ScheduleError)

  test('a send that is dropped', () => {
    expect(eachBroken(algorithm, (s, prng) => dropSend(s, prng, false), refused)).toBeGreaterThan(0)
  })

  // Where results are only copied or operators are idempotent, a rank may be told what it knows already.
  if (!idempotent && reductions.has(algorithm.collective))
    test('a message dropped on both sides', () => {
      expect(eachBroken(algorithm, (s, prng) => dropSend(s, prng, true), refused)).toBeGreaterThan(0)
    })

  test('two chunks that are swapped', () => {
    const count = eachBroken(algorithm, swapChunks, refused)
    if (count === 0) expect(hasChoice(algorithm), 'no rank that sends has two chunks').toBe(false)
  })

  test('a contribution that is doubled', () => {
    const count = eachBroken(algorithm, doubleContribution, (broken, name) => {
      if (!idempotent) refused(broken, name)
      else expect(verifySchedule(broken, { idempotent }).once, name).toBe(false)
    })
    expect(count).toBeGreaterThan(0)
  })
})

/** Some rank that sends has slots of different chunks. */
function hasChoice(algorithm: Algorithm): boolean {
  const schedule = buildSchedule(algorithm, 8)
  return schedule.ranks.some(
    ({ slots, steps }) => new Set(slots).size > 1 && steps.some(({ sends }) => sends.length > 0),
  )
}
