/** A table that scrolls by itself where it is too wide; what scrolls must be reachable by keyboard. */
import type { ComponentChildren, JSX } from 'preact'

const focusable = { tabIndex: 0 }

export function TableScroll({
  label,
  children,
}: {
  label: string
  children: ComponentChildren
}): JSX.Element {
  return (
    <section class="table-scroll" aria-label={label} {...focusable}>
      {children}
    </section>
  )
}
