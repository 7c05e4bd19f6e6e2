/** Puts the page together. How a peer joins is given: main.tsx gives WebRTC, the harness of the tests gives memory. */
import '@fontsource-variable/atkinson-hyperlegible-next'
import '@fontsource-variable/atkinson-hyperlegible-mono'
import './styles/tokens.css'
import './styles/base.css'
import './styles/lab.css'
import { render } from 'preact'
import { realClock } from '../../shared/base/clock.ts'
import { createPrng } from '../../shared/base/prng.ts'
import { agentOf, createBreathe } from './browser.ts'
import { showTheme } from './preferences.ts'
import { pathOf, roomOf } from './routes.ts'
import { Lab, type LabConfig } from './session/lab.ts'
import { readHash, writeHash } from './session/settings.ts'
import { createStore, reflectState } from './store.ts'
import { App } from './ui/App.tsx'

export function startPage(join: LabConfig['join']): Lab {
  const [seed = 1] = crypto.getRandomValues(new Uint32Array(1))
  const lab = new Lab({
    join,
    clock: realClock,
    prng: createPrng(seed),
    agent: agentOf(navigator.userAgent),
    breathe: createBreathe(() => realClock.now()),
  })
  const store = createStore(lab)
  showTheme()
  reflectState(lab)
  // The address of a room that was just made: a reload comes back to it, and the link can be copied from there.
  lab.log.subscribe(({ event }) => {
    if (event.kind === 'joined') history.replaceState(null, '', pathOf(event.room) + location.hash)
  })
  addEventListener('hashchange', () => {
    if (location.hash !== writeHash(store.settings.peek())) store.change(readHash(location.hash))
  })
  document.addEventListener('visibilitychange', () => lab.hide(document.hidden))
  const root = document.getElementById('app')
  if (root) render(<App store={store} />, root)
  void lab.enter(roomOf(location.pathname))
  return lab
}
