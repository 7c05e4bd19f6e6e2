/** The one suite that a group passes wherever its links are and its ops run: every collective, by value, small and in many segments. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MismatchError, NonFiniteError } from '../../shared/base/errors.ts'
import type { Group, Result } from '../../shared/collective/types.ts'

interface Room {
  /** In rank order, three or more. */
  readonly groups: readonly Group[]
  close(): Promise<void>
}

/** Less than a segment, and more than one to each rank. */
const lengths = [3, 20_000]

/** Quicker than toEqual by far. */
function expectSame(found: Float32Array | undefined, expected: Float32Array | undefined): void {
  expect(found?.length).toBe(expected?.length)
  const wrong = expected?.findIndex((value, i) => value !== found![i]) ?? -1
  if (wrong >= 0) expect({ at: wrong, value: found![wrong] }).toEqual({ at: wrong, value: expected![wrong] })
}

export function describeCollectives(name: string, open: () => Promise<Room>): void {
  describe(`collectives: ${name}`, () => {
    let room: Room
    let groups: readonly Group[]
    beforeAll(async () => {
      room = await open()
      groups = room.groups
    })
    afterAll(() => room.close())

    const each = <T>(call: (group: Group, rank: number) => Promise<T>) => Promise.all(groups.map(call))
    /** Elements that tell rank and place; small enough that sums are exact in f32. */
    const values = (rank: number, length: number) =>
      Float32Array.from({ length }, (_, i) => ((i * 7 + rank * 31) % 1000) - 500)
    const sumOf = (length: number) => {
      const sum = new Float32Array(length)
      for (const rank of groups.keys())
        for (const [i, value] of values(rank, length).entries()) sum[i]! += value
      return sum
    }
    const concat = (length: number, of: (rank: number) => Float32Array) => {
      const all = new Float32Array(length * groups.length)
      for (const rank of groups.keys()) all.set(of(rank), rank * length)
      return all
    }

    /** The result is right, is `into` where that is given, and no input was touched. */
    const check = async (
      inputOf: (rank: number) => Float32Array,
      call: (
        group: Group,
        data: Float32Array,
        into: { into?: Float32Array },
      ) => Promise<Result<Float32Array | undefined>>,
      expected: (rank: number) => Float32Array | undefined,
    ) => {
      const inputs = groups.map((_, rank) => inputOf(rank))
      const targets = groups.map((_, rank) => (rank === 1 ? expected(rank)?.slice().fill(0) : undefined))
      const results = await each((group, rank) =>
        call(group, inputs[rank]!, targets[rank] ? { into: targets[rank] } : {}),
      )
      for (const [rank, { data, report }] of results.entries()) {
        expectSame(data, expected(rank))
        if (targets[rank]) expect(data).toBe(targets[rank])
        expectSame(inputs[rank], inputOf(rank))
        expect(report.contributors).toHaveLength(groups.length)
        expect(report.bytesSent + report.bytesReceived).toBeGreaterThan(0)
      }
    }

    for (const length of lengths) {
      const own = (rank: number) => values(rank, length)
      const wide = (rank: number) => values(rank, length * groups.length)
      const partOf = (all: Float32Array, rank: number) => all.subarray(rank * length, (rank + 1) * length)

      it(`of ${length} elements a rank are those of a plain loop`, async () => {
        const size = groups.length
        const root = size - 1
        await check(
          own,
          (group, data, into) => group.allreduce(data, into),
          () => sumOf(length),
        )
        await check(
          own,
          (group, data, into) => group.broadcast(data, { root, ...into }),
          () => own(root),
        )
        await check(
          own,
          (group, data, into) => group.reduce(data, { root: 1, ...into }),
          (rank) => (rank === 1 ? sumOf(length) : undefined),
        )
        await check(
          wide,
          (group, data, into) => group.reduceScatter(data, into),
          (rank) => partOf(sumOf(length * size), rank),
        )
        await check(
          own,
          (group, data, into) => group.allgather(data, into),
          () => concat(length, own),
        )
        await check(
          own,
          (group, data, into) => group.gather(data, { root: 1, ...into }),
          (rank) => (rank === 1 ? concat(length, own) : undefined),
        )
        await check(
          wide,
          (group, data, into) => group.scatter(data, { root, ...into }),
          (rank) => partOf(wide(root), rank),
        )
        await check(
          wide,
          (group, data, into) => group.alltoall(data, into),
          (rank) => concat(length, (from) => partOf(wide(from), rank)),
        )
        await each((group) => group.barrier())
      })
    }

    it('take parts of unlike lengths, fewer bits and weights', async () => {
      const counts = groups.map((_, rank) => 2000 * rank)
      const all = await each((group, rank) =>
        group.allgather(new Int16Array(counts[rank]!).fill(rank), { counts }),
      )
      for (const { data } of all)
        expect(data).toEqual(Int16Array.from(counts.flatMap((count, rank) => Array(count).fill(rank))))
      const told = await each((group, rank) => group.broadcast(values(rank, 2000), { root: 1, wire: 'f16' }))
      for (const { data } of told) expectSame(data, values(1, 2000))
      const means = await each((group, rank) => group.allreduce(Float64Array.of(rank), { weight: rank }))
      const total = groups.reduce((sum, _, rank) => sum + rank, 0)
      const mean = groups.reduce((sum, _, rank) => sum + rank * rank, 0) / total
      for (const { data } of means) expect(data[0]).toBeCloseTo(mean, 12)
    })

    it('run beside each other in the order of the calls', async () => {
      const results = await each((group, rank) =>
        Promise.all([
          group.allreduce(values(rank, 60_000)),
          group.broadcast(Int32Array.of(rank), { root: 1 }),
          group.reduceScatter(new BigInt64Array(groups.length).fill(BigInt(rank)), { op: 'max' }),
          group.allreduce(Float32Array.of(rank), { op: 'min' }),
        ]),
      )
      for (const [sum, told, part, least] of results) {
        expectSame(sum.data, sumOf(60_000))
        expect([told.data[0], part.data[0], least.data[0]]).toEqual([1, BigInt(groups.length - 1), 0])
      }
    })

    it('end with the same typed errors on all ranks, and the next one is right', async () => {
      const errorsOf = async (call: (group: Group, rank: number) => Promise<unknown>) =>
        (await Promise.allSettled(groups.map(call))).map((end) =>
          end.status === 'rejected' ? (end.reason as unknown) : end.value,
        )
      const unlike = await errorsOf((group, rank) => group.allreduce(new Float32Array(4 + rank)))
      for (const error of unlike) expect(error).toBeInstanceOf(MismatchError)
      const bad = await errorsOf((group, rank) =>
        group.allreduce(Float32Array.of(rank === 1 ? Number.NaN : 1), { nonFinite: 'error' }),
      )
      for (const error of bad) {
        expect(error).toBeInstanceOf(NonFiniteError)
        expect(error).toMatchObject({ peers: [{ rank: 1 }], byRank: { 1: 1 } })
      }
      const sums = await each((group) => group.allreduce(Int32Array.of(1)))
      expect(sums.map(({ data }) => data[0])).toEqual(groups.map(() => groups.length))
    })
  })
}
