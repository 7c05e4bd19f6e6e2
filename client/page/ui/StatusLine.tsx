/** Where the page is: icon, word, sentence, next action. */
import { useComputed } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { alarm, announce } from '../announce.ts'
import { appStateOf } from '../session/appState.ts'
import { useStore } from '../store.ts'
import { type StatusAction, statusOf } from '../words/status.ts'
import { Icon } from './Icon.tsx'

const actions: Readonly<Record<StatusAction, string>> = {
  reload: 'Reload',
  'create-room': 'Make this room',
  'new-room': 'Make a new room',
  dismiss: 'Dismiss',
}

/** Seconds since `key` changed; ticks once a second, which is enough for words. */
function useSecondsSince(key: string): number {
  const [begun, setBegun] = useState({ key, at: Date.now() })
  const [now, setNow] = useState(Date.now())
  if (begun.key !== key) setBegun({ key, at: Date.now() })
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  return Math.max(0, (now - begun.at) / 1000)
}

export function StatusLine(): JSX.Element {
  const { lab, state } = useStore()
  const appState = useComputed(() => appStateOf(state.value)).value
  const seconds = useSecondsSince(appState)
  const { icon, word, sentence, action } = statusOf(state.value, seconds)
  const refusal = state.value.place === 'refused' ? state.value.refusal?.message : undefined
  useEffect(() => {
    if (refusal) alarm(`${word}. ${refusal}`)
    else if (appState === 'failed') alarm(sentence)
    else announce(`${word}. ${sentence}`)
  }, [appState, word, sentence, refusal])
  const act = () => {
    if (action === 'reload') location.reload()
    if (action === 'new-room') location.assign('/')
    if (action === 'dismiss') lab.dismiss()
    if (action === 'create-room') void lab.enter(state.value.room, true)
  }
  return (
    <p class="status-line" data-state={appState}>
      <span class="status-word">
        <Icon name={icon} />
        {word}
      </span>
      <span class="status-sentence">{sentence}</span>
      {action && (
        <button type="button" class="button small" onClick={act}>
          {actions[action]}
        </button>
      )}
    </p>
  )
}
