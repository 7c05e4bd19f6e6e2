/** Rows of docs/benchmarks.md that are measured in the lab: what is compared on which network, and what is to be reached. */
import type { judges } from './judge.ts'
import { defaultBytes, type LabFlags } from './options.ts'

export interface LabPart {
  /** Of groups. */
  readonly sizes: readonly number[]
  readonly flags: LabFlags
}

export interface LabRow {
  readonly goal: string
  /** Long rows come in parts of a few minutes. */
  readonly parts: Readonly<Record<string, LabPart>>
  readonly judge: keyof typeof judges
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

export const labRows: Readonly<Record<string, LabRow>> = {
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
}

/** The part of that name, or all whose names begin so: `far-7` is `far-7-short` and its like; without a name all. */
export function partsOf({ parts }: LabRow, name: string | undefined): LabPart[] {
  return Object.entries(parts)
    .filter(([each]) => name === undefined || each === name || each.startsWith(`${name}-`))
    .map(([, part]) => part)
}
