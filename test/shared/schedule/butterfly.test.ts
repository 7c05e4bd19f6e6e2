import { describe, expect, test } from 'vitest'
import { buildPart, buildSchedule, completeSettings } from '../../../shared/schedule/build.ts'
import { countRank, countSchedule } from '../../../shared/schedule/counts.ts'
import { ceilLog2, range } from '../../../shared/schedule/declare.ts'
import { findAlgorithm } from '../../../shared/schedule/registry.ts'
import type { Counts, Schedule, Settings } from '../../../shared/schedule/types.ts'
import { verifySchedule } from '../../../shared/schedule/verify.ts'

function schedule(name: string, size: number, settings: Settings = {}): Schedule {
  return buildSchedule(findAlgorithm(name, 'allreduce'), size, settings)
}

function counts(name: string, size: number, settings: Settings = {}): Counts {
  return countSchedule(schedule(name, size, settings))
}

/** Counts from rank 0 alone: in a family of translations all ranks do the same. */
function countsOfOne(name: string, size: number, settings: Settings) {
  const algorithm = findAlgorithm(name, 'allreduce')
  const complete = completeSettings(algorithm, size, settings)
  const shape = algorithm.shape(size, complete)
  const part = algorithm.part(size, complete, 0)
  return { part, steps: shape.steps, chunksSent: countRank(shape, part).chunksSent }
}

/** Chunks that rank 0 sends in each step. */
function profile({ ranks }: Schedule): number[] {
  return ranks[0]!.steps.map(({ sends }) => sends.reduce((sum, { slots }) => sum + slots.length, 0))
}

/** Who sends which chunks to whom, step by step. */
function traffic({ ranks, steps }: Schedule): string[][] {
  return range(0, steps).map((step) =>
    ranks.flatMap(({ rank, slots, steps }) =>
      steps[step]!.sends.map(({ to, slots: sent }) => {
        const chunks = sent.map((slot) => slots[slot]!).sort((a, b) => a - b)
        return `${rank}>${to}:${chunks.join()}`
      }),
    ),
  )
}

const sizes = range(2, 65)

describe('the generalized butterfly on the cyclic group', () => {
  test('P = 7 sends 12, 14, 18, 21 chunks in 6, 5, 4, 3 steps', () => {
    const all = [0, 1, 2, 3].map((r) => counts('butterfly', 7, { r }))
    expect(all.map((count) => count.chunksSentPerRank)).toEqual([12, 14, 18, 21])
    expect(all.map((count) => count.steps)).toEqual([6, 5, 4, 3])
    expect(all.map((count) => count.chunkCombinesPerRank)).toEqual([6, 10, 18, 28])
  })

  test('sends 2(P-1) + (M-1)(L-1) chunks, L P at r = L, and combines no more than the paper says', () => {
    for (const size of sizes) {
      const L = ceilLog2(size)
      for (const r of range(0, L + 1)) {
        const { steps, chunksSentPerRank, chunkCombinesPerRank } = counts('butterfly', size, { r })
        const name = `P=${size} r=${r}`
        const copies = Math.ceil(size / 2 ** (L - r))
        expect(steps, name).toBe(2 * L - r)
        expect(chunksSentPerRank, name).toBe(r < L ? 2 * (size - 1) + (copies - 1) * (L - 1) : L * size)
        // (36) and (44); for P = 2 the gamma term of (44) is m, not (2L - 2) m = 0.
        const bound = r < L ? size - 1 + (2 ** r - 1) * (2 * L - 2) : Math.max(1, 2 * L - 2) * size
        expect(chunkCombinesPerRank, name).toBeLessThanOrEqual(bound)
        if (r === 0) expect(chunkCombinesPerRank, name).toBe(size - 1)
      }
    }
  })

  test('M copies, not 2^r: P = 33 at r = 5 sends 144 chunks where (36) has 219', () => {
    expect(counts('butterfly', 33, { r: 5 }).chunksSentPerRank).toBe(144)
  })

  test('sends one range of chunks per message, counted round the end', () => {
    for (const size of [5, 7, 12, 16, 31])
      for (const r of range(0, ceilLog2(size) + 1))
        for (const { slots, steps } of schedule('butterfly', size, { r }).ranks)
          for (const { sends } of steps)
            for (const send of sends)
              expect(send.slots.map((slot) => slots[slot])).toEqual(
                send.slots.map((_, at) => (slots[send.slots[0]!]! + at) % size),
              )
  })
})

describe('special cases', () => {
  const powers = [2, 4, 8, 16, 32, 64]
  /** Bits of the ranks, lowest first. */
  const bits = (size: number) => range(0, ceilLog2(size))

  test('XOR at r = 0 is recursive halving, then doubling: pairs exchange the halves that the other one keeps', () => {
    for (const size of powers) {
      const chunks = range(0, size)
      const exchange = (keeps: (rank: number, chunk: number) => boolean, bit: number, give: boolean) =>
        chunks.map((rank) => {
          const peer = rank ^ (1 << bit)
          return `${rank}>${peer}:${chunks.filter((chunk) => keeps(give ? peer : rank, chunk)).join()}`
        })
      // After the step of bit b a rank keeps the chunks whose bits 0 .. b are its own.
      const keeps = (bit: number) => (rank: number, chunk: number) => (rank ^ chunk) % (2 << bit) === 0
      const halving = bits(size).map((bit) => exchange(keeps(bit), bit, true))
      const doubling = bits(size).map((bit) => exchange(keeps(bit), bit, false))
      expect(traffic(schedule('butterfly', size, { group: 'xor' }))).toEqual([
        ...halving,
        ...doubling.reverse(),
      ])
    }
  })

  test('XOR at r = L is recursive doubling: pairs exchange everything', () => {
    for (const size of powers) {
      const chunks = range(0, size)
      const doubling = bits(size).map((bit) =>
        chunks.map((rank) => `${rank}>${rank ^ (1 << bit)}:${chunks.join()}`),
      )
      const latency = schedule('butterfly', size, { group: 'xor', r: ceilLog2(size) })
      expect(traffic(latency)).toEqual(doubling)
      expect(countSchedule(latency).chunkCombinesPerRank).toBe(size * ceilLog2(size))
    }
  })

  test('XOR at any r, and a subgroup of order 2^r, are the classic hybrid: 2(P - 2^r) + r 2^r chunks', () => {
    for (const size of powers)
      for (const r of range(0, ceilLog2(size) + 1)) {
        const expected = 2 * (size - 2 ** r) + r * 2 ** r
        expect(countsOfOne('butterfly', size, { group: 'xor', r }).chunksSent).toBe(expected)
        expect(countsOfOne('subgroup', size, { order: 2 ** r }).chunksSent).toBe(expected)
      }
  })

  test('the ring is window 1: one chunk on to the same neighbour, 2(P-1) times', () => {
    for (const size of [...range(2, 25), 33, 64]) {
      const ring = schedule('ring', size)
      expect(JSON.stringify(ring.ranks)).toBe(JSON.stringify(schedule('window', size, { window: 1 }).ranks))
      const pass = (step: number) =>
        range(0, size).map((rank) => `${rank}>${(rank + size - 1) % size}:${(rank + step) % size}`)
      const steps = [...range(1, size), ...range(0, size - 1)].map(pass)
      expect(JSON.stringify(traffic(ring))).toBe(JSON.stringify(steps))
      expect(countSchedule(ring)).toEqual({
        steps: 2 * (size - 1),
        chunksSentPerRank: 2 * (size - 1),
        chunkCombinesPerRank: size - 1,
        peersPerRank: size === 2 ? 1 : 2,
      })
    }
  })

  test('window P/2 is the butterfly at r = 0, its distribution turned to the same direction', () => {
    for (const size of sizes) {
      const window = schedule('window', size, { window: size >> 1 })
      const butterfly = schedule('butterfly', size)
      const half = butterfly.steps / 2
      expect(traffic(window).slice(0, half)).toEqual(traffic(butterfly).slice(0, half))
      expect(profile(window)).toEqual(profile(butterfly))
    }
  })

  test('NB, NHR and the allreduce of Bruck and Ho take the steps and bytes of r = 0', () => {
    for (const size of sizes) {
      const butterfly = schedule('butterfly', size)
      const expected = countSchedule(butterfly)
      for (const name of ['nb', 'nhr']) {
        const named = schedule(name, size)
        const { steps, chunksSentPerRank, chunkCombinesPerRank } = countSchedule(named)
        expect({ ...expected, steps, chunksSentPerRank, chunkCombinesPerRank }).toEqual(expected)
        expect(profile(named)).toEqual(profile(butterfly))
      }
      // Bruck and Ho: the Bruck allgather, and the same backwards as the reduction.
      const bruck = countSchedule(buildSchedule(findAlgorithm('bruck', 'allgather'), size, { ports: 1 }))
      expect([2 * bruck.steps, 2 * bruck.chunksSentPerRank]).toEqual([
        expected.steps,
        expected.chunksSentPerRank,
      ])
    }
  })

  test('NB sends floor((P - 1 + 2^i) / 2^(i+1)) chunks over distance 2^i', () => {
    for (const size of sizes) {
      const L = ceilLog2(size)
      const { ranks } = schedule('nb', size)
      for (const i of range(0, L)) {
        const [send] = ranks[0]!.steps[i]!.sends
        expect(send?.slots.length).toBe(Math.floor((size - 1 + 2 ** i) / 2 ** (i + 1)))
        expect(send?.to).toBe((size - 2 ** i) % size)
      }
    }
  })

  test('one-shot and two-shot mesh are k = P - 1 with r = 1 and r = 0', () => {
    const ranks = (name: string, size: number, settings: Settings = {}) =>
      JSON.stringify(schedule(name, size, settings).ranks)
    for (const size of [...range(2, 18), 33]) {
      const mesh = { ports: size - 1, group: 'cyclic' }
      // The chunks of r = 1 always travel together: the one-shot mesh calls them one.
      const [oneShot, together] = [schedule('one-shot', size), schedule('ports', size, { ...mesh, r: 1 })]
      const pairs = (all: Schedule) =>
        traffic(all).map((step) => step.map((one) => one.split(':')[0]!).sort())
      expect(pairs(oneShot)).toEqual(pairs(together))
      expect(oneShot.chunks).toBe(1)
      expect(Math.max(...oneShot.ranks.map(({ slots }) => slots.length))).toBeLessThanOrEqual(size)
      expect(ranks('two-shot', size)).toBe(ranks('ports', size, { ...mesh, r: 0 }))
      for (const name of ['one-shot', 'two-shot'])
        expect(verifySchedule(schedule(name, size))).toMatchObject({ identical: true, rankFold: true })
    }
  })

  test('k = 1 is the butterfly', () => {
    for (const size of [2, 3, 7, 8, 12, 13])
      for (const r of range(0, ceilLog2(size) + 1))
        expect(schedule('ports', size, { ports: 1, r }).ranks).toEqual(
          schedule('butterfly', size, { r }).ranks,
        )
  })
})

describe('other members', () => {
  test('k ports: 2 ceil(log_{k+1} P) - r steps; 2(P-1) chunks at r = 0, in messages as even as can be', () => {
    for (const size of sizes)
      for (const ports of [2, 3, 5, 8]) {
        if (ports >= size) continue
        let stages = 0
        for (let left = size; left > 1; left = Math.ceil(left / (ports + 1))) stages++
        const { part, steps, chunksSent } = countsOfOne('ports', size, { ports, r: 0 })
        expect([steps, chunksSent]).toEqual([2 * stages, 2 * (size - 1)])
        expect(countsOfOne('ports', size, { ports, r: 1 }).steps).toBe(2 * stages - 1)
        for (const { sends } of part.steps) {
          const sent = sends.map(({ slots }) => slots.length)
          expect(sent.length).toBeLessThanOrEqual(ports)
          expect(Math.max(...sent) - Math.min(...sent)).toBeLessThanOrEqual(1)
        }
      }
  })

  test('windows: a + ceil(log2(P - a w)) steps per phase, no message above w chunks', () => {
    const window = findAlgorithm('window', 'allreduce')
    for (const size of sizes)
      for (const w of range(1, (size >> 1) + 1)) {
        const { steps } = window.shape(size, { window: w })
        const sent = window.part(size, { window: w }, 0).steps.map(({ sends }) => sends[0]!.slots.length)
        let full = 0
        let left = size
        for (; left >= 2 * w && left > 1; left -= w) full++
        expect(steps, `P=${size} w=${w}`).toBe(2 * (full + ceilLog2(left)))
        expect(Math.max(...sent)).toBeLessThanOrEqual(w)
        expect(sent.reduce((a, b) => a + b)).toBe(2 * (size - 1))
      }
  })

  test('subgroup: 2 ceil(log2 P/d) + ceil(log2 d) steps; d = 2 removes a step at no cost', () => {
    for (const size of sizes)
      for (const order of range(1, size + 1).filter((d) => size % d === 0)) {
        const { steps, chunksSent } = countsOfOne('subgroup', size, { order })
        const outer = ceilLog2(size / order)
        const inner = ceilLog2(order)
        expect(steps).toBe(2 * outer + inner)
        expect(chunksSent).toBe(2 * (size - order) + order * inner)
        if (order === 2 && size > 2) expect(chunksSent).toBe(countsOfOne('butterfly', size, {}).chunksSent)
      }
  })

  test('segmented ring: 2(P-1) + S - 1 steps, the bytes of the ring', () => {
    for (const size of [2, 3, 7, 8, 16])
      for (const segments of [2, 4, 8, 16]) {
        const all = schedule('segmented-ring', size, { segments })
        const { steps, chunksSentPerRank, peersPerRank } = countSchedule(all)
        expect(steps).toBe(2 * (size - 1) + segments - 1)
        expect(chunksSentPerRank / segments).toBe(2 * (size - 1))
        expect(peersPerRank).toBe(size === 2 ? 1 : 2)
      }
  })

  /** Ranges of consecutive chunks in a message, counted round the end of the vector. */
  const rangesOf = ({ ranks, chunks }: Schedule) =>
    ranks.flatMap(({ slots, steps }) =>
      steps.map(({ sends }) => {
        const sent = new Set(sends[0]!.slots.map((slot) => slots[slot]!))
        return [...sent].filter((chunk) => !sent.has((chunk + 1) % chunks)).length
      }),
    )

  test('NHR: one range of chunks per message for P = 2^k; the first message one for every P; never more than NB', () => {
    for (const size of range(3, 65)) {
      const nhr = schedule('nhr', size)
      const all = rangesOf(nhr)
      if (Number.isInteger(Math.log2(size))) expect(Math.max(...all), `P=${size}`).toBe(1)
      const firstStep = nhr.ranks.map((part) => ({ ...part, steps: part.steps.slice(0, 1) }))
      expect(Math.max(...rangesOf({ ...nhr, ranks: firstStep })), `P=${size}`).toBe(1)
      const sum = (numbers: number[]) => numbers.reduce((a, b) => a + b)
      expect(sum(all), `P=${size}`).toBeLessThanOrEqual(sum(rangesOf(schedule('nb', size))))
    }
  })
})

test('where bits are the same on all ranks', () => {
  const identical = (name: string, size: number, settings: Settings) =>
    findAlgorithm(name, 'allreduce').identical(size, settings)
  for (const size of sizes) {
    const isPower = Number.isInteger(Math.log2(size))
    for (const r of range(1, ceilLog2(size) + 1))
      expect(identical('butterfly', size, { r, group: 'cyclic' }), `P=${size} r=${r}`).toBe(isPower)
    if (size % 2 === 0) expect(identical('subgroup', size, { order: 2 })).toBe(true)
  }
  expect(identical('butterfly', 12, { r: 2, group: '4x3' })).toBe(true)
  expect(identical('butterfly', 12, { r: 1, group: '3x4' })).toBe(false)
  expect(identical('subgroup', 12, { order: 4 })).toBe(true)
  expect(identical('subgroup', 12, { order: 3 })).toBe(false)
})

test('the family says exactly where operands stand in rank order', () => {
  for (const name of ['butterfly', 'subgroup', 'ports', 'window', 'nb'])
    for (const size of range(1, 17)) {
      const algorithm = findAlgorithm(name, 'allreduce')
      for (const settings of algorithm.variants(size)) {
        const { ordered } = verifySchedule(buildSchedule(algorithm, size, settings))
        expect(ordered, `${name} ${JSON.stringify(settings)} P=${size}`).toBe(
          algorithm.ordered(size, settings),
        )
      }
    }
})

/** Processor seconds of the fastest of some runs: other programs on the machine do not count. */
function fastest(runs: number, run: () => void): number {
  let least = Number.POSITIVE_INFINITY
  for (let i = 0; i < runs; i++) {
    const before = process.cpuUsage()
    run()
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, (user + system) / 1e6)
  }
  return least
}

test('one rank of 10 000 is made in under 5 ms', () => {
  const butterfly = findAlgorithm('butterfly', 'allreduce')
  expect(fastest(60, () => buildPart(butterfly, 10_000, { r: 0 }, 4321))).toBeLessThan(0.005)
})

test('1024 ranks are proved in under 2 s', () => {
  const all = schedule('butterfly', 1024)
  expect(fastest(3, () => verifySchedule(all))).toBeLessThan(2)
})
