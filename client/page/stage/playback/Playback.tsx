/** Plays, steps and scrubs through a schedule or a finished run: it moves `cursor` and nothing else. */
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useReducedMotion } from '../drawing/useBox.ts'
import { advance, faster, nextStop, previousStop, slower, speeds, stopsBehind } from './clock.ts'
import { Icon } from './Icon.tsx'
import './playback.css'

export interface PlaybackProps {
  /** Positions where a step ends, ascending, the start first: 0 .. steps, or seconds. */
  readonly stops: readonly number[]
  readonly cursor: number
  readonly onCursor: (cursor: number) => void
  /** How long one unit of the cursor plays at speed 1: 1.2 s for a step; for a run of t s something like 6 / t. */
  readonly secondsPerUnit: number
  /** Words for a position; absent: the step. */
  readonly describe?: ((cursor: number) => string) | undefined
  /** Starts to play when it appears. */
  readonly autoPlay?: boolean | undefined
  readonly onPlaying?: ((playing: boolean) => void) | undefined
}

/** Moves the cursor while `playing`, frame by frame; with reduced motion from stop to stop. */
function usePlaying(props: PlaybackProps, playing: boolean, speed: number, stop: () => void): void {
  const reduced = useReducedMotion()
  const latest = useRef(props)
  latest.current = props
  useEffect(() => {
    if (!playing) return
    const { secondsPerUnit } = latest.current
    const end = () => latest.current.stops.at(-1) ?? 0
    /** False when that was the end. */
    const move = (cursor: number): boolean => {
      latest.current.onCursor(cursor)
      const goesOn = cursor < end()
      if (!goesOn) stop()
      return goesOn
    }
    if (reduced) {
      const { stops } = latest.current
      const mean = (end() - (stops[0] ?? 0)) / Math.max(1, stops.length - 1)
      const timer = setInterval(
        () => move(nextStop(latest.current.cursor, latest.current.stops)),
        Math.max(50, (mean * secondsPerUnit * 1000) / speed),
      )
      return () => clearInterval(timer)
    }
    let before: number | undefined
    let frame = requestAnimationFrame(function draw(now) {
      const seconds = before === undefined ? 0 : Math.min(0.1, (now - before) / 1000)
      before = now
      const next = advance(latest.current.cursor, seconds, speed / secondsPerUnit, latest.current.stops)
      if (move(next)) frame = requestAnimationFrame(draw)
    })
    return () => cancelAnimationFrame(frame)
  }, [playing, speed, reduced, stop])
}

export function Playback(props: PlaybackProps): JSX.Element {
  const { stops, cursor, onCursor, onPlaying } = props
  const [first, end] = [stops[0] ?? 0, stops.at(-1) ?? 0]
  const [playing, setPlaying] = useState(props.autoPlay ?? false)
  const [speed, setSpeed] = useState(1)
  const change = (next: boolean) => {
    setPlaying(next)
    onPlaying?.(next)
  }
  const stop = useRef(() => {})
  stop.current = () => change(false)
  const [stopOnce] = useState(() => () => stop.current())
  usePlaying(props, playing, speed, stopOnce)

  const toggle = () => {
    if (!playing && cursor >= end) onCursor(first)
    change(!playing)
  }
  const jump = (to: number) => {
    change(false)
    onCursor(to)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return
    const actions: Readonly<Record<string, () => void>> = {
      ' ': toggle,
      ArrowLeft: () => jump(previousStop(cursor, stops)),
      ArrowRight: () => jump(nextStop(cursor, stops)),
      Home: () => jump(first),
      End: () => jump(end),
      '+': () => setSpeed(faster(speed)),
      '=': () => setSpeed(faster(speed)),
      '-': () => setSpeed(slower(speed)),
    }
    const action = actions[event.key]
    const onButton = event.target instanceof HTMLButtonElement || event.target instanceof HTMLSelectElement
    if (action === undefined || (onButton && event.key === ' ')) return
    if (event.target instanceof HTMLSelectElement) return
    action()
    event.preventDefault()
  }
  const step = stopsBehind(cursor, stops)
  const steps = Math.max(0, stops.length - 1)
  const words = props.describe?.(cursor) ?? `${step} of ${steps}`
  const button = (name: string, icon: Parameters<typeof Icon>[0]['name'], act: () => void, off = false) => (
    <button type="button" aria-label={name} title={name} disabled={off} onClick={act}>
      <Icon name={icon} />
    </button>
  )
  return (
    <div class="playback" role="toolbar" aria-label="Playback" data-testid="playback" onKeyDown={onKeyDown}>
      {button('First', 'first', () => jump(first), cursor <= first)}
      {button('Step back', 'back', () => jump(previousStop(cursor, stops)), cursor <= first)}
      {button(playing ? 'Pause' : 'Play', playing ? 'pause' : 'play', toggle, end <= first)}
      {button('Step forward', 'forward', () => jump(nextStop(cursor, stops)), cursor >= end)}
      {button('Last', 'last', () => jump(end), cursor >= end)}
      <input
        class="playback-scrub"
        type="range"
        aria-label="Position"
        aria-valuetext={words}
        min={first}
        max={end}
        step="any"
        value={cursor}
        onInput={(event) => jump(event.currentTarget.valueAsNumber)}
      />
      <output class="playback-words">{words}</output>
      <label class="playback-speed">
        speed
        <select value={speed} onChange={(event) => setSpeed(Number(event.currentTarget.value))}>
          {speeds.map((s) => (
            <option key={s} value={s}>{`${s}×`}</option>
          ))}
        </select>
      </label>
    </div>
  )
}
