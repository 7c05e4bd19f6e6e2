/** How others get here: code, link, QR code. */
import type { Signal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { pathOf, type RoomPage } from '../../session/routes.ts'
import { isLoopback } from '../addresses.ts'
import { CopyButton } from './CopyButton.tsx'

export interface RoomCardProps {
  readonly room: string | undefined
  readonly page: RoomPage
  /** The address that link and QR code show, of those under which others reach this server. */
  readonly origin: Signal<string>
  readonly origins: Signal<readonly string[]>
}

export function RoomCard({ room, page, origin, origins }: RoomCardProps): JSX.Element {
  const url = room === undefined ? '' : origin.value + pathOf(room, page)
  const isLocal = isLoopback(new URL(origin.value).hostname)
  return (
    <section class="room" aria-labelledby="room-title">
      <h2 id="room-title">Room</h2>
      <div class="room-body">
        <div class="room-words">
          <p class="room-code" data-testid="room-code">
            {room ?? '···-···'}
          </p>
          {room !== undefined && (
            <p class="room-link">
              <a href={url} target="_blank" rel="noopener" data-testid="join-url">
                {new URL(url).host}
                <wbr />
                {pathOf(room, page)}
              </a>
              <CopyButton text={url} label="Copy the link" />
            </p>
          )}
        </div>
        {room !== undefined && <QrCode text={url} />}
      </div>
      {origins.value.length > 1 && (
        <label class="field room-address">
          <span>Address</span>
          <select value={origin.value} onChange={(event) => (origin.value = event.currentTarget.value)}>
            {origins.value.map((each) => (
              <option key={each} value={each}>
                {each.replace(/^https?:\/\//, '')}
              </option>
            ))}
          </select>
        </label>
      )}
      {room !== undefined && isLocal && <p class="note">This link works on this computer only.</p>}
    </section>
  )
}

/** Dark on white in both themes, with a quiet zone of four modules: cameras need both. */
function QrCode({ text }: { text: string }): JSX.Element {
  const [modules, setModules] = useState<boolean[][]>()
  useEffect(() => {
    let isWanted = true
    void import('uqr').then(({ encode }) => {
      if (isWanted) setModules(encode(text, { ecc: 'M', border: 4 }).data)
    })
    return () => {
      isWanted = false
    }
  }, [text])
  const size = modules?.length ?? 33
  const path = (modules ?? [])
    .flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
    .join('')
  return (
    <svg
      class="qr"
      data-testid="qr"
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={`QR code of ${text}`}
      shape-rendering="crispEdges"
    >
      <rect width={size} height={size} fill="#ffffff" />
      <path d={path} fill="#000000" />
    </svg>
  )
}
