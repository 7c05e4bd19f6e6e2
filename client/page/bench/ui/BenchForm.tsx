/** What is measured, and the buttons that begin and stop it. */
import type { JSX } from 'preact'
import { collectives } from '../../../../shared/schedule/collectives.ts'
import { dtypes } from '../../../../shared/wire/dtype.ts'
import { admitted } from '../../../../shared/wire/operator.ts'
import { formatBytes } from '../../stage/format.ts'
import { Choice } from '../../ui/Choice.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { absent, percentOf } from '../benchState.ts'
import { companions, useBench } from '../benchStore.ts'

const sizes = Array.from({ length: 13 }, (_, i) => 4 ** (i + 1))

interface SelectProps<Value extends string | number> {
  readonly label: string
  readonly testId: string
  readonly value: Value
  readonly options: readonly (readonly [value: Value, label: string])[]
  readonly disabled: boolean
  readonly onChange: (value: Value) => void
}

function Select<Value extends string | number>(props: SelectProps<Value>): JSX.Element {
  const { label, testId, value, options, disabled, onChange } = props
  return (
    <label class="field">
      <span>{label}</span>
      <select
        data-testid={testId}
        value={value}
        disabled={disabled}
        onChange={(event) => {
          const found = options[event.currentTarget.selectedIndex]
          if (found) onChange(found[0])
        }}
      >
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}

const same = <T extends string>(names: readonly T[]) => names.map((name) => [name, name] as const)

export function BenchForm(): JSX.Element {
  const { settings, change, word } = useBench()
  const { collective, algorithms, minBytes, maxBytes, iterations, dtype, op, compares } = settings.value
  const isOn = word.value === 'running'
  const isAllreduce = collective === 'allreduce'
  const isCombined = isAllreduce || collective === 'reduce' || collective === 'reduceScatter'
  const bytes = sizes.map((size) => [size, formatBytes(size)] as const)
  return (
    <section class="bench-form" aria-label="Benchmark">
      <h1>Benchmark</h1>
      <p class="bench-intro">
        Every size is timed by all algorithms in turns, from a barrier until the last peer has its result, and
        each result is checked. The same as <code>papilio bench</code> on the command line.
      </p>
      <div class="bench-fields">
        <Choice
          name="algorithms"
          legend="Algorithms"
          testId="algo"
          value={isAllreduce || algorithms !== 'every-r' ? algorithms : 'auto'}
          disabled={isOn}
          options={[
            { value: 'auto', label: 'auto', testId: 'algo-auto', title: 'What the group would choose' },
            {
              value: 'every-r',
              label: 'every r',
              testId: 'algo-every-r',
              title: 'The butterfly with each number of steps removed',
              disabled: !isAllreduce,
            },
            { value: 'all', label: 'all', testId: 'algo-all', title: 'Every algorithm for so many peers' },
          ]}
          onChange={(next) => change({ algorithms: next })}
        />
        <Select
          label="Collective"
          testId="collective"
          value={collective}
          options={same(collectives)}
          disabled={isOn}
          onChange={(next) => change({ collective: next })}
        />
        <Select
          label="From"
          testId="min-bytes"
          value={minBytes}
          options={bytes}
          disabled={isOn}
          onChange={(next) => change({ minBytes: next })}
        />
        <Select
          label="To"
          testId="max-bytes"
          value={maxBytes}
          options={bytes}
          disabled={isOn}
          onChange={(next) => change({ maxBytes: next })}
        />
        <Select
          label="Type"
          testId="dtype"
          value={dtype}
          options={same(Object.values(dtypes).map(({ name }) => name))}
          disabled={isOn}
          onChange={(next) => change({ dtype: next, op: admitted[next].includes(op) ? op : 'sum' })}
        />
        {isCombined && (
          <Select
            label="Operator"
            testId="op"
            value={op}
            options={same(admitted[dtype])}
            disabled={isOn}
            onChange={(next) => change({ op: next })}
          />
        )}
        <label class="field bench-iterations">
          <span>Iterations</span>
          <input
            type="number"
            data-testid="iterations"
            min={1}
            max={1000}
            disabled={isOn}
            value={iterations}
            onInput={(event) => {
              const next = event.currentTarget.valueAsNumber
              if (Number.isInteger(next) && next >= 1 && next <= 1000) change({ iterations: next })
            }}
          />
        </label>
        {isAllreduce && (
          <label class="bench-compare">
            <input
              type="checkbox"
              data-testid="compare"
              checked={compares}
              disabled={isOn}
              onChange={(event) => change({ compares: event.currentTarget.checked })}
            />
            <span>beside a star and send-to-all</span>
          </label>
        )}
      </div>
      <Buttons />
    </section>
  )
}

function Buttons(): JSX.Element {
  const { state, word, room, run } = useBench()
  const now = state.value
  const isOn = word.value === 'running' || now.wanted !== undefined
  const isAlone = now.members.length < 2
  const silent = absent(now)
  const reason =
    now.place !== 'joined'
      ? 'This page is not in a room yet.'
      : now.groupState === 'ready' && silent.length > 0
        ? `${silent.join(', ')}: in the room, but not on this page.`
        : now.refusal
  const isOff = now.place !== 'joined' || (!isAlone && word.value === 'connecting') || silent.length > 0
  const percent = percentOf(now)
  return (
    <div class="bench-buttons">
      {isOn ? (
        <button type="button" class="button stop" data-testid="stop" onClick={() => room.stop()}>
          <Icon name="stop" />
          Stop
        </button>
      ) : (
        <button type="button" class="button go" data-testid="run" disabled={isOff} onClick={run}>
          <Icon name="run" />
          {isAlone ? `Run with ${companions} peers in this page` : 'Run'}
        </button>
      )}
      {now.phase !== 'none' && (
        <div
          class="progress"
          role="progressbar"
          aria-label="Progress of the benchmark"
          data-testid="progress"
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={percent}
        >
          <span class="progress-bar" style={{ width: `${percent}%` }} />
        </div>
      )}
      {reason !== undefined && <p class="note">{reason}</p>}
    </div>
  )
}
