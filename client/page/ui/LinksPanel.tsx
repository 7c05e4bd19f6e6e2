/** The links between the peers, as measured. */
import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { LinkPath } from '../../../shared/transport/types.ts'
import type { LabState } from '../session/labState.ts'
import { scheduleOf } from '../session/planning.ts'
import { FitPlot } from '../stage/charts/FitPlot.tsx'
import { LinkMatrix } from '../stage/charts/LinkMatrix.tsx'
import { type LinkInfo, type LinkMetric, linksOfModel } from '../stage/charts/linkMatrix.ts'
import { useStore } from '../store.ts'
import { ranksOf } from './shown.ts'

/** As either end tells it; both see the same connection. */
function pathBetween(state: LabState, from: string, to: string): LinkPath | undefined {
  const self = state.self?.peerId
  if (from === self) return state.links.get(to)?.path
  if (to === self) return state.links.get(from)?.path
  return state.about.get(from)?.paths[to] ?? state.about.get(to)?.paths[from]
}

export function LinksPanel(): JSX.Element {
  const { lab, state, ...store } = useStore()
  const [metric, setMetric] = useState<LinkMetric>('rtt')
  const now = state.value
  const reason = store.reason.value
  const choice = store.choice.value
  const ranks = useMemo(() => ranksOf(now), [now.members, now.hues, now.self])
  const model = store.model.value
  const links = useMemo(
    () =>
      linksOfModel(model).map((link): LinkInfo => {
        const [from, to] = [ranks[link.from]?.peerId, ranks[link.to]?.peerId]
        const path = from && to && pathBetween(now, from, to)
        return path ? { ...link, path } : link
      }),
    [model, ranks, now.links, now.about],
  )
  const curves = useMemo(
    () =>
      model.links.flatMap((row, from) =>
        row.flatMap((curve, to) => (curve && from !== to ? [{ from, to, curve }] : [])),
      ),
    [model],
  )
  const schedule =
    typeof choice === 'string'
      ? undefined
      : scheduleOf(choice.chosen.algorithm, choice.chosen.settings, ranks.length)
  if (store.simulated.value)
    return <p class="note">There are no links yet. Add peers, then their round trips and rates stand here.</p>
  return (
    <>
      <LinkMatrix ranks={ranks} links={links} metric={metric} onMetric={setMetric} schedule={schedule} />
      <p class="panel-actions">
        <button
          type="button"
          class="button"
          data-testid="measure"
          disabled={reason !== undefined}
          title={reason}
          onClick={() => lab.measure()}
        >
          Measure again
        </button>
        <span class="note">{now.measureError?.message ?? ''}</span>
      </p>
      <FitPlot ranks={ranks} links={curves} />
    </>
  )
}
