import type { JSX } from 'preact'
import { setTheme, type Theme, theme } from '../preferences.ts'
import { Icon } from './Icon.tsx'

const nextTheme: Readonly<Record<Theme, Theme>> = { system: 'light', light: 'dark', dark: 'system' }

export function ThemeButton(): JSX.Element {
  return (
    <button
      type="button"
      class="tool"
      data-testid="theme"
      data-theme-choice={theme.value}
      aria-label={`Colours: ${theme.value}`}
      title={`Colours: ${theme.value}`}
      onClick={() => setTheme(nextTheme[theme.value])}
    >
      <Icon name={theme.value} />
    </button>
  )
}
