/**
 * `npm run bench -- table ROW [PART]`: measures one row of the table in docs/benchmarks.md and says whether its goal is reached. Long rows come
 * in parts.
 */
import { execFileSync } from 'node:child_process'
import { cpus, loadavg } from 'node:os'
import { describeNetwork } from '../lab/network.ts'
import { measureBlocks } from './block.ts'
import { measureHeap } from './heap.ts'
import { type Finding, judgePlane, judges } from './lab/judge.ts'
import { defaultBytes, type LabFlags, parseLab } from './lab/options.ts'
import { readLines } from './lab/report.ts'
import { measureLab } from './lab/run.ts'
import { type Cell, type Sample, summarize } from './lab/samples.ts'
import { measurePlane } from './plane.ts'
import { sizeText } from './statistics.ts'

interface LabPart {
  readonly sizes: readonly number[]
  readonly flags: LabFlags
}

interface Row {
  readonly goal: string
  /** Measured in the lab and judged; or a measurement with a table of its own. */
  readonly parts?: Readonly<Record<string, LabPart>>
  readonly judge?: keyof typeof judges
  readonly measure?: (
    runs: number,
    sizes: readonly number[] | undefined,
  ) => Promise<readonly Finding[] | undefined>
}

const auto = { within: '0', baselines: 'none' }
const slow = 'rtt=10,rate=20'
const middle = 'rtt=10,rate=50'
const far = 'rtt=40,rate=20'
const near = 'rtt=2,rate=50'

/** One group size on one network: what fits into a few minutes. */
function regretParts(): Record<string, LabPart> {
  const networks = { near, middle, far }
  const sizes = [3, 5, 7, 8]
  return Object.fromEntries(
    Object.entries(networks).flatMap(([name, lab]) =>
      sizes.flatMap((size) =>
        Object.entries({ short: '64,425,4K,28K,64K', long: '256K,1M', longest: '4M' }).map(
          ([vectors, bytes]): [string, LabPart] => [
            `${name}-${size}-${vectors}`,
            { sizes: [size], flags: { lab, bytes, most: '6', baselines: 'ring' } },
          ],
        ),
      ),
    ),
  )
}

/** What prints its own verdict. */
const alone = (measured: Promise<void>) => measured.then(() => undefined)

const rows: Readonly<Record<string, Row>> = {
  'raw-tabs': {
    goal: '16 MiB, tabs: bytes per second at least 0.9 of the same channels driven raw',
    measure: async (runs, sizes) =>
      judgePlane(await measurePlane({ sizes: sizes ?? [2, 4, 7], runs, isBrowser: true })),
  },
  'raw-node': {
    goal: '16 MiB, Node peers: bytes per second at least 0.9 of the same channels driven raw; 425 B at most 1.3 x (rounds x a raw message)',
    measure: async (runs, sizes) =>
      judgePlane(await measurePlane({ sizes: sizes ?? [2, 4, 7, 16], runs, isBrowser: false })),
  },
  mesh: {
    goal: '4 MiB, P = 7, 20 Mbit/s: at least 3 times as fast as send-to-all',
    judge: 'mesh',
    parts: {
      collective: { sizes: [7], flags: { lab: slow, bytes: '4M', within: '0', baselines: 'one-shot' } },
      channels: { sizes: [7], flags: { lab: slow, bytes: '4M', within: '0', baselines: 'raw' } },
    },
  },
  star: {
    goal: '4 MiB, P = 7, 20 Mbit/s: at least 5 times as fast as a star through one peer',
    judge: 'star',
    parts: { all: { sizes: [7], flags: { lab: slow, bytes: '4M', within: '0', baselines: 'star' } } },
  },
  'best-r': {
    goal: '425 B and 9 KB, P = 7, 10 ms: the best r against ring and recursive doubling as predicted, within 15 %',
    judge: 'bestR',
    parts: {
      all: {
        sizes: [7],
        flags: {
          lab: middle,
          bytes: '425,9K',
          within: '0',
          algo: 'butterfly*',
          baselines: 'ring,recursive-doubling',
          consistency: 'fast',
        },
      },
    },
  },
  small: {
    goal: 'auto, P = 7, 10 ms: 425 B and 9 KB in at most 2.5 one-way delays, 28 KB in at most 4 (--browser: tabs)',
    judge: 'small',
    parts: { all: { sizes: [7], flags: { lab: middle, bytes: '425,9K,28K', ...auto } } },
  },
  line: {
    goal: 'auto, 4 MiB, P = 7: payload of the busiest rank at least 0.8 of the rate of its line',
    judge: 'line',
    parts: {
      slow: { sizes: [7], flags: { lab: slow, bytes: '4M', ...auto } },
      middle: { sizes: [7], flags: { lab: middle, bytes: '4M', ...auto } },
    },
  },
  regret: {
    goal: 'auto against the best of all measured: median at most 3 %, worst at most 15 %; predicted against measured: median error at most 15 %',
    judge: 'regret',
    parts: regretParts(),
  },
  mpi: {
    goal: 'auto against MPI_Allreduce of OpenMPI: at least 4 times as fast up to 64 KB, 3 times above',
    judge: 'mpi',
    parts: Object.fromEntries(
      [3, 5, 7, 8].flatMap((size) => [
        [
          `${size}-short`,
          { sizes: [size], flags: { lab: middle, bytes: '8,425,9K,28K,64K', within: '0', baselines: 'mpi' } },
        ],
        [
          `${size}-long`,
          { sizes: [size], flags: { lab: middle, bytes: '256K,1M,4M', within: '0', baselines: 'mpi' } },
        ],
      ]),
    ),
  },
  prototype: {
    goal: 'auto, P = 7, 10 ms, 50 Mbit/s: no slower than a bare prototype; from 64 KB on within 1.25 of the floor',
    judge: 'prototype',
    parts: {
      all: { sizes: [7], flags: { lab: middle, bytes: `8,1K,${defaultBytes.replace('425,', '')}`, ...auto } },
    },
  },
  'heap-node': {
    goal: '1000 allreduces of 1 MiB, Node peers: memory grows by no more than 10 %',
    measure: (_, sizes) => alone(measureHeap({ size: sizes?.[0] ?? 3, ops: 1000, isBrowser: false })),
  },
  'heap-tabs': {
    goal: '1000 allreduces of 1 MiB, tabs: memory grows by no more than 10 %',
    measure: (_, sizes) => alone(measureHeap({ size: sizes?.[0] ?? 3, ops: 1000, isBrowser: true })),
  },
  'block-page': {
    goal: '64 MiB, tabs, the group on the thread of the page: it is never blocked for 50 ms',
    measure: (runs, sizes) => alone(measureBlocks(sizes?.[0] ?? 2, runs, false)),
  },
  'block-worker': {
    goal: '64 MiB, tabs, the group in a worker: the thread of the page is never blocked for 50 ms',
    measure: (runs, sizes) => alone(measureBlocks(sizes?.[0] ?? 2, runs, true)),
  },
}

export function listRows(): string {
  return Object.entries(rows)
    .map(([name, { goal, parts }]) => {
      const names = Object.keys(parts ?? {})
      return `  ${name.padEnd(12)} ${goal}${names.length > 1 ? `\n${' '.repeat(15)}parts: ${names.join(', ')}` : ''}`
    })
    .join('\n')
}

export interface TableOptions {
  readonly runs: number
  readonly sizes: readonly number[] | undefined
  readonly isBrowser: boolean
  readonly out: string | undefined
  /** Judges what an earlier run has written, and measures nothing. */
  readonly from: string | undefined
}

/** @throws Error when there is no such row or part */
export async function measureRow(
  name: string,
  part: string | undefined,
  options: TableOptions,
): Promise<void> {
  const row = rows[name]
  if (!row) throw new Error(`There is no row "${name}". Rows:\n${listRows()}`)
  const [processor] = cpus()
  console.log(`${new Date().toISOString()}: ${name}: ${row.goal}`)
  console.log(
    `${version()}, ${cpus().length} cores, ${processor?.model ?? 'unknown processor'}, Node ${process.version}, load ${loadavg()[0]!.toFixed(1)}`,
  )
  const { runs, sizes, from } = options
  if (row.measure) {
    printFindings((await row.measure(runs, sizes)) ?? [])
    return
  }
  const cells = summarize(from === undefined ? await measureParts(row, part, options) : readSamples(from))
  printFindings(judges[row.judge!](cells))
}

function printFindings(findings: readonly Finding[]): void {
  if (findings.length === 0) return
  console.log('\n| where | found | to reach | reached |\n| --- | --- | --- | --- |')
  for (const { cell, where, found, goal, isReached } of findings)
    console.log(
      `| ${where ?? (cell ? describeCell(cell) : 'all')} | ${found} | ${goal} | ${isReached ? 'yes' : 'no'} |`,
    )
}

function describeCell({ size, bytes, peers, network }: Cell): string {
  return `P = ${size}, ${sizeText(bytes)}, ${peers === 'node' ? 'Node peers' : 'tabs'}, ${describeNetwork(network)}`
}

function version(): string {
  try {
    const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], {
      cwd: import.meta.dirname,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return `commit ${commit.trim()}`
  } catch {
    return 'no commit'
  }
}

async function measureParts({ parts = {} }: Row, part: string | undefined, options: TableOptions) {
  const chosen = Object.entries(parts).filter(([each]) => part === undefined || each === part)
  if (chosen.length === 0)
    throw new Error(`There is no part "${part}", but ${Object.keys(parts).join(', ')}.`)
  const { runs, sizes, isBrowser, out } = options
  const samples: Sample[] = []
  for (const [, { sizes: own, flags }] of chosen) {
    const request = parseLab({ ...flags, out }, { sizes: sizes ?? own, rounds: runs, isBrowser })
    samples.push(...(await measureLab(request)))
  }
  return samples
}

function readSamples(name: string): Sample[] {
  return readLines(name).filter((line) => line.kind === 'sample')
}
