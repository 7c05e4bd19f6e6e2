/** What stays on this device: theme and shortcuts. Storage may be forbidden; then nothing stays. */
import { signal } from '@preact/signals'

export type Theme = 'system' | 'light' | 'dark'

const prefix = 'papilio-'

function read(key: string): string | null {
  try {
    return localStorage.getItem(prefix + key)
  } catch {
    return null
  }
}

function write(key: string, value: string): void {
  try {
    localStorage.setItem(prefix + key, value)
  } catch {
    // The choice then holds for this visit.
  }
}

const stored = read('theme')
export const theme = signal<Theme>(stored === 'light' || stored === 'dark' ? stored : 'system')
/** Single-letter shortcuts can be switched off (WCAG 2.1.4). */
export const hasShortcuts = signal(read('shortcuts') !== 'off')

export function setTheme(next: Theme): void {
  theme.value = next
  write('theme', next)
  showTheme()
}

export function showTheme(): void {
  if (theme.value === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme.value
}

export function setShortcuts(on: boolean): void {
  hasShortcuts.value = on
  write('shortcuts', on ? 'on' : 'off')
}
