/** Bytes of the vector: a slider in half powers of two, and a field for any size. */
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { formatCount, parseBytes } from '../format.ts'
import { countOf, maxBytes } from '../session/runSpec.ts'
import { formatBytes } from '../stage/format.ts'
import { useStore } from '../store.ts'
import { bytesAt, lastPosition, positionOf } from './sizeSteps.ts'

export function SizeField(): JSX.Element {
  const { settings, change } = useStore()
  const { bytes, dtype } = settings.value
  const [text, setText] = useState(formatBytes(bytes))
  const [isWrong, setWrong] = useState(false)
  useEffect(() => {
    setText(formatBytes(bytes))
    setWrong(false)
  }, [bytes])

  const commit = () => {
    const parsed = parseBytes(text)
    const isUsable = parsed !== undefined && parsed <= maxBytes
    setWrong(!isUsable)
    // What the field shows may be rounded: leaving it as it was changes nothing.
    if (isUsable && text !== formatBytes(bytes)) change({ bytes: parsed })
  }
  const count = countOf({ bytes, dtype })
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
        aria-invalid={isWrong}
        aria-describedby="size-note"
        onInput={(event) => setText(event.currentTarget.value)}
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
      <span id="size-note" class={isWrong ? 'note wrong' : 'note'}>
        {isWrong
          ? `Write a size from 0 B to ${formatBytes(maxBytes)}, such as 425 B or 1 MiB.`
          : `${count === 1 ? '1 element' : `${formatCount(count)} elements`} of ${dtype}`}
      </span>
    </div>
  )
}
