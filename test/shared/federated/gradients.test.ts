import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../../shared/base/clock.ts'
import { ArgumentError, MismatchError, NoSamplesError } from '../../../shared/base/errors.ts'
import { createPrng } from '../../../shared/base/prng.ts'
import { createMemoryGroup, createMemoryRoom, whenTogether } from '../../../shared/collective/memoryGroup.ts'
import type { Group } from '../../../shared/collective/types.ts'
import { averageTensors } from '../../../shared/federated/average.ts'
import { createGradientAverager, type GradientOptions } from '../../../shared/federated/gradients.ts'
import { inVirtualTime } from '../../support/virtualTime.ts'
import { loseOne } from './losing.ts'

const sizes = { last: 30, middle: 200, first: 7 }
const gradientOf = (rank: number, step: number, name: keyof typeof sizes) =>
  Float32Array.from({ length: sizes[name] }, (_, i) => Math.sin(1 + rank + 10 * step + i * name.length))

/** One step with gradients that are known one after the other, the last layer's first. */
async function step(
  averager: Awaited<ReturnType<typeof createGradientAverager>>,
  rank: number,
  samples: number,
  number = 0,
) {
  const running = averager.begin(samples)
  for (const name of ['last', 'middle', 'first'] as const) running.ready(name, gradientOf(rank, number, name))
  return running.finish()
}

const makeAll = (groups: readonly Group[], options: GradientOptions = {}) =>
  Promise.all(groups.map((group) => createGradientAverager(group, sizes, options)))

describe('gradients', () => {
  it.each([1, 2, 5])('of %i ranks are averaged by samples, the same bits on each', async (size) => {
    const groups = await createMemoryGroup(size, { measure: false })
    const averagers = await makeAll(groups, { bucketBytes: 256 })
    for (let number = 0; number < 3; number++) {
      const results = await Promise.all(
        averagers.map((averager, rank) => step(averager, rank, 1 + rank, number)),
      )
      const total = (size * (size + 1)) / 2
      for (const name of ['last', 'middle', 'first'] as const)
        for (let i = 0; i < sizes[name]; i++) {
          const expected = groups.reduce(
            (sum, _, rank) => sum + ((1 + rank) / total) * gradientOf(rank, number, name)[i]!,
            0,
          )
          expect(results[0]!.gradients[name]![i]).toBeCloseTo(expected, 6)
        }
      for (const { gradients, samples, reports } of results) {
        expect(gradients).toEqual(results[0]!.gradients)
        expect(samples).toBe(total)
        // 237 elements in buckets of 64, and the samples.
        expect(reports.length).toBe(5)
      }
    }
  })

  it('leave as soon as a bucket is full, in the same order on all ranks', async () => {
    const groups = await createMemoryGroup(2, { measure: false })
    const averagers = await makeAll(groups, { bucketBytes: 120 })
    const called: string[] = []
    const { allreduce } = groups[0]!
    groups[0]!.allreduce = (data, options) => {
      called.push(options?.name ?? '')
      return allreduce.call(groups[0]!, data, options) as never
    }
    const [a, b] = averagers.map((averager) => averager.begin(1))
    a!.ready('first', gradientOf(0, 0, 'first'))
    expect(called).toEqual(['gradients: samples'])
    a!.ready('last', gradientOf(0, 0, 'last'))
    expect(called).toEqual(['gradients: samples', 'gradients: 0'])
    a!.ready('middle', gradientOf(0, 0, 'middle'))
    expect(called.length).toBe(1 + 8)
    for (const name of ['last', 'middle', 'first'] as const) b!.ready(name, gradientOf(1, 0, name))
    const [first, second] = await Promise.all([a!.finish(), b!.finish()])
    expect(first.gradients).toEqual(second.gradients)
  })

  it('go on without those that have no more batches', async () => {
    const groups = await createMemoryGroup(3, { measure: false })
    const averagers = await makeAll(groups)
    const batches = [2, 5, 3]
    const followed = await Promise.all(
      averagers.map(async (averager, rank) => {
        const seen: number[] = []
        for (let number = 0; number < batches[rank]!; number++)
          seen.push((await step(averager, rank, 4, number)).samples)
        const joined = await averager.join(({ samples }) => void seen.push(samples))
        return { seen, joined }
      }),
    )
    for (const [rank, { seen, joined }] of followed.entries()) {
      expect(seen).toEqual([12, 12, 8, 4, 4])
      expect(joined).toBe(5 - batches[rank]!)
    }
  })

  it('are refused when they are others, missing, or of nobody', async () => {
    const groups = await createMemoryGroup(2, { measure: false })
    const differing = await Promise.allSettled(
      groups.map((group, rank) => createGradientAverager(group, { ...sizes, first: 7 + rank })),
    )
    for (const end of differing) {
      expect(end.status === 'rejected' && end.reason).toBeInstanceOf(MismatchError)
      expect(String(end.status === 'rejected' && end.reason)).toContain(
        'first is 8 elements at 230, not 7 elements at 230',
      )
    }
    const averagers = await makeAll(groups)
    const none = await Promise.allSettled(averagers.map((averager, rank) => step(averager, rank, 0)))
    for (const end of none) expect(end.status === 'rejected' && end.reason).toBeInstanceOf(NoSamplesError)
    const open = averagers[0]!.begin(1)
    expect(() => open.ready('other', new Float32Array(1))).toThrow(ArgumentError)
    expect(() => averagers[0]!.begin(1)).toThrow(ArgumentError)
    await expect(open.finish()).rejects.toThrow('last, middle, first')
  })

  it('keep the mean over many steps when they travel in 8 bits', async () => {
    const groups = await createMemoryGroup(3, { measure: false })
    const averagers = await makeAll(groups, { wire: 'q8', bucketBytes: 512 })
    const sum = new Float64Array(sizes.middle)
    const exact = new Float64Array(sizes.middle)
    for (let number = 0; number < 20; number++) {
      const results = await Promise.all(averagers.map((averager, rank) => step(averager, rank, 2, number)))
      for (const { gradients } of results) expect(gradients).toEqual(results[0]!.gradients)
      for (let i = 0; i < sum.length; i++) {
        sum[i]! += results[0]!.gradients.middle![i]!
        exact[i]! += [0, 1, 2].reduce((total, rank) => total + gradientOf(rank, number, 'middle')[i]! / 3, 0)
      }
    }
    // A single step is off by up to 1/127 of the largest of its block; with feedback the error does not grow with the steps.
    for (let i = 0; i < sum.length; i++) expect(Math.abs(sum[i]! - exact[i]!)).toBeLessThan(0.05)
  })

  it.each(Array.from({ length: 8 }, (_, seed) => seed))(
    'are divided by the samples of those whose gradients are in them, when one is lost at any message (seed %i)',
    async (seed) => {
      const { groups, outcome } = await loseOne(seed, 400)
      await outcome(
        groups.map(async (group) => {
          const averager = await createGradientAverager(group, sizes, { bucketBytes: 200 })
          for (let number = 0; number < 3; number++) {
            const running = averager.begin(2)
            for (const name of ['last', 'middle', 'first'] as const)
              running.ready(name, new Float32Array(sizes[name]).fill(3))
            const { gradients } = await running.finish()
            // The mean of equal numbers, whoever they are from.
            for (const values of Object.values(gradients)) expect([...new Set(values)]).toEqual([3])
          }
        }),
      )
    },
  )

  it.each([0, 1, 100, 132])(
    'are those of the members that there are, when one is lost and one joins on the way (seed %i)',
    async (seed) => {
      const clock = new VirtualClock()
      const random = createPrng(seed)
      const pause = (seconds: number) => new Promise<void>((resolve) => void clock.after(seconds, resolve))
      const room = createMemoryRoom({ clock, seed, latency: 0.004, jitter: 0.004, measure: false })
      const groups = ['Ada', 'Bo', 'Cy', 'Dee'].map((name) => room.join(name))
      await inVirtualTime(clock, whenTogether(groups))
      // The model of the test: the sum of all averaged gradients, and the number of steps behind it.
      const train = async (group: Group, rank: number, steps: number) => {
        const model = { w: new Float64Array(sizes.first), steps: new Int32Array(1) }
        const averager = await createGradientAverager(group, sizes, {
          bucketBytes: 200,
          async onMembers({ isNewcomer, within }) {
            const { tensors } = await averageTensors(model, group, { samples: isNewcomer ? 0 : 1, within })
            model.w.set(tensors.w!)
            model.steps.set(tensors.steps!)
          },
        })
        while (model.steps[0]! < steps) {
          await pause(0.05)
          const { gradients } = await step(averager, rank, 1, model.steps[0]!)
          for (let i = 0; i < model.w.length; i++) model.w[i]! += gradients.first![i]!
          model.steps[0]!++
        }
        return model
      }
      const runs = groups.map((group, rank) => train(group, rank, 12))
      runs[2]!.catch(() => {})
      void pause(0.1 + 0.4 * random.next()).then(() => room.network.kill('peer-2'))
      const late = pause(0.1 + 0.4 * random.next()).then(() => train(room.join('Eve'), 4, 12))
      const models = await inVirtualTime(clock, Promise.all([runs[0]!, runs[1]!, runs[3]!, late]))
      for (const model of models) expect(model).toEqual(models[0])
    },
  )
})
