/** Who learns here, and how to get more. */
import type { JSX } from 'preact'
import { limits } from '../../../../shared/signaling/limits.ts'
import { pathOf } from '../../../session/routes.ts'
import { Icon } from '../../ui/Icon.tsx'
import { RankChip } from '../../ui/RankChip.tsx'
import { Term } from '../../ui/Term.tsx'
import { hueOf } from '../shown.ts'
import { useLearn } from '../store.ts'

export function Pupils(): JSX.Element {
  const { state, room } = useLearn()
  const now = state.value
  const { members, run } = now.learning
  const isHere = now.place === 'joined' && now.room !== undefined
  const isFull = members.length >= limits.peersPerRoom
  const gone = run?.pupils.filter(({ leftAfter }) => leftAfter !== undefined) ?? []
  return (
    <section class="peers" aria-labelledby="pupils-title">
      <h2 id="pupils-title">
        Peers <span class="count">{members.length}</span>
      </h2>
      <div class="peers-add learn-add">
        <button
          type="button"
          class="button"
          data-testid="add-peer"
          disabled={!isHere || isFull}
          onClick={() => void room.addInPage(1)}
        >
          <Icon name="add" />
          Add a peer
        </button>
        <a
          class="button"
          {...(now.room !== undefined && { href: pathOf(now.room, 'learn') })}
          target="_blank"
          rel="noopener"
          data-testid="open-tab"
        >
          <Icon name="open" />
          Open a tab
        </a>
      </div>
      <p class="note">
        Added peers train <Term of="in-page">inside this page</Term>; tabs and other devices join by the link,
        also in the middle of a lesson.
      </p>
      <ol class="roster" data-testid="roster" aria-label="Peers by rank">
        {members.map(({ peerId, name, kind }, rank) => {
          const isSelf = peerId === now.self?.peerId
          const isInPage = now.inPage.has(peerId)
          const pupil = run?.pupils.find((each) => each.peerId === peerId)
          const isPresent = now.learning.present.has(peerId)
          const where = isSelf
            ? 'this page'
            : isInPage
              ? 'inside this page'
              : kind === 'node'
                ? 'Node'
                : 'another tab'
          const doing = !isPresent
            ? 'joining'
            : pupil
              ? pupil.since > 0
                ? `since round ${pupil.since + 1}`
                : 'learns'
              : 'here'
          return (
            <li
              key={peerId}
              class="peer"
              data-testid="peer-row"
              data-rank={rank}
              data-name={name}
              data-state={isPresent ? 'ready' : 'joining'}
            >
              <RankChip rank={rank} hue={hueOf(run, peerId, rank)} />
              <span class="peer-name">
                {name}
                {isSelf && <span class="you"> you</span>}
              </span>
              <span class="peer-state" data-state={isPresent ? 'ready' : 'joining'}>
                <Icon name={isPresent ? 'ok' : 'wait'} size={16} />
                {doing}
              </span>
              <span class="peer-details">
                <Icon name={isInPage ? 'page' : kind === 'node' ? 'node' : 'tab'} size={16} />
                {where}
              </span>
              {isInPage && (
                <button
                  type="button"
                  class="tool peer-remove"
                  aria-label={`Remove ${name}`}
                  title={`Remove ${name}`}
                  onClick={() => void room.removeInPage(peerId)}
                >
                  <Icon name="remove" size={16} />
                </button>
              )}
            </li>
          )
        })}
      </ol>
      {gone.length > 0 && (
        <ul class="gone" aria-label="Left during the lesson">
          {gone.map(({ peerId, name, leftAfter }) => (
            <li key={peerId} data-testid="gone">
              <Icon name="warn" size={16} /> {name} left after round {leftAfter}
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
