/** What to run, and the switch for it. */
import { useComputed } from '@preact/signals'
import type { JSX } from 'preact'
import { dtypes } from '../../../shared/wire/dtype.ts'
import { isOffered, maxRepeats, shownOperators, shownTypes } from '../../session/runSpec.ts'
import { candidateCounts } from '../session/choices.ts'
import { algorithmOptions } from '../session/planning.ts'
import { rValues, specOf } from '../session/settings.ts'
import { useStore } from '../store.ts'
import { Choice } from './Choice.tsx'
import { Icon } from './Icon.tsx'
import { ProgressLine } from './ProgressLine.tsx'
import { SizeField } from './SizeField.tsx'
import { Term } from './Term.tsx'

export function RunPanel(): JSX.Element {
  const { settings, change } = useStore()
  const { dtype, op, data, repeats } = settings.value
  const floats = dtypes[dtype].isFloat
  return (
    <section class="run" aria-labelledby="run-title">
      <h2 id="run-title" class="heard">
        Run an allreduce
      </h2>
      <div class="run-fields">
        <SizeField />
        <Choice
          name="op"
          legend="Operator"
          testId="op"
          value={op}
          options={shownOperators.map((value) => ({
            value,
            label: value,
            ...(!isOffered(dtype, value) && { disabled: true, title: `Not for ${typeNames[dtype]}s` }),
          }))}
          onChange={(value) => change({ op: value })}
        />
        <TypeField />
        <AlgorithmField />
        <RField />
        <Choice
          name="data"
          legend="Data"
          testId="data"
          value={floats ? data : 'whole'}
          options={[
            { value: 'whole', label: 'whole', title: 'Whole numbers: every sum is exact' },
            { value: 'real', label: 'real', title: 'Real numbers: sums are rounded', disabled: !floats },
          ]}
          onChange={(value) => change({ data: value })}
        />
        <ConsistencyField />
        <label class="field repeats">
          <span>Repeats</span>
          <input
            type="number"
            data-testid="repeats"
            min={1}
            max={maxRepeats}
            value={repeats}
            onInput={(event) => {
              const value = event.currentTarget.valueAsNumber
              if (value >= 1 && value <= maxRepeats) change({ repeats: Math.floor(value) })
            }}
          />
        </label>
        <RunButtons />
      </div>
      <ProgressLine />
    </section>
  )
}

const typeNames: Readonly<Record<(typeof shownTypes)[number], string>> = {
  f32: '32-bit float',
  f64: '64-bit float',
  f16: 'half-precision float',
  bf16: 'bfloat16',
  i32: '32-bit integer',
  i64: '64-bit integer',
  u8: 'byte',
}

function TypeField(): JSX.Element {
  const { settings, change } = useStore()
  const { dtype, op } = settings.value
  return (
    <label class="field type">
      <span>Type</span>
      <select
        data-testid="dtype"
        value={dtype}
        onChange={(event) => {
          const value = shownTypes.find((name) => name === event.currentTarget.value)
          if (value) change({ dtype: value, op: isOffered(value, op) ? op : 'sum' })
        }}
      >
        {shownTypes.map((name) => (
          <option key={name} value={name} title={typeNames[name]}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}

function AlgorithmField(): JSX.Element {
  const { size, settings, change } = useStore()
  const options = algorithmOptions(size.value)
  const { algorithm } = settings.value
  const isKnown = algorithm === 'auto' || options.some(({ key }) => key === algorithm)
  const group = (label: string, isBaseline: boolean) => (
    <optgroup label={label}>
      {options
        .filter(({ baseline }) => baseline === isBaseline)
        .map(({ key, title, refusal }) => (
          <option key={key} value={key} disabled={refusal !== undefined} title={refusal}>
            {title}
          </option>
        ))}
    </optgroup>
  )
  return (
    <label class="field algorithm">
      <span>Algorithm</span>
      <select
        data-testid="algo"
        value={algorithm}
        onChange={(event) => change({ algorithm: event.currentTarget.value })}
      >
        <option value="auto">Auto: the best of all</option>
        {!isKnown && <option value={algorithm}>{algorithm}</option>}
        {group('Papilio chooses from these', false)}
        {group('Baselines to compare with', true)}
      </select>
    </label>
  )
}

function RField(): JSX.Element {
  const { size, settings, change } = useStore()
  const { algorithm, r } = settings.value
  const values = rValues(algorithm, size.value)
  const shown = r === 'auto' || values.length === 0 ? r : Math.min(r, Math.max(...values))
  return (
    <div class="r-field">
      <Choice
        name="r"
        legend="r, steps removed"
        testId="r"
        value={values.length === 0 ? 'auto' : shown}
        disabled={values.length === 0}
        options={[
          { value: 'auto' as const, label: 'auto', testId: 'r-auto', title: 'The best r for this size' },
          ...values.map((value) => ({ value, label: String(value) })),
        ]}
        onChange={(value) => change({ r: value })}
      />
      {values.length === 0 && <span class="note">{algorithm === 'auto' ? 'auto decides' : 'has no r'}</span>}
    </div>
  )
}

function ConsistencyField(): JSX.Element {
  const { size, model, settings, change } = useStore()
  const { consistency } = settings.value
  const { all, identical } = candidateCounts(settings.value, size.value, model.value)
  return (
    <div class="field consistency">
      <label class="switch">
        <input
          type="checkbox"
          data-testid="identical"
          checked={consistency === 'identical'}
          onChange={(event) => change({ consistency: event.currentTarget.checked ? 'identical' : 'fast' })}
        />
        <span>Same bits on all ranks</span>
      </label>
      <span class="note">
        {consistency === 'identical' ? 'auto chooses from ' : 'promised by '}
        <Term of="identical">
          {identical} of the {all} candidates
        </Term>
      </span>
    </div>
  )
}

function RunButtons(): JSX.Element {
  const { lab, run, choice, reason, size, settings } = useStore()
  const isRunning = useComputed(() => run.value?.phase === 'running').value
  const why = reason.value ?? (typeof choice.value === 'string' ? choice.value : undefined)
  const start = () => lab.request(specOf(settings.value, size.value))
  return (
    <div class="run-buttons">
      {isRunning ? (
        <button type="button" class="button stop" data-testid="stop" onClick={() => lab.stop()}>
          <Icon name="stop" />
          Stop
        </button>
      ) : (
        <button
          type="button"
          class="button go"
          data-testid="run"
          disabled={why !== undefined}
          aria-describedby="run-reason"
          onClick={start}
        >
          Run
        </button>
      )}
      <span id="run-reason" class="note" data-testid="run-reason">
        {isRunning ? '' : why}
      </span>
    </div>
  )
}
