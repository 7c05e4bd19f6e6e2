/** What a picture must know of the page around it: its width, the size of text, the colours. */
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Palette } from './svg.ts'

/** Width of an element, px, followed as it changes; 0 before it is on the page. */
export function useWidth<T extends HTMLElement>(): [(element: T | null) => void, number] {
  const [width, setWidth] = useState(0)
  const observer = useRef<ResizeObserver | undefined>(undefined)
  const attach = useCallback((element: T | null) => {
    observer.current?.disconnect()
    if (element === null) return
    setWidth(Math.floor(element.clientWidth))
    observer.current = new ResizeObserver(() => setWidth(Math.floor(element.clientWidth)))
    observer.current.observe(element)
  }, [])
  return [attach, width]
}

/** Size of the page's text relative to 16 px: grows on a projector and with the reader's settings. */
export function useTextScale(): number {
  const read = () => Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / 16 || 1
  const [scale, setScale] = useState(read)
  useLayoutEffect(() => {
    const observer = new ResizeObserver(() => setScale(read()))
    observer.observe(document.body)
    return () => observer.disconnect()
  }, [])
  return scale
}

/** Counts changes of the theme, so that a canvas knows when to draw again. */
export function useThemeChanges(): number {
  const [changes, setChanges] = useState(0)
  useEffect(() => {
    const bump = () => setChanges((n) => n + 1)
    const media = matchMedia('(prefers-color-scheme: dark)')
    const observer = new MutationObserver(bump)
    observer.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme', 'class'] })
    media.addEventListener('change', bump)
    return () => {
      observer.disconnect()
      media.removeEventListener('change', bump)
    }
  }, [])
  return changes
}

export function useReducedMotion(): boolean {
  const [reduced, setReduced] = useState(() => matchMedia('(prefers-reduced-motion: reduce)').matches)
  useEffect(() => {
    const media = matchMedia('(prefers-reduced-motion: reduce)')
    const listener = () => setReduced(media.matches)
    media.addEventListener('change', listener)
    return () => media.removeEventListener('change', listener)
  }, [])
  return reduced
}

/** The colours as they are now: a probe resolves what light-dark() and custom properties come to. */
export function readPalette(near: Element): Palette {
  const probe = document.createElement('span')
  probe.hidden = true
  near.append(probe)
  const known = new Map<string, string>()
  // The probe stays only as long as colours are asked for in this task.
  queueMicrotask(() => probe.remove())
  return (paint) => {
    const color = known.get(paint)
    if (color !== undefined) return color
    if (!probe.isConnected) near.append(probe)
    probe.style.color = `var(--${paint})`
    const read = getComputedStyle(probe).color
    known.set(paint, read)
    return read
  }
}
