/** Puts the page of a lesson together; loaded when somebody opens /learn, and not before. */
import '../styles/tokens.css'
import '../styles/base.css'
import '../styles/shell.css'
import '../styles/rail.css'
import '../styles/run.css'
import '../styles/screens.css'
import './learn.css'
import { render } from 'preact'
import { realClock } from '../../../shared/base/clock.ts'
import { createPrng } from '../../../shared/base/prng.ts'
import { join } from '../../index.ts'
import { pathOf, roomOf } from '../../session/routes.ts'
import { lanOrigins } from '../addresses.ts'
import { showTheme } from '../preferences.ts'
import { Classroom } from './classroom.ts'
import { pageWordOf } from './pageState.ts'
import { createLearnStore } from './store.ts'
import { LearnApp } from './ui/LearnApp.tsx'
import { startTrainer } from './worker/trainerPort.ts'

export function startLearning(): void {
  const [seed = 1] = crypto.getRandomValues(new Uint32Array(1))
  const trainer = startTrainer()
  const room = new Classroom({
    async join({ room, create, kind }) {
      const group = await join({ create, kind, until: 'seat', ...(room !== undefined && { room }) })
      return {
        group,
        room: group.room,
        name: group.name,
        onServer: (listener) => group.server.on('state', listener),
      }
    },
    trainer,
    clock: realClock,
    prng: createPrng(seed),
  })
  const store = createLearnStore(room, trainer)
  showTheme()
  document.title = 'Papilio: learning together'
  reflectWord(room)
  room.subscribe(({ event }) => {
    if (event.kind === 'joined') history.replaceState(null, '', pathOf(event.room, 'learn') + location.hash)
  })
  void lanOrigins(new URL(location.href)).then((lan) => {
    if (lan[0] === undefined) return
    store.origins.value = [...lan, location.origin]
    store.origin.value = lan[0]
  })
  const root = document.getElementById('app')
  if (root) render(<LearnApp store={store} />, root)
  void room.enter(roomOf(location.pathname, 'learn'))
}

/** Shows the state on <html>, where tests and styles find it. */
function reflectWord(room: Classroom): void {
  const { dataset } = document.documentElement
  const reflect = () => {
    dataset.appState = pageWordOf(room.state)
    dataset.p = String(room.state.learning.members.length)
  }
  room.subscribe(reflect)
  reflect()
}
