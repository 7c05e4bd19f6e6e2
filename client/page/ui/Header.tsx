/** The top line: what this is, where one is, and the few things about the page itself. */
import { useComputed } from '@preact/signals'
import type { JSX } from 'preact'
import { useStore } from '../store.ts'
import { Icon, Mark } from './Icon.tsx'
import { RankChip } from './RankChip.tsx'
import { Term } from './Term.tsx'
import { ThemeButton } from './ThemeButton.tsx'

export function Header({ onHelp }: { onHelp: () => void }): JSX.Element {
  const { state } = useStore()
  const { self, epoch, members, hues, room } = state.value
  const rank = useComputed(() =>
    state.value.members.findIndex((member) => member.peerId === state.value.self?.peerId),
  ).value
  return (
    <header class="head">
      <a class="brand" href="/" aria-label="Papilio: make a new room">
        <Mark />
        <span>Papilio</span>
      </a>
      <p class="tagline">browser tabs that add up</p>
      {self && (
        <dl class="facts">
          <div>
            <dt>room</dt>
            <dd class="mono">{room}</dd>
          </div>
          <div>
            <dt>peers</dt>
            <dd class="mono">{members.length}</dd>
          </div>
          <div>
            <dt>
              <Term of="epoch">epoch</Term>
            </dt>
            <dd class="mono">{epoch}</dd>
          </div>
          <div>
            <dt>you</dt>
            <dd>
              {rank >= 0 && <RankChip rank={rank} hue={hues.get(self.peerId) ?? rank} />} {self.name}
            </dd>
          </div>
        </dl>
      )}
      <div class="head-tools">
        <ThemeButton />
        <button
          type="button"
          class="tool"
          data-testid="help"
          aria-label="Keyboard shortcuts"
          title="Keyboard shortcuts (?)"
          onClick={onHelp}
        >
          <Icon name="keys" />
        </button>
      </div>
    </header>
  )
}
