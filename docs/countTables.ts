/** Tables of what the registry holds and what its schedules cost, counted from the schedules themselves. */
import { buildSchedule } from '../shared/schedule/build.ts'
import { countRank } from '../shared/schedule/counts.ts'
import { algorithms } from '../shared/schedule/registry.ts'
import type { Algorithm, Collective, Settings } from '../shared/schedule/types.ts'
import { verifySchedule } from '../shared/schedule/verify.ts'
import { decimal, table } from './table.ts'

const settingsText = (settings: Settings): string =>
  Object.entries(settings)
    .filter(([name]) => name !== 'root')
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')

/** Settings worth a row: those that differ in more than how fine the pieces are; of the groups the two best known. */
function rowsOf(algorithm: Algorithm, size: number): Settings[] {
  const seen = new Map<string, Settings>()
  for (const settings of algorithm.variants(size)) {
    const { pieces: _pieces, segments: _segments, root: _root, ...kind } = settings
    const { group = 'cyclic' } = kind
    if (group !== 'cyclic' && group !== 'xor') continue
    const key = settingsText(kind)
    if (!seen.has(key)) seen.set(key, settings)
  }
  return [...seen.values()]
}

/** A figure of a count table, and the collectives that have it. */
interface Column {
  readonly head: string
  readonly isFor: (collective: Collective) => boolean
}

const always = () => true
const reduces = (collective: Collective) => ['allreduce', 'reduceScatter', 'reduce'].includes(collective)

const columns: readonly Column[] = [
  ...['algorithm', 'settings', 'steps', 'messages', 'sent'].map((head) => ({ head, isFor: always })),
  { head: 'combined', isFor: reduces },
  { head: 'peers', isFor: always },
  // Where one rank has each result, all ranks that have it agree.
  { head: 'same bits', isFor: (collective) => collective === 'allreduce' },
  { head: 'rank order', isFor: reduces },
]

/** Exact counts of the busiest rank, volumes in vectors, and what the recorded operand trees say. */
function countsOf(algorithm: Algorithm, size: number, settings: Settings): Readonly<Record<string, string>> {
  const schedule = buildSchedule(algorithm, size, settings)
  const { identical, ordered } = verifySchedule(schedule, { idempotent: algorithm.restrictions.idempotent })
  const ranks = schedule.ranks.map((part) => countRank(schedule, part))
  const most = (of: (rank: (typeof ranks)[number]) => number) => decimal(Math.max(...ranks.map(of)))
  return {
    algorithm: `\`${algorithm.name}\`${algorithm.baseline ? ' (baseline)' : ''}`,
    settings: settingsText(settings),
    steps: String(schedule.steps),
    messages: most((rank) => rank.messages),
    sent: most((rank) => rank.vectorSent),
    combined: most((rank) => rank.vectorCombined),
    peers: most((rank) => rank.peers),
    'same bits': identical ? 'yes' : 'no',
    'rank order': ordered ? 'kept' : 'no',
  }
}

export function countTable(collective: Collective, size: number): string {
  const heads = columns.filter(({ isFor }) => isFor(collective)).map(({ head }) => head)
  const rows = algorithms
    .filter((algorithm) => algorithm.collective === collective)
    .flatMap((algorithm) => rowsOf(algorithm, size).map((settings) => countsOf(algorithm, size, settings)))
  return table(
    heads,
    rows.map((counts) => heads.map((head) => counts[head]!)),
  )
}

/** Every algorithm with its source and what it asks of the call. */
export function registryTable(): string {
  const yes = (is: boolean, text: string) => (is ? [text] : [])
  return table(
    ['collective', 'algorithm', 'what it is', 'needs', 'parameters', 'source'],
    algorithms.map(({ collective, name, title, restrictions, parameters, source }) => [
      collective,
      `\`${name}\``,
      title,
      [
        ...yes(restrictions.commutative, 'commutative operator'),
        ...yes(restrictions.idempotent, 'idempotent operator'),
        ...yes(restrictions.links === 'all', 'all links'),
      ].join(', '),
      parameters.map((parameter) => `\`${parameter.name}\``).join(', '),
      source,
    ]),
  )
}
