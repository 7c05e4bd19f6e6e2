/** What `papilio learn` prints: a line for each round, and the table at the end. */
import type { RoundReport } from '../../shared/federated/roundTypes.ts'
import { type LearnState, outcomeOf } from '../learn/state.ts'

const percent = (value: number | undefined) => (value === undefined ? '–' : `${(100 * value).toFixed(1)} %`)
const kilobytes = (bytes: number) => `${Math.round(bytes / 1000)} kB`

export function roundLine(report: RoundReport, accuracy: number): string {
  const { round, rounds, peers, metrics, bytesSent, seconds } = report
  const excluded = peers.filter(({ share }) => share === 0).map(({ peer }) => peer.name)
  return [
    `round ${round} of ${rounds}`,
    `${peers.length} peers${excluded.length > 0 ? ` (not counted: ${excluded.join(', ')})` : ''}`,
    `averaged ${percent(accuracy)}`,
    `each before averaging ${percent(metrics.own)}`,
    `alone ${percent(metrics.alone)}`,
    `${kilobytes(bytesSent)} sent`,
    `${(seconds.train + seconds.wait + seconds.exchange).toFixed(2)} s`,
  ].join('  ')
}

export interface PeerSummary {
  readonly name: string
  readonly place: number
  /** Samples of each class. */
  readonly samples: readonly number[]
  readonly rounds: number
  readonly leftAfter?: number
  readonly own?: number
  readonly alone?: number
  readonly bytesSent: number
  readonly bytesReceived: number
  readonly hash?: string
}

export interface LearnSummary {
  readonly lesson: NonNullable<LearnState['run']>['lesson']
  readonly classes: readonly string[]
  readonly parameters: number
  readonly ending: string
  readonly rounds: number
  /** Accuracies 0 .. 1 on samples that nobody has trained on. */
  readonly averaged?: number
  readonly alone?: number
  readonly central?: number
  readonly hash?: string
  /** All peers that are left hold the same bits. */
  readonly identical: boolean
  readonly seconds: number
  readonly peers: readonly PeerSummary[]
  readonly curve: readonly { round: number; averaged?: number; own?: number; alone?: number; peers: number }[]
}

export interface Learned {
  readonly name: string
  readonly peerId: string
  readonly state: LearnState
}

/** `learned`: the members of this process, of which the first one evaluates. */
export function summarize(
  learned: readonly Learned[],
  countsOf: (place: number) => readonly number[],
  seconds: number,
  central: number | undefined,
): LearnSummary | undefined {
  const run = learned[0]?.state.run
  if (!run) return undefined
  const { lesson, rounds, facts } = run
  const outcome = outcomeOf(run)
  const peers = learned.map(({ name, peerId, state }) => summarizePeer(name, peerId, state, countsOf))
  const here = peers.filter(({ leftAfter }) => leftAfter === undefined)
  return {
    lesson,
    classes: facts?.classes ?? [],
    parameters: facts?.parameters ?? 0,
    ending: run.ending ?? 'failed',
    rounds: rounds.at(-1)?.round ?? 0,
    ...outcome,
    ...(central !== undefined && { central }),
    identical: outcome.hash !== undefined && here.every(({ hash }) => hash === outcome.hash),
    seconds,
    peers,
    curve: rounds.map(({ round, metrics, peers }) => ({
      round,
      ...accuracy('averaged', run.averaged.get(round)?.accuracy),
      ...accuracy('own', metrics.own),
      ...accuracy('alone', metrics.alone),
      peers: peers.length,
    })),
  }
}

const accuracy = (name: string, value: number | undefined) => (value === undefined ? {} : { [name]: value })

function summarizePeer(
  name: string,
  peerId: string,
  { run, groupState }: LearnState,
  countsOf: (place: number) => readonly number[],
): PeerSummary {
  const place = run?.pupils.find((pupil) => pupil.peerId === peerId)?.place ?? 0
  const rounds = run?.rounds ?? []
  const last = rounds.at(-1)
  const metrics = last?.peers.find(({ peer }) => peer.peerId === peerId)?.metrics
  const total = (of: (report: RoundReport) => number) => rounds.reduce((sum, report) => sum + of(report), 0)
  return {
    name,
    place,
    samples: countsOf(place),
    rounds: rounds.length,
    ...(groupState === 'left' && { leftAfter: last?.round ?? 0 }),
    ...accuracy('own', metrics?.own),
    ...accuracy('alone', metrics?.alone),
    bytesSent: total(({ bytesSent }) => bytesSent),
    bytesReceived: total(({ bytesReceived }) => bytesReceived),
    ...(last && { hash: last.hash }),
  }
}

export function tableOf(summary: LearnSummary): string[] {
  const { peers, classes, averaged, alone, central, hash, identical, ending, rounds, seconds } = summary
  const rows = peers.map((peer) => [
    peer.name,
    String(peer.samples.reduce((sum, count) => sum + count, 0)),
    classesOf(peer.samples, classes),
    percent(peer.own),
    percent(peer.alone),
    kilobytes(peer.bytesSent),
    peer.leftAfter === undefined ? (peer.hash ?? '–') : `left after round ${peer.leftAfter}`,
  ])
  const head = ['peer', 'samples', 'mostly', 'before averaging', 'alone', 'sent', 'hash']
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]!.length)),
  )
  const lineOf = (row: readonly string[]) =>
    row
      .map((cell, i) => cell.padEnd(widths[i]!))
      .join('  ')
      .trimEnd()
  const left = peers.filter(({ leftAfter }) => leftAfter === undefined).length
  return [
    lineOf(head),
    ...rows.map(lineOf),
    '',
    `${ending === 'complete' ? 'Done' : ending === 'stopped' ? 'Stopped' : 'Failed'} after ${rounds} rounds, ${seconds.toFixed(1)} s.`,
    `Averaged model:      ${percent(averaged)} of the test samples right`,
    `Alone, mean:         ${percent(alone)}`,
    ...(central === undefined ? [] : [`Trained centrally:   ${percent(central)}`]),
    identical
      ? `All ${left} peers hold the same bits, hash ${hash}.`
      : `The peers hold DIFFERENT models: ${[...new Set(peers.map((peer) => peer.hash))].join(', ')}.`,
  ]
}

/** The classes that make up most of the samples: all of them are "all". */
function classesOf(counts: readonly number[], classes: readonly string[]): string {
  const total = counts.reduce((sum, count) => sum + count, 0)
  const most = counts.flatMap((count, i) =>
    count > (0.5 * total) / counts.length ? [classes[i] ?? `${i}`] : [],
  )
  return most.length === counts.length ? 'all' : most.join(' ')
}
