/** Who is here, and how to get more: peers inside this page, or real tabs. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { limits } from '../../../shared/signaling/limits.ts'
import { pathOf } from '../../session/routes.ts'
import { type PeerState, peerStateOf } from '../session/appState.ts'
import type { LabState } from '../session/labState.ts'
import { plural } from '../stage/format.ts'
import { useStore } from '../store.ts'
import { Icon, type IconName } from './Icon.tsx'
import { RankChip } from './RankChip.tsx'
import { Term } from './Term.tsx'

/** More peers in one page only measure its processor. */
const mostAtOnce = 31

/** Opens tabs on the room, as many as the browser lets through: usually one for each click. */
export function openTabs(lab: ReturnType<typeof useStore>['lab'], room: string, count: number): void {
  lab.openTabs(count, () => window.open(pathOf(room) + location.hash, '_blank') !== null)
}

export function Peers(): JSX.Element {
  const { lab, state } = useStore()
  const [count, setCount] = useState(6)
  const { members, room, place } = state.value
  const isHere = place === 'joined' && room !== undefined
  const free = Math.max(0, Math.min(mostAtOnce, limits.peersPerRoom - members.length))
  const asked = Math.min(count, free)
  return (
    <section class="peers" aria-labelledby="peers-title">
      <h2 id="peers-title">
        Peers <span class="count">{members.length}</span>
      </h2>
      <div class="peers-add">
        <button
          type="button"
          class={members.length < 2 ? 'button primary' : 'button'}
          data-testid="add-peers"
          disabled={!isHere || asked < 1}
          onClick={() => void lab.addInPage(asked)}
        >
          <Icon name="add" />
          Add {plural(asked, 'peer')}
        </button>
        <input
          type="number"
          aria-label="How many"
          data-testid="add-count"
          min={1}
          max={free}
          value={count}
          onInput={(event) => {
            const value = event.currentTarget.valueAsNumber
            if (value >= 1 && value <= mostAtOnce) setCount(Math.floor(value))
          }}
        />
        <button
          type="button"
          class="button"
          data-testid="open-tabs"
          disabled={!isHere || asked < 1}
          onClick={() => room !== undefined && openTabs(lab, room, asked)}
        >
          <Icon name="open" />
          Open real tabs
        </button>
      </div>
      <p class="note">
        Added peers live <Term of="in-page">inside this page</Term>; tabs and other devices join by the link.
      </p>
      <Roster state={state.value} onRemove={(peerId) => void lab.removeInPage(peerId)} />
    </section>
  )
}

const kinds: Readonly<Record<string, { icon: IconName; words: string }>> = {
  tab: { icon: 'tab', words: 'browser tab' },
  'in-page': { icon: 'page', words: 'in a page' },
  node: { icon: 'node', words: 'Node' },
}

const states: Readonly<Record<PeerState, { icon: IconName; word: string }>> = {
  connecting: { icon: 'link', word: 'connecting' },
  joining: { icon: 'wait', word: 'joining' },
  ready: { icon: 'ok', word: 'ready' },
}

function Roster({ state, onRemove }: { state: LabState; onRemove: (peerId: string) => void }): JSX.Element {
  return (
    <ol class="roster" data-testid="roster" aria-label="Peers by rank">
      {state.members.map(({ peerId, name, kind }, rank) => {
        const isSelf = peerId === state.self?.peerId
        const isInPage = state.inPage.has(peerId)
        const peerState = peerStateOf(state, peerId)
        const { icon, word } = states[peerState]
        const about = state.about.get(peerId)
        const path = isSelf ? undefined : state.links.get(peerId)?.path
        const where = isSelf ? 'this page' : isInPage ? 'inside this page' : (kinds[kind]?.words ?? kind)
        const agent = isSelf || isInPage ? undefined : about?.agent
        const details = [where, agent, path === 'unknown' ? undefined : path]
        return (
          <li
            key={peerId}
            class="peer"
            data-testid="peer-row"
            data-rank={rank}
            data-name={name}
            data-state={peerState}
            data-path={isSelf ? 'self' : (path ?? 'unknown')}
            data-kind={kind}
          >
            <RankChip rank={rank} hue={state.hues.get(peerId) ?? rank} />
            <span class="peer-name">
              {name}
              {isSelf && <span class="you"> you</span>}
            </span>
            <span class="peer-state" data-state={peerState}>
              <Icon name={icon} size={16} />
              {about?.hidden && !isSelf ? 'hidden tab' : word}
            </span>
            <span class="peer-details">
              <Icon name={kinds[kind]?.icon ?? 'tab'} size={16} />
              {details.filter(Boolean).join(' · ')}
            </span>
            {isInPage && (
              <button
                type="button"
                class="tool peer-remove"
                aria-label={`Remove ${name}`}
                title={`Remove ${name}`}
                onClick={() => onRemove(peerId)}
              >
                <Icon name="remove" size={16} />
              </button>
            )}
          </li>
        )
      })}
    </ol>
  )
}
