/** What went wrong last: the fact, who it is about, what to do. */
import type { JSX } from 'preact'
import { list } from '../format.ts'
import type { LabState } from '../session/labState.ts'
import { plural } from '../stage/format.ts'
import { useStore } from '../store.ts'
import { problemOf } from '../words/problems.ts'
import { CodeForm } from './CodeForm.tsx'
import { CopyButton } from './CopyButton.tsx'
import { Icon } from './Icon.tsx'
import { openTabs } from './Peers.tsx'

export function Banner(): JSX.Element | null {
  const { lab, state } = useStore()
  const { place, refusal, tabs } = state.value
  const isRefused = place === 'refused'
  const notice = isRefused ? refusal : state.value.notice
  if (!notice) return null
  const { title, remedies } = problemOf(notice.code)
  const isMild = !isRefused && state.value.notice?.tone === 'remark'
  return (
    <section
      class="banner"
      data-testid="banner"
      data-code={notice.code}
      data-mild={isMild}
      aria-label={title}
    >
      <Icon name={isMild ? 'warn' : 'bad'} />
      <div class="banner-body">
        <h2>{title}</h2>
        {tabs ? <BlockedTabs {...tabs} /> : <p>{isRefused ? notice.message : storyOf(state.value)}</p>}
        {isRefused && /^(ROOM_|NOT_FOUND)/.test(notice.code) && <CodeForm code={state.value.room ?? ''} />}
        {!isMild && remedies.length > 0 && (
          <ol class="remedies">
            {remedies.map((remedy) => (
              <li key={remedy}>{remedy}</li>
            ))}
          </ol>
        )}
      </div>
      <div class="banner-tools">
        {!isMild && <CopyButton text={reportOf(state.value)} label="Copy a report" />}
        {!isRefused && (
          <button
            type="button"
            class="tool"
            aria-label="Dismiss"
            title="Dismiss"
            onClick={() => lab.dismiss()}
          >
            <Icon name="remove" />
          </button>
        )}
      </div>
    </section>
  )
}

/** Browsers let one click open one tab. */
function BlockedTabs({ asked, opened }: { asked: number; opened: number }): JSX.Element {
  const { lab, state } = useStore()
  const missing = asked - opened
  const { room } = state.value
  return (
    <>
      <p>
        Your browser opened {opened} of {plural(asked, 'tab')}. Allow pop-ups for this page and open the rest,
        or add {plural(missing, 'peer')} inside this page.
      </p>
      <p class="banner-actions">
        <button
          type="button"
          class="button"
          data-testid="rescue-add"
          onClick={() => void lab.addInPage(missing)}
        >
          Add {plural(missing, 'peer')} here
        </button>
        <button
          type="button"
          class="button"
          data-testid="rescue-open"
          onClick={() => room !== undefined && openTabs(lab, room, missing)}
        >
          Open {plural(missing, 'tab')} again
        </button>
      </p>
    </>
  )
}

function storyOf(state: LabState): string {
  const { notice, run } = state
  if (!notice) return ''
  const error = run?.error
  if (!run || !error || notice.message !== error.message) return notice.message
  const steps = run.progress
  const where =
    run.phase === 'stopped' && steps
      ? ` It was in step ${Math.min(steps.steps, steps.step + 1)} of ${steps.steps}.`
      : ''
  const names = error.peers.flatMap((peerId) => {
    const rank = run.members.findIndex((member) => member.peerId === peerId)
    const name = (run.members[rank] ?? state.members.find((member) => member.peerId === peerId))?.name
    return name === undefined ? [] : [rank < 0 ? name : `${name} (rank ${rank})`]
  })
  const about = names.length > 0 ? ` This is about ${list(names)}.` : ''
  return `${error.message}${where}${names.every((name) => error.message.includes(name)) ? '' : about}`
}

function reportOf(state: LabState): string {
  const { notice, run, epoch, members, room } = state
  return JSON.stringify({
    notice,
    error: run?.error,
    spec: run?.start.spec,
    epoch,
    size: members.length,
    room,
  })
}
