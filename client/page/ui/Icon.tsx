/** Line icons of 20 px, 1.5 px strokes, like the signs along a track. */
import type { JSX } from 'preact'

const paths = {
  here: 'M10 4.5V15.5M4.5 10H15.5',
  wait: 'M5 3.5H15M5 16.5H15M6 3.5V5.5L10 10L14 5.5V3.5M6 16.5V14.5L10 10L14 14.5V16.5',
  link: 'M3 10H6M14 10H17M6 10A2.5 2.5 0 0 1 11 10M9 10A2.5 2.5 0 0 0 14 10',
  ok: 'M4 10.5L8.5 15L16 5.5',
  run: 'M3 6H7.5L12.5 14H17M3 14H7.5L12.5 6H17',
  warn: 'M10 3.5V11.5M10 15.2V15.6',
  bad: 'M5 5L15 15M15 5L5 15',
  copy: 'M7 7V3.5H16.5V13H13M3.5 7H13V16.5H3.5z',
  light:
    'M10 6.5A3.5 3.5 0 1 1 10 13.5A3.5 3.5 0 1 1 10 6.5zM10 1.8V3.4M10 16.6V18.2M1.8 10H3.4M16.6 10H18.2M4.2 4.2L5.3 5.3M14.7 14.7L15.8 15.8M4.2 15.8L5.3 14.7M14.7 5.3L15.8 4.2',
  dark: 'M16 12.4A6.8 6.8 0 1 1 7.6 4A5.4 5.4 0 0 0 16 12.4z',
  system: 'M10 3.2A6.8 6.8 0 1 1 10 16.8zM10 3.2A6.8 6.8 0 0 0 10 16.8',
  keys: 'M2.5 5.5H17.5V14.5H2.5zM6.5 12H13.5M5.5 8.5H5.6M8.5 8.5H8.6M11.5 8.5H11.6M14.5 8.5H14.6',
  add: 'M10 4V16M4 10H16',
  remove: 'M6 6L14 14M14 6L6 14',
  tab: 'M2.5 7.5V15.5H17.5V7.5M2.5 7.5H5L6.5 4.5H12.5L14 7.5H17.5',
  page: 'M4 3.5H16V16.5H4zM7 7H9M11 7H13M7 10H9M11 10H13M7 13H9M11 13H13',
  node: 'M3 4.5H17V15.5H3zM5.5 8L8 10L5.5 12M10 12.5H14',
  stop: 'M5.5 5.5H14.5V14.5H5.5z',
  save: 'M10 3.5V12M6 8.5L10 12.5L14 8.5M4 16.5H16',
  open: 'M8 4.5H4V16H15.5V12M11 3.5H16.5V9M16.5 3.5L9 11',
} as const

export type IconName = keyof typeof paths

export function Icon({ name, size = 20 }: { name: IconName; size?: number }): JSX.Element {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 20 20" aria-hidden="true">
      <path
        d={paths[name]}
        fill="none"
        stroke="currentColor"
        stroke-width={name === 'warn' || name === 'ok' || name === 'bad' ? 2 : 1.5}
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  )
}

/** Two ranks that cross lines: a butterfly step. */
export function Mark(): JSX.Element {
  return (
    <svg class="mark" width="28" height="28" viewBox="0 0 32 32" aria-hidden="true">
      <g fill="none" stroke-width="3" stroke-linecap="round">
        <path d="M5 9H10L22 23H27" stroke="var(--rank-0)" />
        <path d="M5 23H10L22 9H27" stroke="var(--rank-1)" />
      </g>
      <g fill="var(--ink)">
        <circle cx="5" cy="9" r="2.6" />
        <circle cx="5" cy="23" r="2.6" />
        <circle cx="27" cy="9" r="2.6" />
        <circle cx="27" cy="23" r="2.6" />
      </g>
    </svg>
  )
}
