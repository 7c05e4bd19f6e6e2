/**
 * The page of a lesson: room and peers on the left; what is learned, and how it goes, in the middle; questions to the models on the right. On a
 * phone in the order in which they stand here: whoever comes by the link wants to see what goes on.
 */
import { useComputed } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { roundsDone } from '../../../learn/state.ts'
import { alarm, announce } from '../../announce.ts'
import { CodeForm } from '../../ui/CodeForm.tsx'
import { Icon, Mark } from '../../ui/Icon.tsx'
import { RoomCard } from '../../ui/RoomCard.tsx'
import { ThemeButton } from '../../ui/ThemeButton.tsx'
import { learnStatusOf } from '../../words/learn.ts'
import { type LearnStore, LearnStoreProvider, useLearn } from '../store.ts'
import { Ask } from './Ask.tsx'
import { Curves } from './Curves.tsx'
import { LessonForm } from './LessonForm.tsx'
import { Pupils } from './Pupils.tsx'
import { Scores } from './Scores.tsx'
import { Split } from './Split.tsx'
import { Traffic } from './Traffic.tsx'

export function LearnApp({ store }: { store: LearnStore }): JSX.Element {
  const { state, word, run } = store
  const isOutside = useComputed(() => word.value === 'refused' || word.value === 'left').value
  const room = useComputed(() => state.value.room).value
  const hasRun = useComputed(() => run.value !== undefined).value
  return (
    <LearnStoreProvider value={store}>
      <Head />
      <Status />
      {isOutside ? (
        <main class="learn-outside">
          <Outside />
        </main>
      ) : (
        <div class="lab learn">
          <main class="middle">
            {hasRun ? <h1 class="heard">Learn together</h1> : <Intro />}
            <LessonForm />
            <Scores />
            <Curves />
            <Split />
            <Traffic />
          </main>
          <aside class="inspector" aria-label="Ask the models">
            <Ask />
          </aside>
          <aside class="rail" aria-label="Room and peers">
            <RoomCard room={room} page="learn" origin={store.origin} origins={store.origins} />
            <Pupils />
          </aside>
        </div>
      )}
    </LearnStoreProvider>
  )
}

function Intro(): JSX.Element {
  return (
    <section class="intro" aria-label="What this is">
      <h1>Learn together, keep your data</h1>
      <p>
        Each peer trains a model on samples of its own. After every round the models are averaged, straight
        from browser to browser. Each peer has seen only a part; the average knows it all.
      </p>
    </section>
  )
}

function Head(): JSX.Element {
  const { state } = useLearn()
  const { self, room, learning, place } = state.value
  return (
    <header class="head">
      <a class="brand" href="/" aria-label="Papilio: back to the lab">
        <Mark />
        <span>Papilio</span>
      </a>
      <p class="tagline">learning together</p>
      {self && place === 'joined' && (
        <dl class="facts">
          <div>
            <dt>room</dt>
            <dd class="mono">{room}</dd>
          </div>
          <div>
            <dt>peers</dt>
            <dd class="mono">{learning.members.length}</dd>
          </div>
          <div>
            <dt>you</dt>
            <dd>{self.name}</dd>
          </div>
        </dl>
      )}
      <div class="head-tools">
        <ThemeButton />
      </div>
    </header>
  )
}

/** Said aloud when the state changes, and every five rounds. */
function Status(): JSX.Element {
  const { state, word, run } = useLearn()
  const { icon, word: shown, sentence } = learnStatusOf(state.value)
  const fifth = run.value ? Math.floor(roundsDone(run.value) / 5) : 0
  useEffect(() => {
    if (word.value === 'failed' || word.value === 'refused') alarm(`${shown}. ${sentence}`)
    else announce(`${shown}. ${sentence}`)
  }, [word.value, fifth])
  const isServerGone = !state.value.isServerThere && word.value !== 'refused'
  return (
    <section class="status-line" aria-label="State" data-testid="learn-status" data-state={word.value}>
      <span class="status-word">
        <Icon name={icon} />
        {shown}
      </span>
      <span class="status-sentence">
        {sentence}
        {isServerGone && ' The server is gone: those who are here go on, nobody new can join.'}
      </span>
    </section>
  )
}

function Outside(): JSX.Element {
  const { state, room: classroom } = useLearn()
  const { place, problem, room } = state.value
  const mayReturn = room !== undefined && problem?.code !== 'ROOM_UNKNOWN'
  return (
    <section class="learn-return" aria-label="Outside">
      <h1>{place === 'left' ? 'You have left the room' : 'This page is in no room'}</h1>
      {problem && <p>{problem.message}</p>}
      <p class="banner-actions">
        {mayReturn && (
          <button
            type="button"
            class="button primary"
            data-testid="return"
            onClick={() => void classroom.enter(room)}
          >
            Join room {room} again
          </button>
        )}
        <a class="button" href="/learn">
          Make a new room
        </a>
      </p>
      {problem && /^ROOM_/.test(problem.code) && <CodeForm code={room ?? ''} page="learn" />}
    </section>
  )
}
