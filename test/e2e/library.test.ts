/**
 * The library in real tabs: every r and the ring, each with 1 MiB and 425 bytes, exact on whole numbers and within the
 * rounding bound of a float64 reference on others, for P = 1, 2, 3, 5, 7, 8. The reference is this test's own.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import type { join } from '../../client/index.ts'
import { openHouse } from '../support/house.ts'
import { bundleLibrary } from '../support/library.ts'
import type { Tab } from '../support/pages.ts'

declare const papilio: { join: typeof join }

interface Case {
  algorithm: string
  r?: number
  count: number
  kind: 'whole' | 'real'
}

interface Outcome {
  wrong: number
  hash: string
  steps: number
  identical: boolean
  contributors: number
  seconds: number
}

const sizes = [1, 2, 3, 5, 7, 8]
const house = openHouse({ browser: 'file' })
/** The groups of all sizes meet in the same tabs, one after the other. */
let tabs: Tab[] = []

beforeAll(async () => {
  await house.tabs.addScript(await bundleLibrary())
  tabs = await Promise.all(Array.from({ length: Math.max(...sizes) }, () => house.tabs.openBlank()))
})

/** Runs in the tab: joins, makes all calls, and checks each result element by element. */
async function member({
  room,
  size,
  cases,
}: {
  room: string
  size: number
  cases: Case[]
}): Promise<Outcome[]> {
  const scales = [1, 10, 100, 1e3, 1e4, 1e5, 1e6]
  const value = (kind: string, rank: number, i: number) => {
    if (kind === 'whole') return ((rank + 3) * (i + 7)) % 1009
    const noise = Math.imul(i + 1, 2654435761) ^ Math.imul(rank + 1, 40503)
    return Math.fround((noise / 2 ** 31) * scales[(i + rank) % 7]!)
  }
  /** Sum, and how far a float32 sum in any order may be from it: Higham 2002, eq. 4.4. */
  const references = new Map<string, { sum: Float64Array; bound: Float64Array }>()
  /** A peer whose thread is busy for seconds counts as lost: long loops let messages in. */
  const breathe = () => new Promise((resolve) => setTimeout(resolve))
  const referenceOf = async (kind: string, count: number) => {
    const known = references.get(`${kind} ${count}`)
    if (known) return known
    const sum = new Float64Array(count)
    const bound = new Float64Array(count)
    const unit = 2 ** -24
    const gamma = kind === 'whole' ? 0 : ((size - 1) * unit) / (1 - (size - 1) * unit)
    for (let rank = 0; rank < size; rank++) {
      await breathe()
      for (let i = 0; i < count; i++) {
        const x = value(kind, rank, i)
        sum[i]! += x
        bound[i]! += gamma * Math.abs(x)
      }
    }
    references.set(`${kind} ${count}`, { sum, bound })
    return { sum, bound }
  }

  const group = await papilio.join({ url: location.origin, room, create: true, size })
  const outcomes: Outcome[] = []
  for (const { algorithm, r, count, kind } of cases) {
    const { sum, bound } = await referenceOf(kind, count)
    const input = Float32Array.from({ length: count }, (_, i) => value(kind, group.rank, i))
    const { data, report } = await group.allreduce(input, {
      algorithm,
      consistency: 'fast',
      ...(r === undefined ? {} : { r }),
    })
    const bits = new Uint32Array(data.buffer)
    let wrong = 0
    let hash = 0
    for (let i = 0; i < count; i++) {
      if (!(Math.abs(data[i]! - sum[i]!) <= bound[i]!)) wrong++
      hash = (Math.imul(hash, 31) + bits[i]!) | 0
    }
    const { steps, identical, contributors, seconds } = report
    outcomes.push({ wrong, hash: String(hash), steps, identical, contributors: contributors.length, seconds })
  }
  await group.barrier()
  await group.leave()
  return outcomes
}

/** 425 bytes is the paper's small message: 106 float32. */
const counts = [106, 262_144]

describe.each(sizes)('P = %i', (size) => {
  const rounds = Math.ceil(Math.log2(size))
  const variants = [
    ...Array.from({ length: rounds + 1 }, (_, r) => ({ algorithm: 'butterfly', r })),
    { algorithm: 'ring' },
  ]
  const cases: Case[] = variants.flatMap((variant) =>
    counts.flatMap((count) => (['whole', 'real'] as const).map((kind) => ({ ...variant, count, kind }))),
  )

  it('every r and the ring are right in real tabs', { timeout: 120_000 }, async () => {
    const room = `matrix-${size}`
    const byTab = await Promise.all(
      tabs.slice(0, size).map((tab) => tab.page.evaluate(member, { room, size, cases })),
    )
    for (const [index, wanted] of cases.entries()) {
      const outcomes = byTab.map((outcomes) => outcomes[index]!)
      const label = JSON.stringify({ size, ...wanted, outcomes })
      for (const outcome of outcomes) {
        expect(outcome.wrong, label).toBe(0)
        expect(outcome.contributors, label).toBe(size)
        if (size <= 7) expect(outcome.seconds, label).toBeLessThan(3)
        if (wanted.algorithm === 'butterfly') expect(outcome.steps, label).toBe(2 * rounds - wanted.r!)
        else expect(outcome.steps, label).toBe(2 * (size - 1))
      }
      const isSame = new Set(outcomes.map(({ hash }) => hash)).size === 1
      // A report that promises the same bits on every rank keeps it; whole numbers are the same in any order.
      if (wanted.kind === 'whole' || outcomes.some(({ identical }) => identical))
        expect(isSame, label).toBe(true)
    }
  })
})
