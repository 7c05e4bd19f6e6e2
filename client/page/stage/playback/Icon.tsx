import type { JSX } from 'preact'

const paths = {
  first: 'M5 4V16M15 4L7.5 10L15 16z',
  back: 'M13.5 4L6 10L13.5 16z',
  play: 'M6 3.5L16 10L6 16.5z',
  pause: 'M7 4V16M13 4V16',
  forward: 'M6.5 4L14 10L6.5 16z',
  last: 'M15 4V16M5 4L12.5 10L5 16z',
} as const

/** Line icons of 20 px, like track signs. */
export function Icon({ name }: { name: keyof typeof paths }): JSX.Element {
  return (
    <svg class="playback-icon" viewBox="0 0 20 20" aria-hidden="true">
      <path
        d={paths[name]}
        fill="none"
        stroke="currentColor"
        stroke-width={name === 'pause' ? 2.5 : 1.5}
        stroke-linejoin="round"
        stroke-linecap="round"
      />
    </svg>
  )
}
