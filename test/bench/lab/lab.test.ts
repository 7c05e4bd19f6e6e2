import { describe, expect, it } from 'vitest'
import { parseNetwork } from '../../lab/network.ts'
import { judges } from './judge.ts'
import { parseMpiLine } from './mpiOutput.ts'
import { parseBytes, parseLab } from './options.ts'
import { parseLines } from './report.ts'
import { labRows, partsOf } from './rows.ts'
import { floorOf, joinRanks, type Sample, summarize } from './samples.ts'
import { selectCandidates } from './select.ts'

const network = parseNetwork('rtt=10,rate=50')
const about = { network, peers: 'node' as const, size: 7, round: 0, load: 1 }

function sample(label: string, seconds: number, more: Partial<Sample> = {}): Sample {
  return {
    kind: 'sample',
    ...about,
    bytes: 65_536,
    label,
    seconds,
    slowest: seconds,
    busiest: 0,
    isWrong: false,
    ...more,
  }
}

describe('the command line of the lab benchmark', () => {
  const shared = { sizes: undefined, rounds: 5, isBrowser: false }

  it('has defaults for everything', () => {
    const options = parseLab({}, shared)
    expect(options.network).toEqual(network)
    expect(options.sizes).toEqual([7])
    expect(options.bytes).toEqual([425, 9216, 28_672, 65_536, 262_144, 1_048_576, 4_194_304])
    expect(options.isWithMpi).toBe(false)
  })

  it('takes MPI as one of the baselines', () => {
    const options = parseLab({ baselines: 'mpi,star' }, shared)
    expect([options.isWithMpi, options.baselines]).toEqual([true, ['star']])
    expect(parseLab({ baselines: 'none' }, shared).baselines).toEqual([])
  })

  it('refuses what it does not know', () => {
    expect(() => parseLab({ baselines: 'stars' }, shared)).toThrow(/no baseline "stars"/)
    expect(() => parseLab({ within: 'x' }, shared)).toThrow(/--within takes a number/)
    expect(() => parseLab({ consistency: 'slow' }, shared)).toThrow(/identical or fast/)
    expect(() => parseLab({}, { ...shared, sizes: [1] })).toThrow(/from 2 to 64/)
    for (const text of ['0', '4G', '-1', '1.5K', '999M', '']) expect(() => parseBytes(text)).toThrow(/bytes/)
  })
})

describe('the rows of the table', () => {
  const parts = Object.entries(labRows).flatMap(([row, { parts }]) =>
    Object.entries(parts).map(([name, part]) => ({ title: `${row} ${name}`, part })),
  )

  it.each(parts)('$title is a command line that the bench takes', ({ part: { sizes, flags } }) => {
    const options = parseLab(flags, { sizes, rounds: 5, isBrowser: false })
    expect(options.network.rate).toBeGreaterThan(0)
    expect(Math.max(...options.bytes)).toBeLessThanOrEqual(4 * 2 ** 20)
  })

  it('have parts by the beginnings of their names', () => {
    const { regret } = labRows
    expect(partsOf(regret!, 'far-7')).toHaveLength(3)
    expect(partsOf(regret!, 'far-7-long')).toHaveLength(1)
    expect(partsOf(regret!, 'fa')).toEqual([])
    expect(partsOf(regret!, undefined)).toHaveLength(36)
  })
})

describe('which candidates are measured', () => {
  const prediction = (algorithm: string, seconds: number, settings = {}) => ({
    algorithm,
    settings,
    seconds,
    parts: { alpha: seconds, beta: 0, gamma: 0 },
    steps: 1,
    bytesSent: 1,
    identical: true,
  })
  const predictions = [
    prediction('two-shot', 1),
    prediction('butterfly', 1.5, { r: 0 }),
    prediction('butterfly', 2.5, { r: 1 }),
    prediction('window', 3, { window: 1 }),
    prediction('chain', 9),
  ]
  const selection = { consistency: 'identical' as const, baselines: [], within: 2, named: [], most: 12 }
  const labels = (more: Partial<Parameters<typeof selectCandidates>[1]>) =>
    selectCandidates(predictions, { ...selection, ...more }).map(({ label }) => label)

  it('are auto, those near the fastest, and the best of each algorithm that is not far', () => {
    expect(labels({})).toEqual(['auto', 'two-shot', 'butterfly r 0', 'window window 1'])
  })

  it('are also the named ones and the baselines, none of them twice', () => {
    expect(labels({ within: 0, named: ['butterfly*', 'chain'] })).toEqual([
      'auto',
      'butterfly r 0',
      'butterfly r 1',
      'chain',
    ])
    expect(labels({ baselines: ['ring', 'star'] })).not.toContain('ring')
    expect(labels({ baselines: ['ring', 'star'] })).toContain('star')
    expect(labels({ within: 0, baselines: ['ring'] })).toEqual(['auto', 'ring'])
  })

  it('are no more than asked for', () => {
    expect(labels({ most: 1, named: ['chain'] })).toEqual(['auto', 'two-shot', 'chain'])
  })
})

describe('a call', () => {
  it('takes from the last start to the last end', () => {
    const rank = (begin: number, end: number, sent: number) => ({
      bytes: 8,
      label: 'auto',
      begin,
      end,
      sent,
      received: 10,
      predicted: 1,
      chosen: 'star',
      isWrong: false,
    })
    const joined = joinRanks([rank(1, 5, 7), rank(2, 4, 20)], about)
    expect(joined).toMatchObject({ seconds: 3, slowest: 4, busiest: 20, chosen: 'star', isWrong: false })
  })

  it('is never better than the cheaper mesh', () => {
    expect(floorOf(network, 7, 8)).toBeCloseTo(0.005, 4)
    expect(floorOf(network, 7, 4 * 2 ** 20)).toBeCloseTo(0.01 + (12 / 7) * 4 * 2 ** 20 * 0.16e-6)
    expect(floorOf(parseNetwork('rtt=10'), 7, 2 ** 30)).toBeCloseTo(0.005)
  })
})

describe('what the tables say', () => {
  const samples = [
    ...[0.04, 0.05, 0.06].map((s) =>
      sample('auto', s, { predicted: 0.055, chosen: 'two-shot', busiest: 156_250 }),
    ),
    ...[0.04, 0.04, 0.04].map((s) => sample('ring', s)),
    ...[0.02, 0.1, 0.3].map((s) => sample('mpi', s)),
    ...[0.01, 0.2, 0.2].map((s) => sample('raw', s)),
  ]
  const [cell] = summarize(samples)

  it('is the regret against the best of ours', () => {
    expect(cell?.best?.label).toBe('ring')
    expect(cell?.regret).toBeCloseTo(0.25)
  })

  it('is how far the prediction was off, and how full the line was', () => {
    expect(cell?.auto?.error).toBeCloseTo(0.1)
    expect(cell?.auto?.use).toBeCloseTo(0.5)
  })

  it('is whether goals are reached', () => {
    const cells = summarize(samples)
    expect(judges.mpi(cells)).toMatchObject([{ isReached: false, goal: '>= 4 times' }])
    expect(judges.mesh(cells)).toMatchObject([{ isReached: true }])
    expect(judges.regret(cells)).toMatchObject([{ isReached: false }, { isReached: true }])
    expect(judges.prototype(cells)).toMatchObject([{ isReached: false }])
    expect(judges.line(cells)).toMatchObject([{ isReached: false }])
  })

  it('survives a file', () => {
    const text = samples.map((each) => `${JSON.stringify(each)}\n`).join('')
    expect(parseLines(text, 'run.jsonl')).toEqual(samples)
    expect(() => parseLines(`${text}{}\n`, 'run.jsonl')).toThrow('run.jsonl, line 13')
  })
})

describe('what the program of MPI prints', () => {
  it('is a call a line', () => {
    expect(parseMpiLine('9216 0.046800000 0.047200000 1')).toEqual({
      bytes: 9216,
      seconds: 0.0468,
      slowest: 0.0472,
      isWrong: false,
    })
    expect(parseMpiLine('8 0.01 0.01 0').isWrong).toBe(true)
  })

  it.each(['', 'done', '8 -1 0 1', '8 0.1 0.1', '8 0.1 0.1 2', 'orted was killed'])(
    'is nothing else: %s',
    (line) => {
      expect(() => parseMpiLine(line)).toThrow('MPI says')
    },
  )
})
