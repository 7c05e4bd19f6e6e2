/** Numbers, colours and words of the link matrix. */
import type { NetworkModel } from '../../../../shared/cost/types.ts'
import type { Schedule } from '../../../../shared/schedule/types.ts'
import type { LinkPath } from '../../../../shared/transport/types.ts'
import type { Table } from '../drawing/table.ts'
import { formatRate, formatSeconds } from '../format.ts'
import type { StageRank } from '../timetable/data.ts'
import { rankWords } from '../timetable/words.ts'

/** What is known of the way from one rank to another. */
export interface LinkInfo {
  readonly from: number
  readonly to: number
  /** Round trip, seconds. */
  readonly rtt?: number | undefined
  readonly bytesPerSecond?: number | undefined
  readonly path?: LinkPath | undefined
}

export type LinkMetric = 'rtt' | 'rate' | 'path'

/** Round trip as twice alpha, rate as 1 / beta of the fitted links. */
export function linksOfModel(model: NetworkModel): LinkInfo[] {
  return model.links.flatMap((row, from) =>
    row.flatMap((curve, to) =>
      curve === undefined || from === to
        ? []
        : [
            {
              from,
              to,
              rtt: 2 * curve.alpha,
              ...(curve.beta > 0 ? { bytesPerSecond: 1 / curve.beta } : {}),
            },
          ],
    ),
  )
}

/** Links that the schedule sends on, as "from to". */
export function usedLinks(schedule: Schedule): Set<string> {
  return new Set(
    schedule.ranks.flatMap(({ rank, steps }) =>
      steps.flatMap((step) => step.sends.map((send) => `${rank} ${send.to}`)),
    ),
  )
}

/** Six levels on a log scale, 5 is the slowest; links within a fifth of each other are alike. */
export function levelsOf(
  links: readonly LinkInfo[],
  metric: LinkMetric,
): (link: LinkInfo) => number | undefined {
  const cost = (link: LinkInfo) =>
    metric === 'rate'
      ? link.bytesPerSecond && 1 / link.bytesPerSecond
      : metric === 'rtt'
        ? link.rtt
        : undefined
  const costs = links.map(cost).filter((c): c is number => c !== undefined && c > 0)
  const [low, high] = [Math.min(...costs), Math.max(...costs)]
  return (link) => {
    const value = cost(link)
    if (value === undefined || value <= 0) return undefined
    if (high / low < 1.2) return 1
    return Math.min(5, Math.floor((Math.log(value / low) / Math.log(high / low)) * 6))
  }
}

/** Milliseconds or MB/s, without unit: it stands in the title. */
export function cellText(link: LinkInfo | undefined, metric: LinkMetric): string {
  if (link === undefined) return '–'
  if (metric === 'path') return link.path ?? '–'
  const value =
    metric === 'rtt' ? link.rtt && link.rtt * 1e3 : link.bytesPerSecond && link.bytesPerSecond / 1e6
  if (value === undefined) return '–'
  return value >= 99.5 ? value.toFixed(0) : value >= 9.95 ? value.toFixed(1) : value.toFixed(2)
}

export function linkWords(link: LinkInfo, ranks: readonly StageRank[], used: boolean): string {
  return [
    `${rankWords(ranks, link.from)} → ${rankWords(ranks, link.to)}:`,
    [
      link.rtt === undefined ? '' : `RTT ${formatSeconds(link.rtt)}`,
      link.bytesPerSecond === undefined ? '' : formatRate(link.bytesPerSecond),
      link.path ?? '',
      used ? '' : 'not used by this schedule',
    ]
      .filter((word) => word !== '')
      .join(', '),
  ].join(' ')
}

/** The slowest link by round trip and by rate, in a sentence. */
export function slowestWords(links: readonly LinkInfo[], ranks: readonly StageRank[]): string {
  const rated = links.filter((link) => link.bytesPerSecond !== undefined)
  const timed = links.filter((link) => link.rtt !== undefined)
  const slowest = [...rated].sort((a, b) => (a.bytesPerSecond ?? 0) - (b.bytesPerSecond ?? 0))[0]
  const farthest = [...timed].sort((a, b) => (b.rtt ?? 0) - (a.rtt ?? 0))[0]
  const pair = (link: LinkInfo) => `${rankWords(ranks, link.from)} → ${rankWords(ranks, link.to)}`
  return [
    slowest ? `Slowest link: ${pair(slowest)}, ${formatRate(slowest.bytesPerSecond ?? 0)}.` : '',
    farthest ? `Longest round trip: ${pair(farthest)}, ${formatSeconds(farthest.rtt ?? 0)}.` : '',
  ]
    .filter((sentence) => sentence !== '')
    .join(' ')
}

export function linkTable(
  links: readonly LinkInfo[],
  ranks: readonly StageRank[],
  used: ReadonlySet<string> | undefined,
): Table {
  const who = (value: string | number) => rankWords(ranks, Number(value))
  return {
    caption: 'Links',
    columns: [
      { title: 'From', csv: 'from', show: who },
      { title: 'To', csv: 'to', show: who },
      {
        title: 'RTT',
        csv: 'rtt_s',
        numeric: true,
        show: (value) => (value === '' ? '–' : formatSeconds(Number(value))),
      },
      {
        title: 'Rate',
        csv: 'bytes_per_s',
        numeric: true,
        show: (value) => (value === '' ? '–' : formatRate(Number(value))),
      },
      { title: 'Path', csv: 'path' },
      ...(used ? [{ title: 'Used', csv: 'used' }] : []),
    ],
    rows: links.map((link) => [
      link.from,
      link.to,
      link.rtt ?? '',
      link.bytesPerSecond ?? '',
      link.path ?? '',
      ...(used ? [used.has(`${link.from} ${link.to}`) ? 'yes' : 'no'] : []),
    ]),
  }
}
