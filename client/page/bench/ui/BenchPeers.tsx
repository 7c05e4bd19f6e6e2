/** Who takes part, and how to get more. */
import type { JSX } from 'preact'
import { limits } from '../../../../shared/signaling/limits.ts'
import { pathOf } from '../../../session/routes.ts'
import { Icon } from '../../ui/Icon.tsx'
import { RankChip } from '../../ui/RankChip.tsx'
import { useBench } from '../benchStore.ts'

export function BenchPeers(): JSX.Element {
  const { state, room: bench } = useBench()
  const { members, room, self, inPage, present, phase } = state.value
  const isFull = members.length >= limits.peersPerRoom
  return (
    <section class="peers" aria-labelledby="peers-title">
      <h2 id="peers-title">
        Peers <span class="count">{members.length}</span>
      </h2>
      <div class="peers-add bench-add">
        <button
          type="button"
          class="button"
          data-testid="add-peer"
          disabled={room === undefined || self === undefined || isFull || phase === 'running'}
          onClick={() => void bench.addInPage(1)}
        >
          <Icon name="add" />
          Add a peer
        </button>
        <a
          class="button"
          {...(room !== undefined && { href: pathOf(room, 'bench') })}
          target="_blank"
          rel="noopener"
          data-testid="open-tab"
        >
          <Icon name="open" />
          Open a tab
        </a>
      </div>
      <p class="note">
        Peers inside this page share its thread: their times are those of this machine's processor. Tabs,
        other devices and <code>papilio bench --room</code> join by the link.
      </p>
      <ol class="roster" data-testid="roster" aria-label="Peers by rank">
        {members.map(({ peerId, name, kind }, rank) => {
          const isInPage = inPage.has(peerId)
          const isReady = present.includes(peerId)
          return (
            <li
              key={peerId}
              class="peer"
              data-testid="peer-row"
              data-rank={rank}
              data-name={name}
              data-state={isReady ? 'ready' : 'joining'}
            >
              <RankChip rank={rank} hue={rank} />
              <span class="peer-name">
                {name}
                {peerId === self?.peerId && <span class="you"> you</span>}
              </span>
              <span class="peer-state" data-state={isReady ? 'ready' : 'joining'}>
                <Icon name={isReady ? 'ok' : 'wait'} size={16} />
                {isReady ? 'ready' : 'joining'}
              </span>
              <span class="peer-details">
                <Icon name={isInPage ? 'page' : kind === 'node' ? 'node' : 'tab'} size={16} />
                {isInPage ? 'inside this page' : kind === 'node' ? 'Node' : 'a tab'}
              </span>
              {isInPage && phase !== 'running' && (
                <button
                  type="button"
                  class="tool peer-remove"
                  aria-label={`Remove ${name}`}
                  title={`Remove ${name}`}
                  onClick={() => void bench.removeInPage(peerId)}
                >
                  <Icon name="remove" size={16} />
                </button>
              )}
            </li>
          )
        })}
      </ol>
    </section>
  )
}
