import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../../shared/base/clock.ts'
import { AbortedError, ArgumentError, MismatchError, PeerLostError } from '../../../shared/base/errors.ts'
import { createPrng, type Prng } from '../../../shared/base/prng.ts'
import { createMemoryGroup, createMemoryRoom, whenTogether } from '../../../shared/collective/memoryGroup.ts'
import { isRooted } from '../../../shared/collective/plan.ts'
import type { CollectiveOptions, Group, Result } from '../../../shared/collective/types.ts'
import { meshSize } from '../../../shared/schedule/links.ts'
import { algorithms } from '../../../shared/schedule/registry.ts'
import type { Collective } from '../../../shared/schedule/types.ts'
import { createFeedback } from '../../../shared/wire/feedback.ts'
import type { SegmentFold } from '../../../shared/wire/fold.ts'
import { inVirtualTime } from '../../support/virtualTime.ts'

/** What all ranks end with, by a plain loop over what all bring in. */
interface Case {
  readonly calls: (group: Group, rank: number) => Promise<Result<Int32Array | undefined>>
  readonly expected: (rank: number) => readonly number[] | undefined
}

const namesOf = (collective: Collective) =>
  algorithms.filter((algorithm) => algorithm.collective === collective).map(({ name }) => name)

const random = (prng: Prng, length: number) =>
  Int32Array.from({ length }, () => prng.below(2 ** 20) - 2 ** 19)
const evenCut = (length: number, size: number, rank: number) => Math.floor((rank * length) / size)
const sumOf = (inputs: readonly Int32Array[]) =>
  Array.from(inputs[0] ?? [], (_, i) => inputs.reduce((sum, input) => sum + input[i]!, 0))
const startOf = (counts: readonly number[], rank: number) =>
  counts.slice(0, rank).reduce((sum, count) => sum + count, 0)

/** How one vector is cut into a part for each rank: evenly, or by counts. */
function cutOf(size: number, prng: Prng) {
  const counts = Array.from({ length: size }, () => prng.below(9))
  if (prng.below(2) === 0)
    return {
      length: startOf(counts, size),
      options: { counts },
      start: (rank: number) => startOf(counts, rank),
    }
  const length = prng.below(50)
  return { length, options: {}, start: (rank: number) => evenCut(length, size, rank) }
}

/** How long the vectors of the ranks are: all alike, or by counts. */
function lengthsOf(size: number, prng: Prng) {
  const counts = Array.from({ length: size }, () => prng.below(9))
  return prng.below(2) === 0
    ? { counts, options: { counts } }
    : { counts: counts.fill(prng.below(20)), options: {} }
}

const cases: Record<string, (size: number, algorithm: string, prng: Prng) => Case> = {
  broadcast(size, algorithm, prng) {
    const root = prng.below(size)
    const length = prng.below(50)
    const inputs = Array.from({ length: size }, () => random(prng, length))
    return {
      calls: (group, rank) => group.broadcast(inputs[rank]!, { root, algorithm }),
      expected: () => [...inputs[root]!],
    }
  },
  reduce(size, algorithm, prng) {
    const root = prng.below(size)
    const length = prng.below(50)
    const inputs = Array.from({ length: size }, () => random(prng, length))
    return {
      calls: (group, rank) => group.reduce(inputs[rank]!, { root, algorithm }),
      expected: (rank) => (rank === root ? sumOf(inputs) : undefined),
    }
  },
  reduceScatter(size, algorithm, prng) {
    const { length, options, start } = cutOf(size, prng)
    const inputs = Array.from({ length: size }, () => random(prng, length))
    return {
      calls: (group, rank) => group.reduceScatter(inputs[rank]!, { algorithm, ...options }),
      expected: (rank) => sumOf(inputs).slice(start(rank), start(rank + 1)),
    }
  },
  allgather(size, algorithm, prng) {
    const { counts, options } = lengthsOf(size, prng)
    const inputs = counts.map((count) => random(prng, count))
    return {
      calls: (group, rank) => group.allgather(inputs[rank]!, { algorithm, ...options }),
      expected: () => inputs.flatMap((input) => [...input]),
    }
  },
  gather(size, algorithm, prng) {
    const root = prng.below(size)
    const { counts, options } = lengthsOf(size, prng)
    const inputs = counts.map((count) => random(prng, count))
    return {
      calls: (group, rank) => group.gather(inputs[rank]!, { root, algorithm, ...options }),
      expected: (rank) => (rank === root ? inputs.flatMap((input) => [...input]) : undefined),
    }
  },
  scatter(size, algorithm, prng) {
    const root = prng.below(size)
    const { length, options, start } = cutOf(size, prng)
    const inputs = Array.from({ length: size }, () => random(prng, length))
    return {
      calls: (group, rank) => group.scatter(inputs[rank]!, { root, algorithm, ...options }),
      expected: (rank) => [...inputs[root]!.subarray(start(rank), start(rank + 1))],
    }
  },
  alltoall(size, algorithm, prng) {
    const block = prng.below(9)
    const inputs = Array.from({ length: size }, () => random(prng, block * size))
    return {
      calls: (group, rank) => group.alltoall(inputs[rank]!, { algorithm }),
      expected: (rank) => inputs.flatMap((input) => [...input.subarray(rank * block, (rank + 1) * block)]),
    }
  },
}

const outcomesOf = async <T>(promises: readonly Promise<T>[]) =>
  (await Promise.allSettled(promises)).map((outcome) =>
    outcome.status === 'rejected' ? (outcome.reason as unknown) : undefined,
  )

describe.each(Object.keys(cases))('%s', (name) => {
  const seed = Math.floor(Math.random() * 2 ** 31)
  // Larger groups keep fewer links, which some algorithms with some roots cannot do with.
  const someSize = 10 + createPrng(seed).below(meshSize - 9)
  it.each([1, 2, 3, 4, 5, 6, 7, 8, 9, someSize])(
    `equals a plain loop with every algorithm and by itself, among %i (seed ${seed})`,
    async (size) => {
      const prng = createPrng(seed + size)
      const groups = await createMemoryGroup(size, { measure: false })
      for (const algorithm of ['auto', ...namesOf(name as Collective)])
        for (let round = 0; round < (size < 10 ? 3 : 1); round++) {
          const { calls, expected } = cases[name]!(size, algorithm, prng)
          const results = await Promise.all(groups.map(calls))
          for (const [rank, { data, report }] of results.entries()) {
            expect(data && [...data], `${algorithm}, rank ${rank}`).toEqual(expected(rank))
            if (algorithm !== 'auto') expect(report.algorithm).toBe(algorithm)
          }
        }
    },
  )

  it('runs what is predicted for it', async () => {
    const groups = await createMemoryGroup(5, { measure: false })
    for (const count of [5, 5000]) {
      const root = isRooted(name as Collective) ? { root: 3 } : {}
      const call = (group: Group) => {
        const data = new Int32Array(count)
        if (name === 'allgather' || name === 'alltoall' || name === 'reduceScatter') return group[name](data)
        return group[name as 'broadcast'](data, root)
      }
      const [{ report }] = (await Promise.all(groups.map(call))) as [Result<Int32Array>]
      const request = { collective: name as Collective, count, dtype: 'i32' as const, ...root }
      const { chosen } = groups[0]!.predict(request)
      expect(chosen).toMatchObject({ algorithm: report.algorithm, settings: report.settings })
      expect(chosen.seconds).toBe(report.predictedSeconds)
    }
  })

  it('ends with a PeerLostError on all others when a member is lost, unless they have their part', async () => {
    const size = 5
    const clock = new VirtualClock()
    const room = createMemoryRoom({ clock, measure: false, latency: 0.01 })
    const groups = Array.from({ length: size }, (_, rank) => room.join(`Rank ${rank}`))
    await inVirtualTime(clock, whenTogether(groups))
    // Rank 3 leaves without making the call: it is the root of those that have one.
    const calls = groups.map((group, rank) => {
      if (rank === 3) return group.leave()
      const data = new Int32Array(size).fill(rank)
      if (name === 'allgather' || name === 'alltoall' || name === 'reduceScatter') return group[name](data)
      return group[name as 'broadcast'](data, { root: 3 })
    })
    const errors = await inVirtualTime(clock, outcomesOf<unknown>(calls))
    const others = errors.filter((_, rank) => rank !== 3)
    if (name === 'reduce' || name === 'gather') {
      // Those who only send may have done so.
      for (const error of others) expect(error === undefined || error instanceof PeerLostError).toBe(true)
    } else for (const error of others) expect(error).toBeInstanceOf(PeerLostError)
    const next = groups.filter((_, rank) => rank !== 3).map((group) => group.allreduce(new Int32Array([1])))
    for (const { data } of await inVirtualTime(clock, Promise.all(next)))
      expect(data).toEqual(new Int32Array([4]))
  })
})

describe('a collective', () => {
  it('goes on among the survivors where the root of a broadcast is alive', async () => {
    const clock = new VirtualClock()
    const room = createMemoryRoom({ clock, measure: false, latency: 0.01 })
    const groups = Array.from({ length: 5 }, (_, rank) => room.join(`Rank ${rank}`))
    await inVirtualTime(clock, whenTogether(groups))
    const calls = groups.map((group, rank) =>
      rank === 0 ? group.leave() : group.broadcast(new Int32Array([rank]), { root: groups[3]!.peerId }),
    )
    const results = await inVirtualTime(clock, Promise.all<unknown>(calls))
    for (const result of results.slice(1)) expect(result).toMatchObject({ data: new Int32Array([3]) })
  })

  it('names the ranks that differ in root, counts or length', async () => {
    const groups = await createMemoryGroup(3, { measure: false })
    const differing: [string, (group: Group, rank: number) => Promise<unknown>][] = [
      ['layout', (group, rank) => group.broadcast(new Float32Array(4), { root: rank === 0 ? 1 : 2 })],
      ['layout', (group, rank) => group.gather(new Float32Array(4), { root: rank === 2 ? 1 : 0 })],
      ['count', (group, rank) => group.allgather(new Float32Array(rank))],
      [
        'collective',
        (group, rank) =>
          rank === 0 ? group.alltoall(new Float32Array(3)) : group.broadcast(new Float32Array(3)),
      ],
    ]
    for (const [field, call] of differing) {
      // A rank that only sends may be done before it can know.
      const errors = (await outcomesOf(groups.map(call))).filter((error) => error !== undefined)
      expect(errors).not.toEqual([])
      for (const error of errors) {
        expect(error).toBeInstanceOf(MismatchError)
        expect(error).toMatchObject({ field })
      }
    }
    const results = await Promise.all(groups.map((group) => group.allreduce(new Int32Array([1]))))
    expect(results.map(({ data }) => data[0])).toEqual([3, 3, 3])
  })

  it('refuses what does not fit the group, on all ranks, and goes on', async () => {
    const groups = await createMemoryGroup(3, { measure: false })
    const wrong: ((group: Group) => Promise<unknown>)[] = [
      (group) => group.broadcast(new Float32Array(1), { root: 3 }),
      (group) => group.broadcast(new Float32Array(1), { root: 'nobody' }),
      (group) => group.alltoall(new Float32Array(4)),
      (group) => group.reduceScatter(new Float32Array(4), { counts: [1, 2] }),
      (group) => group.reduceScatter(new Float32Array(4), { counts: [1, 1, 1] }),
      (group) => group.allgather(new Float32Array(4), { counts: [-4, 4, 4] }),
      (group) => group.broadcast(new Float32Array(2), { into: new Float32Array(3) }),
    ]
    for (const call of wrong)
      for (const error of await outcomesOf(groups.map(call))) expect(error).toBeInstanceOf(ArgumentError)
    const results = await Promise.all(groups.map((group) => group.reduceScatter(new Int32Array([1, 2, 3]))))
    expect(results.map(({ data }) => data[0])).toEqual([3, 6, 9])
  })

  it('leaves its input alone and writes to `into`', async () => {
    const groups = await createMemoryGroup(3, { measure: false })
    const inputs = groups.map((_, rank) => new Float64Array([rank, rank, rank]))
    const targets = groups.map(() => new Float64Array(3))
    const results = await Promise.all(
      groups.map((group, rank) => group.alltoall(inputs[rank]!, { into: targets[rank]! })),
    )
    for (const [rank, { data }] of results.entries()) {
      expect(data).toBe(targets[rank])
      expect([...data]).toEqual([0, 1, 2])
      expect([...inputs[rank]!]).toEqual([rank, rank, rank])
    }
  })

  it('runs beside others in flight, in the order of the calls', async () => {
    const groups = await createMemoryGroup(5)
    const results = await Promise.all(
      groups.map((group, rank) =>
        Promise.all([
          group.allreduce(new Int32Array([rank])),
          group.broadcast(new Int32Array([rank]), { root: 4 }),
          group.barrier(),
          group.alltoall(new Int32Array(5).fill(rank)),
          group.reduceScatter(new Int32Array([1, 2, 3, 4, 5]), { op: 'max' }),
          group.allgather(new Uint8Array([rank])),
        ]),
      ),
    )
    for (const [rank, [sum, sent, , blocks, part, all]] of results.entries()) {
      expect([...sum.data]).toEqual([10])
      expect([...sent.data]).toEqual([4])
      expect([...blocks.data]).toEqual([0, 1, 2, 3, 4])
      expect([...part.data]).toEqual([rank + 1])
      expect([...all.data]).toEqual([0, 1, 2, 3, 4])
    }
  })

  it('folds in the order of the ranks where order matters', async () => {
    const groups = await createMemoryGroup(6, { measure: false })
    // Affine maps x -> a x + b as pairs, one after the other: left, then right.
    const then: SegmentFold<Float64Array> = {
      name: 'then',
      record: 2,
      combineInto(into, from) {
        for (let i = 0; i < into.length; i += 2) {
          const [a, b, c, d] = [into[i]!, into[i + 1]!, from[i]!, from[i + 1]!]
          into[i] = a * c
          into[i + 1] = b * c + d
        }
      },
    }
    const maps = groups.map((_, rank) => Float64Array.from({ length: 14 }, (_, i) => (i % 2 ? rank : 2)))
    const whole = [64, maps.reduce((value, map) => 2 * value + map[1]!, 0)]
    const reduced = await Promise.all(
      groups.map((group, rank) => group.reduce(maps[rank]!, { op: then, root: 2 })),
    )
    expect([...reduced[2]!.data!]).toEqual(Array.from({ length: 7 }, () => whole).flat())
    const parts = await Promise.all(
      groups.map((group, rank) => group.reduceScatter(maps[rank]!, { op: then })),
    )
    expect(parts.flatMap(({ data }) => [...data])).toEqual(Array.from({ length: 7 }, () => whole).flat())
  })
})

/** The largest error of one rounding by each wire, of numbers up to 1000. */
const roundings = { f16: 0.5, bf16: 4, q8: 4, f32: 1e-4 }

describe.each(Object.keys(roundings) as (keyof typeof roundings)[])('sent as %s', (wire) => {
  it.each([1, 2, 3, 5, 8])(
    'every collective has the same bits everywhere, near a plain loop, among %i',
    async (size) => {
      const groups = await createMemoryGroup(size, { measure: false })
      const prng = createPrng(size)
      const numbers = (length: number) =>
        Float64Array.from({ length }, () => prng.below(2_000_000) / 1000 - 1000)
      const inputs = groups.map(() => numbers(128 * size))
      const before = inputs.map((input) => input.slice())
      const root = size - 1
      const sum = Array.from(inputs[0]!, (_, i) => inputs.reduce((total, input) => total + input[i]!, 0))
      const own = (rank: number) => [128 * rank, 128 * (rank + 1)] as const
      const cases: [
        string,
        (group: Group, rank: number) => Promise<Result<Float64Array | undefined>>,
        (rank: number) => readonly number[] | undefined,
      ][] = [
        [
          'broadcast',
          (group, rank) => group.broadcast(inputs[rank]!.subarray(0, 70), { root, wire }),
          () => [...inputs[root]!.subarray(0, 70)],
        ],
        [
          'reduce',
          (group, rank) => group.reduce(inputs[rank]!.subarray(0, 70), { root, wire }),
          (rank) => (rank === root ? sum.slice(0, 70) : undefined),
        ],
        [
          'reduceScatter',
          (group, rank) => group.reduceScatter(inputs[rank]!, { wire }),
          (rank) => sum.slice(...own(rank)),
        ],
        [
          'allgather',
          (group, rank) => group.allgather(inputs[rank]!.subarray(...own(rank)), { wire }),
          () => inputs.flatMap((input, rank) => [...input.subarray(...own(rank))]),
        ],
        [
          'gather',
          (group, rank) => group.gather(inputs[rank]!.subarray(...own(rank)), { root, wire }),
          (rank) =>
            rank === root ? inputs.flatMap((input, from) => [...input.subarray(...own(from))]) : undefined,
        ],
        [
          'scatter',
          (group, rank) => group.scatter(inputs[rank]!, { root, wire }),
          (rank) => [...inputs[root]!.subarray(...own(rank))],
        ],
        [
          'alltoall',
          (group, rank) => group.alltoall(inputs[rank]!, { wire }),
          (rank) => inputs.flatMap((input) => [...input.subarray(...own(rank))]),
        ],
      ]
      for (const [name, call, expected] of cases) {
        const results = await Promise.all(groups.map(call))
        for (const [rank, { data, report }] of results.entries()) {
          const wanted = expected(rank)
          expect(data?.length, `${name}, rank ${rank}`).toBe(wanted?.length)
          // Of P values and of the sums on the way.
          const bound = roundings[wire] * (name.startsWith('reduce') ? 3 * size * size : 1)
          for (const [i, value] of (wanted ?? []).entries())
            expect(Math.abs(data![i]! - value), `${name}, rank ${rank}`).toBeLessThan(bound)
          expect(report.identical).toBe(true)
          if (size > 1 && report.bytesSent > 4000)
            expect(report.bytesSent).toBeLessThan(0.6 * 8 * 128 * size * size)
        }
        if (name === 'broadcast' || name === 'allgather')
          for (const { data } of results) expect(data).toEqual(results[0]!.data)
      }
      expect(inputs).toEqual(before)
    },
  )
})

describe('fewer bits', () => {
  it('with feedback add up no errors over a series of reduceScatters', async () => {
    const groups = await createMemoryGroup(4, { measure: false })
    const handles = groups.map(() => createFeedback())
    let total = 0
    for (let round = 0; round < 100; round++) {
      const [first] = await Promise.all(
        groups.map((group, rank) =>
          group.reduceScatter(new Float32Array(256).fill(1).fill(0.0123, 0, 1), {
            wire: 'q8',
            feedback: handles[rank]!,
          }),
        ),
      )
      total += first!.data[0]!
    }
    expect(Math.abs(total - 100 * 4 * 0.0123)).toBeLessThan(0.1)
  })

  it('are refused where they cannot be, on all ranks, and the next call is right', async () => {
    const groups = await createMemoryGroup(3, { measure: false })
    const wrong: [string, (group: Group) => Promise<unknown>][] = [
      ['wire', (group) => group.allgather(new Float32Array(70), { wire: 'q8' })],
      ['wire', (group) => group.scatter(new Float32Array(192), { wire: 'q8', counts: [64, 32, 96] })],
      ['wire', (group) => group.alltoall(new Float32Array(96), { wire: 'q8' })],
      ['feedback', (group) => group.reduce(new Float32Array(96), { feedback: createFeedback() })],
    ]
    for (const [argument, call] of wrong)
      for (const error of await outcomesOf(groups.map(call)))
        expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', argument })
    const unsupported: ((group: Group) => Promise<unknown>)[] = [
      (group) => group.broadcast(new Int32Array(1), { wire: 'f16' }),
      (group) => group.reduce(new Float32Array(1), { wire: 'q8', op: 'max' }),
      (group) => group.allgather(new Float32Array(64), { wire: 'q8', feedback: createFeedback() } as object),
    ]
    for (const call of unsupported)
      for (const error of await outcomesOf(groups.map(call)))
        expect(error).toMatchObject({ code: 'UNSUPPORTED' })
    const results = await Promise.all(groups.map((group) => group.allgather(new Int32Array([1]))))
    expect(results.map(({ data }) => data.length)).toEqual([3, 3, 3])
  })
})

describe('aborting', () => {
  const calls: Record<
    string,
    (group: Group, data: Float32Array, options: CollectiveOptions) => Promise<unknown>
  > = {
    allreduce: (group, data, options) => group.allreduce(data, options),
    broadcast: (group, data, options) => group.broadcast(data, { ...options, root: 1 }),
    reduce: (group, data, options) => group.reduce(data, { ...options, root: 1 }),
    reduceScatter: (group, data, options) => group.reduceScatter(data, options),
    allgather: (group, data, options) => group.allgather(data, options),
    gather: (group, data, options) => group.gather(data, { ...options, root: 1 }),
    scatter: (group, data, options) => group.scatter(data, { ...options, root: 1 }),
    alltoall: (group, data, options) => group.alltoall(data, options),
    barrier: (group, _, options) => group.barrier(options),
  }
  it.each(Object.entries(calls))(
    '%s ends it within 250 ms on all ranks that had not ended, and the next call is right',
    async (name, call) => {
      const size = 5
      const clock = new VirtualClock()
      // A megabyte takes a second, and no part fits the window of a link.
      const data = new Float32Array(2_000_000)
      const room = createMemoryRoom({ clock, latency: 0.02, bandwidth: 1e6 })
      const groups = Array.from({ length: size }, (_, rank) => room.join(`Rank ${rank}`))
      await inVirtualTime(clock, whenTogether(groups))
      // What is on the way goes before the word that it is in vain: the measured links have windows that fit them.
      await inVirtualTime(clock, Promise.all(groups.map((group) => group.barrier())))
      const stop = new AbortController()
      const begun = clock.now()
      const endedAt: number[] = []
      // Rank 4 never calls: nobody can have everything.
      const running = groups.slice(0, 4).map((group, rank) =>
        call(group, data, rank === 1 ? { signal: stop.signal } : {}).finally(() => {
          endedAt[rank] = clock.now()
        }),
      )
      clock.after(0.3, () => stop.abort())
      const errors = await inVirtualTime(clock, outcomesOf(running))
      expect(errors[1]).toBeInstanceOf(AbortedError)
      for (const [rank, error] of errors.entries()) {
        // Those who only send may have done so.
        if (error === undefined) continue
        expect(error, name).toBeInstanceOf(AbortedError)
        expect(endedAt[rank]! - begun - 0.3).toBeLessThanOrEqual(0.25)
      }
      const late = outcomesOf([call(groups[4]!, data, {})])
      // It may have had all that it needs before.
      for (const error of await inVirtualTime(clock, late))
        expect(error === undefined || error instanceof AbortedError).toBe(true)
      const next = groups.map((group) => group.allreduce(new Int32Array([1])))
      for (const { data } of await inVirtualTime(clock, Promise.all(next))) expect(data[0]).toBe(size)
    },
  )
})
