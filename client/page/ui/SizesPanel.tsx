/** Time against size for each r and the ring: where the best r changes. */
import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { dtypes } from '../../../shared/wire/dtype.ts'
import { quantile } from '../../session/outcome.ts'
import { countOf } from '../../session/runSpec.ts'
import { choiceOf } from '../session/choices.ts'
import { measurementsFor, settingsKey } from '../session/results.ts'
import type { RunState } from '../session/runState.ts'
import { type LabSettings, rValues, sweptAlgorithm } from '../session/settings.ts'
import { SizeChart } from '../stage/charts/SizeChart.tsx'
import type { SizeCandidate } from '../stage/charts/sizeLayout.ts'
import { useStore } from '../store.ts'

const sizes = Array.from({ length: 21 }, (_, power) => 2 ** (power + 4))

export function SizesPanel(): JSX.Element {
  const { settings, ...store } = useStore()
  const size = store.size.value
  const model = store.model.value
  const members = store.members.value.map((member) => member.peerId).join(' ')
  const history = store.history.value
  const { algorithm, dtype, op, bytes } = settings.value
  const candidates = useMemo(() => {
    const key = sweptAlgorithm(algorithm, size)
    const base: LabSettings = { ...settings.value, consistency: 'fast' }
    return [
      ...rValues(key, size).map((r) => ({ label: `r = ${r}`, settings: { ...base, algorithm: key, r } })),
      { label: 'ring', settings: { ...base, algorithm: 'ring' } },
    ].flatMap(({ label, settings: each }): SizeCandidate[] => {
      const predictions = sizes.flatMap((bytes) => {
        const choice = choiceOf({ ...each, bytes }, size, model)
        return typeof choice === 'string' ? [] : [{ bytes, prediction: choice.chosen }]
      })
      const first = predictions[0]?.prediction
      if (!first) return []
      const measured = measuredBySize(history, { dtype, op, members }, first)
      return [
        {
          label,
          points: predictions.map(({ bytes, prediction }) => ({ bytes, seconds: prediction.seconds })),
          ...(measured.length > 0 ? { measured } : {}),
          baseline: label === 'ring',
        },
      ]
    })
  }, [algorithm, dtype, op, size, model, members, history])
  return <SizeChart candidates={candidates} bytes={countOf({ bytes, dtype }) * dtypes[dtype].bytes} />
}

/** All that this group has measured with one algorithm and its settings, by size. */
function measuredBySize(
  history: readonly RunState[],
  setting: { dtype: string; op: string; members: string },
  { algorithm, settings }: { algorithm: string; settings: Readonly<Record<string, number | string>> },
) {
  const key = settingsKey(algorithm, settings)
  const bytes = [...new Set(history.map((run) => run.start.spec.bytes))].sort((a, b) => a - b)
  return bytes.flatMap((each) => {
    const found = measurementsFor(history, { ...setting, bytes: each }).get(key)
    if (!found || each === 0) return []
    return [
      {
        bytes: each,
        measured: {
          median: found.median,
          low: quantile(found.seconds, 0.05),
          high: found.p95,
          runs: found.seconds.length,
        },
      },
    ]
  })
}
