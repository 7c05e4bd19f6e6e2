/** A word of the trade: dotted underline, explanation on click, focus stays. */
import type { ComponentChildren, JSX } from 'preact'
import { useId, useRef } from 'preact/hooks'
import { type GlossaryKey, glossary } from '../words/glossary.ts'

export function Term({ of, children }: { of: GlossaryKey; children: ComponentChildren }): JSX.Element {
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const card = useRef<HTMLSpanElement>(null)
  const place = () => {
    if (!button.current || !card.current) return
    const { left, bottom, top } = button.current.getBoundingClientRect()
    const { style, offsetWidth, offsetHeight } = card.current
    const below = bottom + 6 + offsetHeight < innerHeight
    style.left = `${Math.max(8, Math.min(left, innerWidth - offsetWidth - 8))}px`
    style.top = `${below ? bottom + 6 : Math.max(8, top - 6 - offsetHeight)}px`
  }
  return (
    <>
      <button type="button" class="term" ref={button} popovertarget={id}>
        {children}
      </button>
      <span id={id} ref={card} class="term-card" popover="auto" onToggle={place}>
        {glossary[of]}
      </span>
    </>
  )
}
