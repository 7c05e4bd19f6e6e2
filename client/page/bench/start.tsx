/** Puts the page of a benchmark together; loaded when somebody opens /bench, and not before. */
import '../styles/tokens.css'
import '../styles/base.css'
import '../styles/shell.css'
import '../styles/rail.css'
import '../styles/run.css'
import '../styles/screens.css'
import './bench.css'
import { render } from 'preact'
import { realClock } from '../../../shared/base/clock.ts'
import { readOrder } from '../../../shared/bench/reports.ts'
import { join } from '../../index.ts'
import { pathOf, roomOf } from '../../session/routes.ts'
import { lanOrigins } from '../addresses.ts'
import { agentOf } from '../browser.ts'
import { showTheme } from '../preferences.ts'
import { BenchRoom } from './benchRoom.ts'
import { benchWordOf } from './benchState.ts'
import { createBenchStore } from './benchStore.ts'
import { attendAsOrdered } from './ordered.ts'
import { BenchApp } from './ui/BenchApp.tsx'

export function startBench(): void {
  const order = readOrder(location.hash)
  const ordered = roomOf(location.pathname, 'bench')
  if (order && ordered !== undefined) {
    document.title = 'Papilio: peers of papilio bench'
    document.body.textContent = 'The peers of this tab belong to papilio bench, which runs in a terminal.'
    const agent = agentOf(navigator.userAgent)
    void attendAsOrdered(order, { room: ordered, agent, clock: realClock, scope: globalThis.window })
    return
  }
  const room = new BenchRoom({
    async join({ room, create, kind }) {
      const group = await join({ create, kind, until: 'seat', ...(room !== undefined && { room }) })
      return {
        group,
        room: group.room,
        name: group.name,
        onServer: (listener) => group.server.on('state', listener),
      }
    },
    clock: realClock,
    agent: agentOf(navigator.userAgent),
  })
  const store = createBenchStore(room)
  showTheme()
  document.title = 'Papilio: benchmark'
  const { dataset } = document.documentElement
  let shown = ''
  room.subscribe((state) => {
    dataset.appState = benchWordOf(state)
    dataset.p = String(state.members.length)
    dataset.rank = String(state.members.findIndex(({ peerId }) => peerId === state.self?.peerId))
    if (state.place !== 'joined' || state.room === undefined || state.room === shown) return
    shown = state.room
    history.replaceState(null, '', pathOf(state.room, 'bench') + location.hash)
  })
  void lanOrigins(new URL(location.href)).then((lan) => {
    if (lan[0] === undefined) return
    store.origins.value = [...lan, location.origin]
    store.origin.value = lan[0]
  })
  const root = document.getElementById('app')
  if (root) render(<BenchApp store={store} />, root)
  void room.enter(roomOf(location.pathname, 'bench'))
}
