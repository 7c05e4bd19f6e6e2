/** The one log, newest last, and all of it as files. */
import type { JSX } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { foldState, initialState } from '../session/labState.ts'
import { useStore } from '../store.ts'
import { describeEvent, type Line } from '../words/describe.ts'
import { ExportMenu } from './ExportMenu.tsx'

const shownLines = 200

interface Entry extends Line {
  readonly at: number
  readonly key: number
}

export function EventLogView(): JSX.Element {
  const { lab, state } = useStore()
  const list = useRef<HTMLDivElement>(null)
  const now = state.value
  const lines = useMemo(() => {
    let before = initialState
    const all = lab.log.entries.flatMap((entry, index): Entry[] => {
      const line = describeEvent(entry.event, before)
      before = foldState(before, entry)
      return line ? [{ ...line, at: entry.at, key: lab.log.dropped + index }] : []
    })
    return all.slice(-shownLines)
  }, [now])
  useEffect(() => {
    if (list.current) list.current.scrollTop = list.current.scrollHeight
  }, [lines.length])
  return (
    <>
      <h2 class="panel-title">Event log</h2>
      <p class="note">Everything on this page is drawn from these events.</p>
      <div class="log" role="log" aria-live="off" data-testid="event-log" ref={list} {...focusable}>
        <ol>
          {lines.map(({ key, at, text, tone }) => (
            <li key={key} data-tone={tone}>
              <span class="log-time">{at.toFixed(2)}</span>
              <span>{text}</span>
            </li>
          ))}
        </ol>
      </div>
      <ExportMenu />
    </>
  )
}

/** What scrolls must be reachable by keyboard. */
const focusable = { tabIndex: 0 }
