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
import { parseLab } from './lab/options.ts'
import { readLines } from './lab/report.ts'
import { type LabRow, labRows, partsOf } from './lab/rows.ts'
import { measureLab } from './lab/run.ts'
import { type Cell, type Sample, summarize } from './lab/samples.ts'
import { measurePlane } from './plane.ts'
import { sizeText } from './statistics.ts'

/** A measurement with tables of its own. */
interface OtherRow {
  readonly goal: string
  readonly measure: (
    runs: number,
    sizes: readonly number[] | undefined,
  ) => Promise<readonly Finding[] | undefined>
}

/** What prints its own verdict. */
const alone = (measured: Promise<void>) => measured.then(() => undefined)

const otherRows: Readonly<Record<string, OtherRow>> = {
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
  return [...Object.entries(otherRows), ...Object.entries(labRows)]
    .map(([name, row]) => {
      const names = 'parts' in row ? Object.keys(row.parts) : []
      return `  ${name.padEnd(12)} ${row.goal}${names.length > 1 ? `\n${' '.repeat(15)}parts: ${names.join(', ')}` : ''}`
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
  const row = labRows[name] ?? otherRows[name]
  if (!row) throw new Error(`There is no row "${name}". Rows:\n${listRows()}`)
  const [processor] = cpus()
  console.log(`${new Date().toISOString()}: ${name}: ${row.goal}`)
  console.log(
    `${version()}, ${cpus().length} cores, ${processor?.model ?? 'unknown processor'}, Node ${process.version}, load ${loadavg()[0]!.toFixed(1)}`,
  )
  const { runs, sizes, from } = options
  if ('measure' in row) {
    printFindings((await row.measure(runs, sizes)) ?? [])
    return
  }
  const cells = summarize(from === undefined ? await measureParts(row, part, options) : readSamples(from))
  printFindings(judges[row.judge](cells))
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

async function measureParts(row: LabRow, part: string | undefined, options: TableOptions) {
  const parts = partsOf(row, part)
  if (parts.length === 0)
    throw new Error(`There is no part "${part}", but ${Object.keys(row.parts).join(', ')}.`)
  const { runs, sizes, isBrowser, out } = options
  const samples: Sample[] = []
  for (const { sizes: own, flags } of parts) {
    const request = parseLab({ ...flags, out }, { sizes: sizes ?? own, rounds: runs, isBrowser })
    samples.push(...(await measureLab(request)))
  }
  return samples
}

function readSamples(name: string): Sample[] {
  return readLines(name).filter((line) => line.kind === 'sample')
}
