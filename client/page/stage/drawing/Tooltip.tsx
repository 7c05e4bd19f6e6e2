import type { JSX } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

/** Lines of text near a point of the picture, kept inside its frame; read aloud when the keyboard brought them up. */
export function Tooltip(props: {
  readonly x: number
  readonly y: number
  /** Width of the frame that it must not leave. */
  readonly width: number
  readonly lines: readonly string[]
}): JSX.Element {
  const { x, y, width, lines } = props
  const element = useRef<HTMLDivElement>(null)
  const [size, setSize] = useState({ width: 0, height: 0 })
  const text = lines.join('\n')
  useLayoutEffect(() => {
    if (element.current && text !== '')
      setSize({ width: element.current.offsetWidth, height: element.current.offsetHeight })
  }, [text])
  const left = Math.max(4, Math.min(x + 14, width - size.width - 4))
  const top = y - size.height - 12 < 0 ? y + 16 : y - size.height - 12
  return (
    <div ref={element} class="stage-tooltip" style={{ left: `${left}px`, top: `${top}px` }}>
      {lines.map((line, i) =>
        i === 0 ? <strong key={line}>{line}</strong> : <span key={line}>{line}</span>,
      )}
    </div>
  )
}
