import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../../shared/base/clock.ts'
import { MismatchError, NoSamplesError, ProtocolError, TimeoutError } from '../../../shared/base/errors.ts'
import { createPrng } from '../../../shared/base/prng.ts'
import { createMemoryGroup, createMemoryRoom, whenTogether } from '../../../shared/collective/memoryGroup.ts'
import type { Group } from '../../../shared/collective/types.ts'
import { createRounds } from '../../../shared/federated/rounds.ts'
import type { RoundOptions, RoundReport, Trainer } from '../../../shared/federated/roundTypes.ts'
import { inVirtualTime } from '../../support/virtualTime.ts'
import { createLine, descend, type Line } from './leastSquares.ts'

type Points = readonly (readonly [number, number])[]

/** Points of y = slope x, `count` of them. */
const pointsOf = (slope: number, count: number): Points =>
  Array.from({ length: count }, (_, i) => [(i + 1) / count, (slope * (i + 1)) / count] as const)

const pause = (clock: VirtualClock, seconds: number) =>
  new Promise<void>((resolve) => void clock.after(seconds, resolve))

/** FedAvg and FedProx on one machine, in doubles where the engine has doubles. */
function plainRounds(
  start: number,
  data: readonly Points[],
  rounds: number,
  task: { epochs: number; learningRate: number; proximal: number },
) {
  let w = Math.fround(start)
  for (let round = 0; round < rounds; round++) {
    const total = data.reduce((sum, points) => sum + points.length, 0)
    let update = 0
    for (const points of data) {
      const local = new Float32Array([w])
      descend(local, points, task, new Float32Array([w]))
      update += (points.length / total) * (local[0]! - w)
    }
    w = Math.fround(w + update)
  }
  return w
}

const weightOf = (line: Line) => line.weight[0]!
const runAll = (groups: readonly Group[], lines: readonly Trainer[], options: RoundOptions) =>
  Promise.all(groups.map((group, rank) => createRounds(group, lines[rank]!, options).run()))

describe('rounds', () => {
  it.each([1, 2, 5])('are FedAvg and FedProx to the last bits of 32, on %i peers', async (size) => {
    for (const proximal of [0, 0.5]) {
      const groups = await createMemoryGroup(size, { measure: false })
      const data = groups.map((_, rank) => pointsOf(rank + 1, 10 + 20 * rank))
      // Everybody begins elsewhere: rank 0's first weights are everybody's.
      const lines = data.map((points, rank) => createLine(rank - 3, points))
      const results = await runAll(groups, lines, { rounds: 4, epochs: 3, learningRate: 0.5, proximal })
      const expected = plainRounds(-3, data, 4, { epochs: 3, learningRate: 0.5, proximal })
      for (const [rank, { rounds, ending }] of results.entries()) {
        expect(ending).toBe('complete')
        expect(rounds.map(({ round }) => round)).toEqual([1, 2, 3, 4])
        expect(weightOf(lines[rank]!)).toBe(weightOf(lines[0]!))
        expect(weightOf(lines[rank]!)).toBeCloseTo(expected, 5)
        expect(rounds.map(({ hash }) => hash)).toEqual(results[0]!.rounds.map(({ hash }) => hash))
        // A counter of seen samples is the largest that any peer has counted to.
        expect((await lines[rank]!.read()).seen).toEqual(new Int32Array([4 * data[size - 1]!.length]))
      }
    }
  })

  it('report every peer and the means by samples', async () => {
    const groups = await createMemoryGroup(3, { measure: false })
    const lines = [10, 20, 30].map((count) => createLine(0, pointsOf(1, count)))
    const [first] = await runAll(groups, lines, { rounds: 1 })
    const { peers, metrics } = first!.rounds[0]!
    expect(peers.map(({ samples, share }) => [samples, share])).toEqual([
      [10, 1 / 6],
      [20, 1 / 3],
      [30, 1 / 2],
    ])
    expect(peers[2]!.metrics).toEqual({ loss: 30, accuracy: 0.5 })
    expect(metrics.loss).toBeCloseTo((10 * 10 + 20 * 20 + 30 * 30) / 60, 12)
  })

  it('do not mind in which order the options are written', async () => {
    const groups = await createMemoryGroup(2, { measure: false })
    const options: RoundOptions[] = [
      { rounds: 1, epochs: 2, optimizer: { kind: 'momentum', momentum: 0.5, rate: 1 } },
      { optimizer: { rate: 1, momentum: 0.5, kind: 'momentum' }, epochs: 2, rounds: 1, localSeconds: 60 },
    ]
    const runs = groups.map((group, rank) =>
      createRounds(group, createLine(0, pointsOf(1, 4)), options[rank]!).run(),
    )
    for (const { ending } of await Promise.all(runs)) expect(ending).toBe('complete')
  })

  it('follow the schedules of epochs and learning rate', async () => {
    const groups = await createMemoryGroup(2, { measure: false })
    const lines = groups.map(() => createLine(0, pointsOf(1, 4)))
    await runAll(groups, lines, {
      rounds: 4,
      epochs: [1, 2],
      learningRate: { kind: 'steps', from: 0.4, factor: 0.5, every: 2 },
    })
    for (const { tasks } of lines) {
      expect(tasks.map(({ epochs }) => epochs)).toEqual([1, 2, 2, 2])
      expect(tasks.map(({ learningRate }) => learningRate)).toEqual([0.4, 0.4, 0.2, 0.2])
    }
  })

  it('let a peer watch that does not train, and whose model follows', async () => {
    const groups = await createMemoryGroup(3, { measure: false })
    const lines = groups.map(() => createLine(0, pointsOf(1, 4)))
    const [first] = await Promise.all(
      groups.map((group, rank) =>
        createRounds(group, lines[rank]!, { rounds: 2, observe: rank === 1 }).run(),
      ),
    )
    expect(lines.map(({ tasks }) => tasks.length)).toEqual([2, 0, 2])
    for (const { peers } of first!.rounds)
      expect(peers.map(({ excluded }) => excluded)).toEqual([undefined, 'no-samples', undefined])
    expect(new Set(lines.map(weightOf)).size).toBe(1)
    expect(weightOf(lines[1]!)).not.toBe(0)
  })

  it('move with the optimizer what is trained, and with the mean what is counted', async () => {
    const groups = await createMemoryGroup(2, { measure: false })
    const models = groups.map(() => ({ w: new Float32Array(3), counted: new Float32Array(2) }))
    const trainers = models.map(
      ({ w, counted }, rank): Trainer => ({
        read: () => ({ w: w.slice(), counted: { data: counted.slice(), policy: 'statistic' } }),
        write(tensors) {
          w.set(tensors.w!)
          counted.set(tensors.counted!)
        },
        async train() {
          for (const data of [w, counted]) for (let i = 0; i < data.length; i++) data[i]! += 1 + 2 * rank
          return { samples: 1 }
        },
      }),
    )
    await runAll(groups, trainers, { rounds: 1, optimizer: { kind: 'average', rate: 0.5 } })
    for (const { w, counted } of models) {
      expect([...w]).toEqual([1, 1, 1])
      expect([...counted]).toEqual([2, 2])
    }
  })

  it('give a late joiner model and round first, and count it from the next round on', async () => {
    const clock = new VirtualClock()
    const room = createMemoryRoom({ clock, latency: 0.002, measure: false })
    const wait = () => pause(clock, 1)
    const lines = [1, 2, 3].map((slope) => createLine(slope, pointsOf(slope, 10), wait))
    const groups = ['Ada', 'Bo'].map((name) => room.join(name))
    await inVirtualTime(clock, whenTogether(groups))
    const options = { rounds: 6, clock }
    const running = groups.map((group, rank) => createRounds(group, lines[rank]!, options).run())
    const late = pause(clock, 2.5).then(async () => {
      const group = room.join('Cy')
      groups.push(group)
      await whenTogether(groups)
      const rounds = createRounds(group, lines[2]!, options)
      const synced: number[] = []
      rounds.on('synced', ({ round }) => void synced.push(round))
      return { synced, ...(await rounds.run()) }
    })
    const [ada, bo, cy] = await inVirtualTime(clock, Promise.all([running[0]!, running[1]!, late]))
    expect(cy.synced).toEqual([2])
    expect(lines[2]!.tasks.map(({ round }) => round)).toEqual([3, 4, 5])
    expect(cy.rounds.map(({ round }) => round)).toEqual([3, 4, 5, 6])
    expect(ada.rounds.map(({ peers }) => peers.map(({ excluded }) => excluded ?? 'counted'))).toEqual([
      ['counted', 'counted'],
      ['counted', 'counted'],
      ['counted', 'counted', 'newcomer'],
      ...Array.from({ length: 3 }, () => ['counted', 'counted', 'counted']),
    ])
    expect(bo.rounds[5]!.hash).toBe(ada.rounds[5]!.hash)
    expect(cy.rounds[3]!.hash).toBe(ada.rounds[5]!.hash)
    expect(new Set(lines.map(weightOf)).size).toBe(1)
  })

  it('are stopped by any peer, in which all end after the same round', async () => {
    const groups = await createMemoryGroup(3, { measure: false })
    const lines = groups.map(() => createLine(0, pointsOf(1, 4)))
    const runs = groups.map((group, rank) => createRounds(group, lines[rank]!, { rounds: 100 }))
    runs[1]!.on('round', ({ round }) => {
      if (round === 3) runs[1]!.stop()
    })
    const results = await Promise.all(runs.map((run) => run.run()))
    for (const { rounds, ending } of results) {
      expect(ending).toBe('stopped')
      expect(rounds.length).toBe(4)
    }
    expect(new Set(lines.map(weightOf)).size).toBe(1)
  })

  it('go on from a checkpoint that one peer has, as if they had never stopped', async () => {
    const data = [1, 2, 3].map((slope) => pointsOf(slope, 10 * slope))
    const optimizer = { kind: 'adam', rate: 0.1 } as const
    const through = data.map((points) => createLine(0, points))
    await runAll(await createMemoryGroup(3, { measure: false }), through, { rounds: 6, optimizer })

    const before = data.map((points) => createLine(0, points))
    const groups = await createMemoryGroup(3, { measure: false })
    const runs = groups.map((group, rank) => createRounds(group, before[rank]!, { rounds: 3, optimizer }))
    await Promise.all(runs.map((run) => run.run()))
    const checkpoints = runs.map((run) => run.checkpoint())
    expect(checkpoints[1]).toEqual(checkpoints[0])

    const after = data.map((points) => createLine(99, points))
    const again = await createMemoryGroup(3, { measure: false })
    const results = await Promise.all(
      again.map((group, rank) =>
        createRounds(group, after[rank]!, {
          rounds: 6,
          optimizer,
          ...(rank === 2 && { checkpoint: checkpoints[0]! }),
        }).run(),
      ),
    )
    expect(results[0]!.rounds.map(({ round }) => round)).toEqual([4, 5, 6])
    expect(after.map(weightOf)).toEqual(through.map(weightOf))
    expect(() =>
      createRounds(again[0]!, after[0]!, { rounds: 1, checkpoint: checkpoints[0]!.subarray(1) }),
    ).toThrow(ProtocolError)
  })

  it('leave out who throws, who has nothing and who has NaN, and say so; their models follow all the same', async () => {
    const groups = await createMemoryGroup(5, { measure: false })
    const lines = groups.map(() => createLine(0, pointsOf(2, 10)))
    const trainers: Trainer[] = [
      lines[0]!,
      { ...lines[1]!, train: () => Promise.reject(new Error('out of memory')) },
      { ...lines[2]!, train: async () => ({ samples: 0 }) },
      {
        ...lines[3]!,
        async train() {
          lines[3]!.weight.fill(Number.NaN)
          return { samples: 10 }
        },
      },
      {
        ...lines[4]!,
        async train() {
          lines[4]!.weight.fill(1e6)
          return { samples: 10 }
        },
      },
    ]
    const errors: unknown[] = []
    const runs = groups.map((group, rank) => {
      const run = createRounds(group, trainers[rank]!, { rounds: 2, guard: { maxNormRatio: 10 } })
      run.on('trainerError', (error) => void errors.push([rank, error]))
      return run.run()
    })
    const results = await Promise.all(runs)
    for (const { rounds } of results)
      for (const { peers } of rounds)
        expect(peers.map(({ excluded }) => excluded)).toEqual([
          undefined,
          'failed',
          'no-samples',
          'non-finite',
          'outlier',
        ])
    expect(errors).toEqual([
      [1, new Error('out of memory')],
      [1, new Error('out of memory')],
    ])
    expect(new Set(lines.map(weightOf)).size).toBe(1)
    expect(weightOf(lines[0]!)).toBeGreaterThan(0)
  })

  it('end with an error on all when nobody has anything to give, or settings differ', async () => {
    const groups = await createMemoryGroup(2, { measure: false })
    const idle = groups.map(() => ({ ...createLine(0, pointsOf(1, 4)), train: async () => ({ samples: 0 }) }))
    const ends = await Promise.allSettled(
      groups.map((group, rank) => createRounds(group, idle[rank]!, { rounds: 3 }).run()),
    )
    for (const end of ends) expect(end.status === 'rejected' && end.reason).toBeInstanceOf(NoSamplesError)
    const others = await Promise.allSettled(
      groups.map((group, rank) => createRounds(group, idle[rank]!, { rounds: 3 + rank }).run()),
    )
    for (const end of others) {
      expect(end.status === 'rejected' && end.reason).toBeInstanceOf(MismatchError)
      expect(String(end.status === 'rejected' && end.reason)).toContain('rounds is 4, not 3')
    }
  })

  it('count a slow peer with what it has at the end of its time, and name who never comes', async () => {
    const clock = new VirtualClock()
    const groups = await inVirtualTime(clock, createMemoryGroup(3, { clock, latency: 0.001, measure: false }))
    const lines = groups.map(() => createLine(0, pointsOf(1, 10)))
    const slow: Trainer = {
      ...lines[2]!,
      train: ({ signal }) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve({ samples: 3 }))),
    }
    const run = Promise.all(
      groups.map((group, rank) =>
        createRounds(group, rank === 2 ? slow : lines[rank]!, { rounds: 2, clock, localSeconds: 5 }).run(),
      ),
    )
    const [first] = await inVirtualTime(clock, run)
    expect(first!.rounds[1]!.peers.map(({ samples }) => samples)).toEqual([10, 10, 3])
    expect(clock.now()).toBeLessThan(12)

    const never = groups
      .slice(0, 2)
      .map((group, rank) => createRounds(group, lines[rank]!, { rounds: 2, clock, waitSeconds: 20 }).run())
    const ends = await inVirtualTime(clock, Promise.allSettled(never))
    for (const end of ends) {
      expect(end.status === 'rejected' && end.reason).toBeInstanceOf(TimeoutError)
      expect(String(end.status === 'rejected' && end.reason)).toContain('Rank 2')
    }
  })

  it('send updates in fewer bits, and lose nothing over the rounds', async () => {
    for (const wire of ['bf16', 'q8'] as const) {
      const groups = await createMemoryGroup(3, { measure: false })
      const models = groups.map(() => new Float32Array(200))
      const giver = (rank: number): Trainer => ({
        read: () => ({ w: models[rank]!.slice() }),
        write: ({ w }) => models[rank]!.set(w!),
        async train() {
          for (let i = 0; i < 200; i++) models[rank]![i]! += Math.sin(i * (rank + 1))
          return { samples: 5 }
        },
      })
      await runAll(
        groups,
        groups.map((_, rank) => giver(rank)),
        { rounds: 20, wire },
      )
      for (let i = 0; i < 200; i++) {
        const exact = (20 * (Math.sin(i) + Math.sin(2 * i) + Math.sin(3 * i))) / 3
        // Of the order of the error of one round, after twenty.
        expect(Math.abs(models[0]![i]! - exact)).toBeLessThan(wire === 'bf16' ? 0.02 : 0.1)
      }
      for (const model of models) expect(model).toEqual(models[0])
    }
  })

  it('begin with one state on all survivors when the peer that gives it is lost on the way', async () => {
    const begun: number[] = []
    // A message takes 5 to 10 ms.
    for (const [seed, seconds] of [0, 0.004, 0.006, 0.008, 0.01, 0.02].entries()) {
      const clock = new VirtualClock()
      const room = createMemoryRoom({ clock, seed, latency: 0.005, jitter: 0.005, measure: false })
      const groups = Array.from({ length: 5 }, (_, rank) => room.join(`Rank ${rank}`))
      await inVirtualTime(clock, whenTogether(groups))
      const lines = groups.map((_, rank) => createLine(10 ** rank, []))
      const [giver, ...others] = groups.map((group, rank) => {
        const resting = { ...lines[rank]!, train: async () => ({ samples: 1 }) }
        return createRounds(group, resting, { rounds: 1, clock })
      })
      giver!.on('phase', ({ phase }) => {
        if (phase === 'syncing') void pause(clock, seconds).then(() => room.network.kill('peer-0'))
      })
      giver!.run().catch(() => {})
      await inVirtualTime(clock, Promise.all(others.map((rounds) => rounds.run())))
      const weights = new Set(lines.slice(1).map(weightOf))
      expect(weights.size, `${seconds} s`).toBe(1)
      begun.push(...weights)
    }
    // That of the lost one once it has come through, before that the one of the first survivor.
    expect(begun[0]).toBe(10)
    expect(begun.at(-1)).toBe(1)
  })

  it.each(Array.from({ length: 10 }, (_, seed) => seed))(
    'finish on all survivors with the same bits when a peer is killed at a random moment of a random round (seed %i)',
    async (seed) => {
      const clock = new VirtualClock()
      const random = createPrng(seed)
      const size = 3 + random.below(5)
      const room = createMemoryRoom({ clock, seed, latency: 0.005, jitter: 0.005, measure: seed % 2 === 0 })
      const groups = Array.from({ length: size }, (_, rank) => room.join(`Rank ${rank}`))
      await inVirtualTime(clock, whenTogether(groups))
      const lines = groups.map((_, rank) =>
        createLine(rank, pointsOf(rank, 10), () => pause(clock, 0.2 + random.next() * 0.3)),
      )
      const reports: RoundReport[][] = groups.map(() => [])
      const runs = groups.map((group, rank) => {
        const rounds = createRounds(group, lines[rank]!, { rounds: 5, clock })
        rounds.on('round', (report) => void reports[rank]!.push(report))
        return rounds.run()
      })
      const victim = random.below(size)
      runs[victim]!.catch(() => {})
      void pause(clock, random.next()).then(() => room.network.kill(`peer-${victim}`))
      const survivors = groups.flatMap((_, rank) => (rank === victim ? [] : [rank]))
      await inVirtualTime(clock, Promise.all(survivors.map((rank) => runs[rank]!)))
      for (const rank of survivors) {
        expect(reports[rank]!.map(({ hash }) => hash)).toEqual(
          reports[survivors[0]!]!.map(({ hash }) => hash),
        )
        expect(reports[rank]!.map(({ peers }) => peers)).toEqual(
          reports[survivors[0]!]!.map(({ peers }) => peers),
        )
        expect(weightOf(lines[rank]!)).toBe(weightOf(lines[survivors[0]!]!))
      }
      const sizes = reports[survivors[0]!]!.map(({ peers }) => peers.length)
      expect(sizes[4]).toBe(size - 1)
    },
  )

  // In these, an op that only the lost or the gone had called must still end for those who call it later.
  it.each([0, 100, 114, 119])(
    'keep all that stay alike while others join, leave and die (seed %i)',
    async (seed) => {
      const clock = new VirtualClock()
      const random = createPrng(1000 + seed)
      const room = createMemoryRoom({ clock, seed, latency: 0.005, jitter: 0.01, measure: false })
      const groups = ['Ada', 'Bo', 'Cy'].map((name) => room.join(name))
      await inVirtualTime(clock, whenTogether(groups))
      const hashes = new Map<number, Set<string>>()
      const start = (group: Group, slope: number) => {
        const line = createLine(slope, pointsOf(slope, 8), () => pause(clock, 0.1 + 0.2 * random.next()))
        const rounds = createRounds(group, line, { rounds: 12, clock })
        rounds.on('round', ({ round, hash }) => {
          hashes.set(round, (hashes.get(round) ?? new Set()).add(hash))
        })
        return { line, run: rounds.run() }
      }
      // Ada and Bo stay; Cy dies; Dee and Eve join at any time, and Eve leaves again.
      const [ada, bo, cy] = groups.map((group, rank) => start(group, rank + 1))
      cy!.run.catch(() => {})
      const join = async (name: string) => {
        await pause(clock, 2 * random.next())
        const group = room.join(name)
        return { group, ...start(group, 5) }
      }
      const dee = join('Dee')
      const eve = join('Eve').then(async ({ group, run }) => {
        run.catch(() => {})
        await pause(clock, 0.5 * random.next())
        await group.leave()
      })
      void pause(clock, 2 * random.next()).then(() => room.network.kill('peer-2'))
      await inVirtualTime(clock, Promise.all([ada!.run, bo!.run, dee.then(({ run }) => run), eve]))
      const { line } = await dee
      expect(weightOf(bo!.line)).toBe(weightOf(ada!.line))
      expect(weightOf(line)).toBe(weightOf(ada!.line))
      expect([...hashes.keys()].sort((a, b) => a - b)).toEqual(Array.from({ length: 12 }, (_, i) => i + 1))
      for (const found of hashes.values()) expect(found.size).toBe(1)
    },
  )
})
