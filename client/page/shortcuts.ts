/** Single-letter shortcuts. They press the buttons of the page, so that they can do nothing that a button cannot. */
import { hasShortcuts } from './preferences.ts'

export interface Shortcut {
  readonly key: string
  readonly words: string
  /** data-testid of the button that it presses. */
  readonly presses: string
}

export const shortcuts: readonly Shortcut[] = [
  { key: 'r', words: 'Run', presses: 'run' },
  { key: 's', words: 'Stop', presses: 'stop' },
  { key: 'a', words: 'Add peers inside this page', presses: 'add-peers' },
  { key: 'e', words: 'Measure every r', presses: 'sweep' },
  { key: 't', words: 'Change the colours', presses: 'theme' },
  { key: '1', words: 'Numbers: r', presses: 'tab-r' },
  { key: '2', words: 'Numbers: sizes', presses: 'tab-sizes' },
  { key: '3', words: 'Numbers: algorithms', presses: 'tab-algorithms' },
  { key: '4', words: 'Numbers: links', presses: 'tab-links' },
  { key: '5', words: 'Numbers: log', presses: 'tab-log' },
  { key: '?', words: 'This list', presses: 'help' },
]

/** Keys inside the pictures and the playback; they work where the focus is. */
export const pictureKeys: readonly { readonly keys: string; readonly words: string }[] = [
  { keys: 'Space', words: 'Play and pause' },
  { keys: '← →', words: 'Step back and forward, or along the messages' },
  { keys: 'Home End', words: 'First and last step' },
  { keys: '+ −', words: 'Faster and slower' },
]

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  )
}

export function listenToShortcuts(): () => void {
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
    if (isTyping(event.target) || document.querySelector('dialog[open]')) return
    if (!hasShortcuts.value && event.key !== '?') return
    const shortcut = shortcuts.find(({ key }) => key === event.key.toLowerCase())
    const button = shortcut && document.querySelector(`[data-testid="${shortcut.presses}"]`)
    if (!(button instanceof HTMLButtonElement) || button.disabled) return
    event.preventDefault()
    button.click()
  }
  document.addEventListener('keydown', onKeyDown)
  return () => document.removeEventListener('keydown', onKeyDown)
}
