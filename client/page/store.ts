/** What components read: the folded log, what follows from it, and the settings that stand in the address. */
import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Chosen } from '../../shared/cost/choose.ts'
import type { NetworkModel } from '../../shared/cost/types.ts'
import { appStateOf, whyNoRun } from './session/appState.ts'
import { choiceOf, choiceOfRun, isSimulated, modelFor, planSize } from './session/choices.ts'
import type { LabEvent } from './session/events.ts'
import type { Lab } from './session/lab.ts'
import type { LabState } from './session/labState.ts'
import { type Measured, measurementsFor, outcomesOf } from './session/results.ts'
import type { RunState } from './session/runState.ts'
import { type LabSettings, readHash, writeHash } from './session/settings.ts'

export interface Store {
  readonly lab: Lab
  readonly state: ReadonlySignal<LabState>
  readonly settings: Signal<LabSettings>
  /** The group that plans are made for: the one that is here, or a simulated one while alone. */
  readonly simulated: ReadonlySignal<boolean>
  readonly size: ReadonlySignal<number>
  readonly model: ReadonlySignal<NetworkModel>
  /** What the settings would run, or why they cannot. */
  readonly choice: ReadonlySignal<Chosen | string>
  /** What was chosen for the variant to show of the last run; it changes only when members are lost. */
  readonly runChoice: ReadonlySignal<Chosen | string | undefined>
  /** Why what stands in the field of the size is no size. */
  readonly sizeProblem: Signal<string | undefined>
  /** Why no run can be asked for now. */
  readonly reason: ReadonlySignal<string | undefined>
  readonly members: ReadonlySignal<LabState['members']>
  readonly history: ReadonlySignal<LabState['history']>
  readonly run: ReadonlySignal<LabState['run']>
  /** What this group has measured with the settings that are set, by `settingsKey`. */
  readonly measured: ReadonlySignal<ReadonlyMap<string, Measured>>
  /** What the stage shows: the last run, or what the settings would run. */
  readonly stageView: Signal<'plan' | 'run'>
  /** Of a run with several variants, the one to show; undefined: the fastest. */
  readonly chosenVariant: Signal<number | undefined>
  readonly variant: ReadonlySignal<number>
  /** Addresses of this server that other devices can reach; the page's own first. */
  readonly origins: Signal<readonly string[]>
  /** The address that link and QR code show. */
  readonly origin: Signal<string>
  change(settings: Partial<LabSettings>): void
}

/**
 * A run is drawn this often, in ms. The peers inside this page share its thread: whatever is drawn while they run is taken
 * from their time, and a run that is over sooner is drawn once, when it has ended.
 */
const runIntervalMs = 100

const hotKinds: ReadonlySet<LabEvent['kind']> = new Set([
  'run-started',
  'call',
  'progress',
  'peer-progress',
  'report',
  'result',
])

/** Follows the state of the lab: at once, but in a run only every 100 ms. */
function followState(lab: Lab): Signal<LabState> {
  const state = signal(lab.state)
  let timer: ReturnType<typeof setTimeout> | undefined
  const publish = () => {
    clearTimeout(timer)
    timer = undefined
    state.value = lab.state
  }
  lab.log.subscribe(({ event }) => {
    if (!hotKinds.has(event.kind)) publish()
    else timer ??= setTimeout(publish, runIntervalMs)
  })
  return state
}

export function createStore(lab: Lab): Store {
  const state = followState(lab)
  const settings = signal(readHash(location.hash))
  const stageView = signal<'plan' | 'run'>('plan')
  const chosenVariant = signal<number>()
  lab.log.subscribe(({ event }) => {
    if (event.kind !== 'run-started') return
    stageView.value = 'run'
    chosenVariant.value = undefined
  })
  const members = computed(() => state.value.members)
  const measured = computed(() => state.value.model)
  const run = computed(() => state.value.run)
  const past = computed(() => state.value.history)
  const group = computed(() => ({ members: members.value, model: measured.value }))
  const size = computed(() => planSize(group.value))
  const model = computed(() => modelFor(group.value))
  // The open panel is a setting too, but nothing that is run depends on it.
  const call = computed(() => JSON.stringify({ ...settings.value, tab: '' }))
  const sizeProblem = signal<string>()
  const variant = computed(() => variantToShow(run.value, chosenVariant.value))
  const runKey = computed(() => {
    const shown = run.value
    return shown && `${shown.start.runId} ${variant.value} ${shown.lost.length}`
  })
  return {
    lab,
    state,
    settings,
    simulated: computed(() => isSimulated(group.value)),
    size,
    model,
    choice: computed(() => choiceOf(JSON.parse(call.value), size.value, model.value)),
    runChoice: computed(() => (runKey.value ? choiceOfRun(run.peek()!, variant.peek()) : undefined)),
    sizeProblem,
    reason: computed(() => whyNoRun(state.value) ?? sizeProblem.value),
    members,
    history: past,
    run,
    measured: computed(() =>
      measurementsFor(past.value, {
        bytes: settings.value.bytes,
        dtype: settings.value.dtype,
        op: settings.value.op,
        members: members.value.map((member) => member.peerId).join(' '),
      }),
    ),
    stageView,
    chosenVariant,
    variant,
    origins: signal([location.origin]),
    origin: signal(location.origin),
    change(changes) {
      const { tab, ...others } = changes
      if (Object.keys(others).length > 0) stageView.value = 'plan'
      settings.value = { ...settings.peek(), ...others, ...(tab ? { tab } : {}) }
      history.replaceState(null, '', writeHash(settings.peek()))
    },
  }
}

/** While it runs the one that runs; afterwards the chosen one, or the fastest. */
function variantToShow(run: RunState | undefined, chosen: number | undefined): number {
  if (!run) return 0
  if (run.phase === 'running') return run.call?.variant ?? 0
  const outcomes = outcomesOf(run)
  const fastest = Math.min(...outcomes.map((each) => each.times.median))
  return chosen ?? outcomes.find((each) => each.times.median === fastest)?.variant ?? 0
}

const context = createContext<Store | undefined>(undefined)
export const StoreProvider = context.Provider

export function useStore(): Store {
  const store = useContext(context)
  if (!store) throw new Error('useStore needs a StoreProvider above it')
  return store
}

/** Shows the state on <html> as soon as it changes, where tests and styles find it. */
export function reflectState(lab: Lab): void {
  const { dataset } = document.documentElement
  const reflect = () => {
    const { epoch, members, self } = lab.state
    dataset.appState = appStateOf(lab.state)
    dataset.epoch = String(epoch)
    dataset.p = String(members.length)
    dataset.rank = String(members.findIndex((member) => member.peerId === self?.peerId))
  }
  lab.log.subscribe(reflect)
  reflect()
}
