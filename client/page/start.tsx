/** Puts the page together around a lab: main.tsx gives it one on WebRTC, the harness of the tests one in memory. */
import '@fontsource-variable/atkinson-hyperlegible-next'
import '@fontsource-variable/atkinson-hyperlegible-mono'
import './styles/tokens.css'
import './styles/base.css'
import './styles/shell.css'
import './styles/rail.css'
import './styles/run.css'
import './styles/inspector.css'
import './styles/screens.css'
import { render } from 'preact'
import { pathOf, roomOf } from '../session/routes.ts'
import { lanOrigins } from './addresses.ts'
import { showTheme } from './preferences.ts'
import type { Lab } from './session/lab.ts'
import { readHash, writeHash } from './session/settings.ts'
import { createStore, reflectState } from './store.ts'
import { App } from './ui/App.tsx'
import { preloadAll } from './ui/lazy.tsx'

/** The server had nothing at this address and sent the page to say so. */
function isMissing(): boolean {
  return performance
    .getEntriesByType('navigation')
    .some((entry) => (entry as PerformanceNavigationTiming).responseStatus === 404)
}

export function startPage(lab: Lab): void {
  const store = createStore(lab)
  showTheme()
  reflectState(lab)
  // The address of a room that was just made: a reload comes back to it, and the link can be copied from there.
  lab.log.subscribe(({ event }) => {
    if (event.kind !== 'joined') return
    history.replaceState(null, '', pathOf(event.room) + location.hash)
    preloadAll()
  })
  addEventListener('hashchange', () => {
    if (location.hash !== writeHash(store.settings.peek())) store.change(readHash(location.hash))
  })
  const look = () => lab.hide(document.hidden)
  document.addEventListener('visibilitychange', look)
  look()
  void lanOrigins(new URL(location.href)).then((lan) => {
    if (lan[0] === undefined) return
    store.origins.value = [...lan, location.origin]
    store.origin.value = lan[0]
  })
  const root = document.getElementById('app')
  if (root) render(<App store={store} />, root)
  const { pathname } = location
  if (isMissing()) lab.refuse('NOT_FOUND', `There is nothing at ${pathname}.`)
  else void lab.enter(roomOf(pathname))
}
