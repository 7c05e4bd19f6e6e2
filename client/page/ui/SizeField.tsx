/** Bytes of the vector: a slider in half powers of two, and a field for any size. */
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { dtypes } from '../../../shared/wire/dtype.ts'
import { countOf, maxBytes } from '../../session/runSpec.ts'
import { formatCount, parseBytes } from '../format.ts'
import type { LabSettings } from '../session/settings.ts'
import { formatBytes } from '../stage/format.ts'
import { useStore } from '../store.ts'
import { bytesAt, lastPosition, positionOf } from './sizeSteps.ts'

const howToWrite = `Write a size from 0 B to ${formatBytes(maxBytes)}, such as 425 B or 1 MiB.`

function usableBytes(text: string): number | undefined {
  const parsed = parseBytes(text)
  return parsed !== undefined && parsed <= maxBytes ? parsed : undefined
}

/** Only whole elements count: 425 B hold 106 of four bytes, and 424 B travel. */
function elementsOf(bytes: number, dtype: LabSettings['dtype']): string {
  const count = countOf({ bytes, dtype })
  const used = count * dtypes[dtype].bytes
  const elements = `${count === 1 ? '1 element' : `${formatCount(count)} elements`} of ${dtype}`
  return used === bytes ? elements : `${elements}: ${formatBytes(used)}`
}

export function SizeField(): JSX.Element {
  const { settings, change, sizeProblem } = useStore()
  const { bytes, dtype } = settings.value
  const [text, setText] = useState(formatBytes(bytes))
  const problem = sizeProblem.value
  const write = (next: string) => {
    setText(next)
    sizeProblem.value = usableBytes(next) === undefined ? howToWrite : undefined
  }
  useEffect(() => write(formatBytes(bytes)), [bytes])

  const commit = () => {
    const parsed = usableBytes(text)
    // What the field shows may be rounded: leaving it as it was changes nothing.
    if (parsed !== undefined && text !== formatBytes(bytes)) change({ bytes: parsed })
  }
  return (
    <div class="field size-field">
      <label for="size">Vector</label>
      <input
        id="size"
        class="size-text"
        data-testid="size"
        data-bytes={bytes}
        value={text}
        inputMode="text"
        autocomplete="off"
        spellcheck={false}
        aria-invalid={problem !== undefined}
        aria-describedby="size-note"
        onInput={(event) => write(event.currentTarget.value)}
        onChange={commit}
        onKeyDown={(event) => event.key === 'Enter' && commit()}
      />
      <input
        type="range"
        aria-label="Vector size"
        aria-valuetext={formatBytes(bytes)}
        data-testid="size-slider"
        min={0}
        max={lastPosition}
        value={positionOf(bytes)}
        onInput={(event) => change({ bytes: bytesAt(event.currentTarget.valueAsNumber) })}
      />
      <span id="size-note" class={problem ? 'note wrong' : 'note'}>
        {problem ?? elementsOf(bytes, dtype)}
      </span>
    </div>
  )
}
