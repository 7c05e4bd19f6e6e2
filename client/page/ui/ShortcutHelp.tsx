/** The list of keys, and the switch for those of one letter. */
import type { JSX, RefObject } from 'preact'
import { hasShortcuts, setShortcuts } from '../preferences.ts'
import { pictureKeys, shortcuts } from '../shortcuts.ts'
import { Icon } from './Icon.tsx'

export function ShortcutHelp({ dialog }: { dialog: RefObject<HTMLDialogElement | null> }): JSX.Element {
  const close = () => dialog.current?.close()
  return (
    <dialog ref={dialog} class="help" aria-labelledby="help-title" data-testid="help-dialog">
      <div class="help-head">
        <h2 id="help-title">Keyboard</h2>
        <button type="button" class="tool" aria-label="Close" onClick={close}>
          <Icon name="remove" />
        </button>
      </div>
      <label class="switch">
        <input
          type="checkbox"
          checked={hasShortcuts.value}
          onChange={(event) => setShortcuts(event.currentTarget.checked)}
        />
        <span>Single-letter shortcuts</span>
      </label>
      <dl class="keys" data-off={!hasShortcuts.value}>
        {shortcuts.map(({ key, words }) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
      <h3>In pictures and playback</h3>
      <dl class="keys">
        {pictureKeys.map(({ keys, words }) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
    </dialog>
  )
}
