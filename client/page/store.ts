/** What components read: the folded log, and the settings that stand in the address. */
import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { appStateOf } from './session/appState.ts'
import type { Lab } from './session/lab.ts'
import type { LabState } from './session/labState.ts'
import { type LabSettings, readHash, writeHash } from './session/settings.ts'

export interface Store {
  readonly lab: Lab
  readonly state: ReadonlySignal<LabState>
  readonly settings: Signal<LabSettings>
  /** Addresses of this server that other devices can reach; the page's own first. */
  readonly origins: Signal<readonly string[]>
  /** The address that link and QR code show. */
  readonly origin: Signal<string>
  change(settings: Partial<LabSettings>): void
}

export function createStore(lab: Lab): Store {
  const state = signal(lab.state)
  lab.log.subscribe(() => {
    state.value = lab.state
  })
  const settings = signal(readHash(location.hash))
  const origins = signal<readonly string[]>([location.origin])
  return {
    lab,
    state,
    settings,
    origins,
    origin: signal(location.origin),
    change(changes) {
      settings.value = { ...settings.peek(), ...changes }
      history.replaceState(null, '', writeHash(settings.peek()))
    },
  }
}

const context = createContext<Store | undefined>(undefined)
export const StoreProvider = context.Provider

export function useStore(): Store {
  const store = useContext(context)
  if (!store) throw new Error('useStore needs a StoreProvider above it')
  return store
}

/** Shows the state on <html>, where tests and styles find it. */
export function reflectState(state: ReadonlySignal<LabState>): () => void {
  const shown = computed(() => {
    const { epoch, members, self, groupState } = state.value
    const rank = members.findIndex((member) => member.peerId === self?.peerId)
    return { appState: appStateOf(state.value), epoch, size: members.length, rank, groupState }
  })
  return shown.subscribe(({ appState, epoch, size, rank }) => {
    const { dataset } = document.documentElement
    dataset.appState = appState
    dataset.epoch = String(epoch)
    dataset.p = String(size)
    dataset.rank = String(rank)
  })
}
