/** One of a few values as a row of segments: radio buttons underneath, so that keys and screen readers work. */
import type { JSX } from 'preact'

export interface ChoiceProps<Value extends string | number> {
  readonly name: string
  readonly legend: string
  readonly testId: string
  readonly options: readonly {
    readonly value: Value
    readonly label: string
    readonly testId?: string
    readonly title?: string
    readonly disabled?: boolean
  }[]
  readonly value: Value
  readonly onChange: (value: Value) => void
  readonly disabled?: boolean
}

export function Choice<Value extends string | number>(props: ChoiceProps<Value>): JSX.Element {
  const { name, legend, testId, options, value, onChange, disabled } = props
  return (
    <fieldset class="field choice" data-testid={testId} data-value={value} disabled={disabled ?? false}>
      <legend>{legend}</legend>
      <div class="segments">
        {options.map((option) => (
          <label key={option.value} class="segment" title={option.title}>
            <input
              type="radio"
              name={name}
              value={option.value}
              checked={option.value === value}
              disabled={option.disabled ?? false}
              data-testid={option.testId}
              onChange={() => onChange(option.value)}
            />
            <span>{option.label}</span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}
