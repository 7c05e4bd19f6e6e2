/** The command line of the lab benchmark, parsed once. */
import type { ParseArgsConfig } from 'node:util'
import { parseNetwork } from '../../lab/network.ts'
import type { LabOptions } from './run.ts'
import { type Baseline, baselines } from './select.ts'

export const labFlags = {
  lab: { type: 'string' },
  bytes: { type: 'string', short: 'b' },
  algo: { type: 'string' },
  baselines: { type: 'string' },
  within: { type: 'string' },
  most: { type: 'string' },
  consistency: { type: 'string' },
  out: { type: 'string' },
} as const satisfies ParseArgsConfig['options']

export type LabFlags = { readonly [Name in keyof typeof labFlags]?: string | undefined }

export const labHelp = `npm run bench -- --lab "rtt=10,rate=50" [-p 3,7] [-b 425,9K,4M] [--runs 5] ...: allreduces of float32 in the lab

  --lab NETWORK      rtt=MS there and back between two hosts, or delay=MS between a host and the switch (rtt is four times that);
                     rate=MBIT of each host; queue=MS, loss=PERCENT, shared=MBIT (test/lab/README.md). Default rtt=10,rate=50
  -p SIZES           of groups. Default 7
  -b BYTES           of vectors: 425, 9K, 4M. Default 425,9K,28K,64K,256K,1M,4M
  --runs N           rounds; in each one every candidate is called once, with up to 64 KiB three times. Default 5
  --within X         candidates predicted up to X times as slow as the fastest, the best of each algorithm up to 2 X. Default 2; 0: none
  --most N           no more than the N fastest of them. Default 12
  --algo NAMES       the best variant of these algorithms in any case, of NAME* every variant; \`all\`: every candidate
  --baselines NAMES  of raw, one-shot, star, ring, recursive-doubling; mpi (OpenMPI over TCP: openmpi-bin, libopenmpi-dev); none.
                     Default: all but mpi
  --consistency fast also schedules whose ranks may differ in the last bits. Default identical
  --browser          a tab on each host, in a Chromium of its own, instead of a Node process
  --out FILE         appends every call as a line of JSON; \`npm run bench -- report FILES\` makes the tables of such files together

Tuning something: a line such as
  npm run bench -- --lab "rtt=10,rate=50" -p 7 -b 425,9K --within 0 --baselines none        auto alone, half a minute
  npm run bench -- --lab "rtt=10,rate=50" -p 7 -b 64K,1M --algo two-shot,ring --within 0 --baselines raw
Needs root, gcc, iproute2 and /dev/net/tun. One run does not disturb another's network, but its processor.`

export const defaultBytes = '425,9K,28K,64K,256K,1M,4M'

/** @throws Error that says what was wrong */
export function parseLab(
  flags: LabFlags,
  shared: {
    readonly sizes: readonly number[] | undefined
    readonly rounds: number
    readonly isBrowser: boolean
  },
): LabOptions {
  const { lab = 'rtt=10,rate=50', algo, consistency = 'identical' } = flags
  const { sizes = [7], ...rest } = shared
  if (sizes.some((size) => size < 2 || size > 64)) throw new Error('-p takes group sizes from 2 to 64.')
  if (consistency !== 'identical' && consistency !== 'fast')
    throw new Error('--consistency is identical or fast.')
  const isAll = algo === 'all'
  const names = listOf(flags.baselines ?? baselines.join(','))
  return {
    ...rest,
    network: parseNetwork(lab),
    sizes: [...sizes].sort((a, b) => a - b),
    bytes: listOf(flags.bytes ?? defaultBytes).map(parseBytes),
    consistency,
    within: isAll ? Number.POSITIVE_INFINITY : numberOf('--within', flags.within ?? '2'),
    most: isAll ? Number.POSITIVE_INFINITY : numberOf('--most', flags.most ?? '12'),
    named: isAll ? [] : listOf(algo ?? ''),
    baselines: names.filter((name) => name !== 'none' && name !== 'mpi').map(baselineOf),
    isWithMpi: names.includes('mpi'),
    out: flags.out,
  }
}

const listOf = (text: string) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

function baselineOf(name: string): Baseline {
  const found = baselines.find((baseline) => baseline === name)
  if (found) return found
  throw new Error(`There is no baseline "${name}". Known: ${baselines.join(', ')}, mpi, none.`)
}

function numberOf(flag: string, text: string): number {
  const value = Number(text)
  if (text.trim() !== '' && value >= 0) return value
  throw new Error(`${flag} takes a number that is not negative, not "${text}".`)
}

const units = { '': 1, K: 1024, M: 1024 ** 2 }

/** @throws Error when it is no number of bytes up to 256 MiB */
export function parseBytes(text: string): number {
  const [, digits, unit = ''] = /^(\d+)([KM]?)(?:i?B)?$/i.exec(text) ?? []
  const bytes = Number(digits) * units[unit.toUpperCase() as keyof typeof units]
  if (bytes >= 1 && bytes <= 2 ** 28) return bytes
  throw new Error(`A vector has from 1 to 256M bytes, such as 425, 9K or 4M, not "${text}".`)
}
