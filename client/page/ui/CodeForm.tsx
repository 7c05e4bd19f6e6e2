/** Another room by its code: for people without a camera, and for typing errors. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { limits } from '../../../shared/signaling/limits.ts'
import { pathOf, type RoomPage } from '../../session/routes.ts'

export function CodeForm({ code: given, page = 'j' }: { code: string; page?: RoomPage }): JSX.Element {
  const [code, setCode] = useState(given)
  const wanted = code.trim().toLowerCase()
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault()
    if (wanted !== '') location.assign(pathOf(wanted, page) + location.hash)
  }
  return (
    <form class="code-form" onSubmit={onSubmit}>
      <label>
        <span>Room code</span>
        <input
          data-testid="code"
          value={code}
          maxLength={limits.roomLength}
          autocapitalize="none"
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => setCode(event.currentTarget.value)}
        />
      </label>
      <button type="submit" class="button" disabled={wanted === ''}>
        Open
      </button>
    </form>
  )
}
