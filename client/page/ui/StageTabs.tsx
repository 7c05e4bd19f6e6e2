/** What of a run is on the stage: plan or run, which variant, which axis. */
import { useComputed } from '@preact/signals'
import type { JSX } from 'preact'
import type { RunState } from '../session/runState.ts'
import { useStore } from '../store.ts'

export function StageTabs(props: {
  run: RunState | undefined
  variant: number
  canTime: boolean
  mode: 'steps' | 'time'
  onMode: (mode: 'steps' | 'time') => void
}): JSX.Element {
  const store = useStore()
  const { stageView } = store
  const { run, variant, canTime, mode, onMode } = props
  const hasRun = useComputed(() => store.run.value !== undefined).value
  const variants = run?.start.spec.variants ?? []
  const tab = (label: string, isOn: boolean, act: () => void) => (
    <button type="button" class="chip" aria-pressed={isOn} onClick={act}>
      {label}
    </button>
  )
  return (
    <div class="stage-tabs">
      {hasRun && (
        <fieldset class="chips" aria-label="What is shown">
          {tab('Plan', stageView.value === 'plan', () => (stageView.value = 'plan'))}
          {tab('Last run', stageView.value === 'run', () => (stageView.value = 'run'))}
        </fieldset>
      )}
      {variants.length > 1 && (
        <fieldset class="chips" aria-label="Variant">
          {variants.map(({ algorithm, r }, index) =>
            tab(
              r === undefined ? algorithm : `r = ${r}`,
              index === variant,
              () => (store.chosenVariant.value = index),
            ),
          )}
        </fieldset>
      )}
      {canTime && (
        <fieldset class="chips" aria-label="Axis">
          {tab('in steps', mode === 'steps', () => onMode('steps'))}
          {tab('in real time', mode === 'time', () => onMode('time'))}
        </fieldset>
      )}
    </div>
  )
}
