/** What a round was, for people: the same on every member but for its own bytes and seconds. */
import type { PeerName } from '../base/errors.ts'
import type { Decision, Row } from './decide.ts'
import type { PeerInRound, RoundReport } from './roundTypes.ts'

const named = (names: readonly string[], values: readonly number[]) =>
  Object.fromEntries(
    names.flatMap((name, i) => (Number.isFinite(values[i]) ? [[name, values[i]! as number] as const] : [])),
  )

export function describeRound(
  rows: readonly Row[],
  decision: Decision,
  metrics: readonly string[],
  isWeighted: boolean,
): Pick<RoundReport, 'peers' | 'metrics'> {
  const { counted, excluded } = decision
  const total = counted.reduce((sum, { samples }) => sum + samples, 0)
  const shareOf = ({ samples }: Row) => (isWeighted ? samples / total : 1 / counted.length)
  const whyNot = (peer: PeerName) => excluded.find(({ row }) => row.peer === peer)?.why
  const peers = rows.map((row): PeerInRound => {
    const why = whyNot(row.peer)
    return {
      peer: row.peer,
      samples: row.samples,
      share: why ? 0 : shareOf(row),
      ...(why && { excluded: why }),
      norm: row.norm,
      trainSeconds: row.trainSeconds,
      metrics: named(metrics, row.metrics),
    }
  })
  const means = metrics.map((_, i) => {
    const known = counted.filter((row) => Number.isFinite(row.metrics[i]))
    const samples = known.reduce((sum, row) => sum + row.samples, 0)
    return known.reduce((sum, row) => sum + row.samples * row.metrics[i]!, 0) / samples
  })
  return { peers, metrics: named(metrics, means) }
}
