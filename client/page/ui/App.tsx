/** The Lab: room and peers on the left, the run in the middle, numbers on the right. */
import { useComputed } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { appStateOf } from '../session/appState.ts'
import { listenToShortcuts } from '../shortcuts.ts'
import { type Store, StoreProvider } from '../store.ts'
import { Banner } from './Banner.tsx'
import { Board } from './Board.tsx'
import { Header } from './Header.tsx'
import { Inspector } from './Inspector.tsx'
import { Intro } from './Intro.tsx'
import { Peers } from './Peers.tsx'
import { RoomCard } from './RoomCard.tsx'
import { RunPanel } from './RunPanel.tsx'
import { ShortcutHelp } from './ShortcutHelp.tsx'
import { Stage } from './Stage.tsx'
import { StatusLine } from './StatusLine.tsx'

export function App({ store }: { store: Store }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => listenToShortcuts(), [])
  const { state } = store
  const room = useComputed(() => state.value.room).value
  const isOutside = useComputed(() => state.value.place === 'refused').value
  const isEmpty = useComputed(() => appStateOf(state.value) === 'empty' || state.value.members.length < 2)
  return (
    <StoreProvider value={store}>
      <Header onHelp={() => dialog.current?.showModal()} />
      <StatusLine />
      <Banner />
      <div class="lab" data-outside={isOutside}>
        {!isOutside && (
          <aside class="rail" aria-label="Room and peers">
            <RoomCard room={room} page="j" origin={store.origin} origins={store.origins} />
            <Peers />
          </aside>
        )}
        <main class="middle">
          {isEmpty.value && <Intro />}
          {!isOutside && <RunPanel />}
          {!isOutside && <Board />}
          <Stage />
        </main>
        <Inspector />
      </div>
      <ShortcutHelp dialog={dialog} />
    </StoreProvider>
  )
}
