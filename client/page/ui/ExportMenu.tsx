/** Runs and the event log as files. */
import { useComputed } from '@preact/signals'
import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { version } from '../../../package.json'
import { logAsJsonLines, runAsJson, runAsTrace, runsAsCsv } from '../session/exportRun.ts'
import { saveFile } from '../stage/drawing/saveFile.ts'
import { useStore } from '../store.ts'
import { Icon } from './Icon.tsx'

export function ExportMenu(): JSX.Element {
  const { lab, state, variant } = useStore()
  const run = useComputed(() => state.value.history.at(-1)).value
  const trace = useMemo(() => run && runAsTrace(run, variant.value, version), [run, variant.value])
  const button = (label: string, testId: string, isOff: boolean, save: () => void) => (
    <button type="button" class="button small" data-testid={testId} disabled={isOff} onClick={save}>
      <Icon name="save" size={16} />
      {label}
    </button>
  )
  return (
    <p class="panel-actions exports">
      {button('Last run, JSON', 'export-json', !run, () => {
        const context = { version, exportedAt: new Date().toISOString() }
        if (run) saveFile(`papilio-run-${run.start.runId}.json`, 'application/json', runAsJson(run, context))
      })}
      {button('All runs, CSV', 'export-csv', !run, () =>
        saveFile('papilio-runs.csv', 'text/csv', runsAsCsv(state.value.history)),
      )}
      {button('Last run, trace', 'export-trace', !trace, () => {
        if (run && trace) saveFile(`papilio-trace-${run.start.runId}.json`, 'application/json', trace)
      })}
      {button('Event log', 'export-log', false, () =>
        saveFile('papilio-log.jsonl', 'application/jsonl', logAsJsonLines(lab.log)),
      )}
    </p>
  )
}
