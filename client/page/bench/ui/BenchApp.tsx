/** The page of a benchmark: room and peers on the left; what to measure, the table and its chart beside them. On a phone the other way round. */
import { useComputed } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { alarm, announce } from '../../announce.ts'
import { CodeForm } from '../../ui/CodeForm.tsx'
import { Icon, Mark } from '../../ui/Icon.tsx'
import { RoomCard } from '../../ui/RoomCard.tsx'
import { ThemeButton } from '../../ui/ThemeButton.tsx'
import { sentenceOf } from '../benchState.ts'
import { type BenchStore, BenchStoreProvider, useBench } from '../benchStore.ts'
import { BenchForm } from './BenchForm.tsx'
import { BenchPeers } from './BenchPeers.tsx'
import { BenchResult } from './BenchResult.tsx'

export function BenchApp({ store }: { store: BenchStore }): JSX.Element {
  const { state, word } = store
  const isOutside = useComputed(() => word.value === 'refused').value
  const room = useComputed(() => state.value.room).value
  return (
    <BenchStoreProvider value={store}>
      <Head />
      <Status />
      {isOutside ? (
        <main class="bench-outside">
          <Outside />
        </main>
      ) : (
        <div class="lab bench">
          <main class="middle">
            <BenchForm />
            <BenchResult />
          </main>
          <aside class="rail" aria-label="Room and peers">
            <RoomCard room={room} page="bench" origin={store.origin} origins={store.origins} />
            <BenchPeers />
          </aside>
        </div>
      )}
    </BenchStoreProvider>
  )
}

function Head(): JSX.Element {
  const { state } = useBench()
  const { self, room, members } = state.value
  return (
    <header class="head">
      <a class="brand" href="/" aria-label="Papilio: back to the lab">
        <Mark />
        <span>Papilio</span>
      </a>
      <p class="tagline">benchmark</p>
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

/** Said aloud when the state changes, and at each size. */
function Status(): JSX.Element {
  const { state, word } = useBench()
  const { icon, word: shown, sentence } = sentenceOf(state.value)
  const { progress, isServerThere } = state.value
  useEffect(() => {
    if (word.value === 'failed' || word.value === 'refused') alarm(`${shown}. ${sentence}`)
    else announce(`${shown}. ${sentence}`)
  }, [word.value, progress?.sizesDone])
  const isServerGone = !isServerThere && word.value !== 'refused'
  return (
    <section class="status-line" aria-label="State" data-testid="bench-status" data-state={word.value}>
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
  const { state, room: bench } = useBench()
  const { problem, room } = state.value
  return (
    <section class="bench-return" aria-label="Outside">
      <h1>This page is in no room</h1>
      {problem && <p>{problem.message}</p>}
      <p class="banner-actions">
        {room !== undefined && problem?.code !== 'ROOM_UNKNOWN' && (
          <button
            type="button"
            class="button primary"
            data-testid="return"
            onClick={() => void bench.enter(room)}
          >
            Join room {room} again
          </button>
        )}
        <a class="button" href="/bench">
          Make a new room
        </a>
      </p>
      {problem && /^ROOM_/.test(problem.code) && <CodeForm code={room ?? ''} page="bench" />}
    </section>
  )
}
