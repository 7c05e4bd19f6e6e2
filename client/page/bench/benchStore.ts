/** What the components of the benchmark page read: the state of the room, and the settings of the next benchmark. */
import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { type BenchPlan, completePlan } from '../../../shared/bench/plan.ts'
import type { BenchRoom } from './benchRoom.ts'
import { type BenchState, type BenchWord, benchWordOf } from './benchState.ts'

export interface BenchSettings {
  readonly collective: BenchPlan['collective']
  readonly algorithms: 'auto' | 'every-r' | 'all'
  readonly minBytes: number
  readonly maxBytes: number
  readonly iterations: number
  readonly dtype: BenchPlan['dtypes'][number]
  readonly op: BenchPlan['ops'][number]
  readonly compares: boolean
}

export interface BenchStore {
  readonly room: BenchRoom
  readonly state: ReadonlySignal<BenchState>
  readonly word: ReadonlySignal<BenchWord>
  readonly settings: Signal<BenchSettings>
  readonly origins: Signal<readonly string[]>
  readonly origin: Signal<string>
  change(settings: Partial<BenchSettings>): void
  run(): void
}

/** Peers that a page alone adds to itself. */
export const companions = 3
/** Nobody waits for one size longer than so, seconds; there are fewer iterations then. */
const secondsPerSize = 10
/** Progress is drawn this often, ms: whatever is drawn takes from the time of the peers in this page. */
const progressMs = 250

export function createBenchStore(room: BenchRoom): BenchStore {
  const state = followState(room)
  const settings = signal<BenchSettings>({
    collective: 'allreduce',
    algorithms: 'auto',
    minBytes: 64,
    maxBytes: 1024 * 1024,
    iterations: 10,
    dtype: 'f32',
    op: 'sum',
    compares: true,
  })
  return {
    room,
    state,
    word: computed(() => benchWordOf(state.value)),
    settings,
    origins: signal([location.origin]),
    origin: signal(location.origin),
    change(changes) {
      const next = { ...settings.peek(), ...changes }
      settings.value = {
        ...next,
        minBytes: changes.maxBytes === undefined ? next.minBytes : Math.min(next.minBytes, next.maxBytes),
        maxBytes: changes.minBytes === undefined ? next.maxBytes : Math.max(next.minBytes, next.maxBytes),
      }
    },
    run: () => room.run(planOf(settings.peek()), companions),
  }
}

export function planOf(settings: BenchSettings): BenchPlan {
  const { collective, algorithms, minBytes, maxBytes, iterations, dtype, op, compares } = settings
  const isAllreduce = collective === 'allreduce'
  return completePlan({
    collective,
    minBytes,
    maxBytes,
    step: { factor: 4 },
    iterations,
    warmup: 2,
    dtypes: [dtype],
    ops: [op],
    secondsPerSize,
    baselines: compares && isAllreduce ? ['star', 'send-to-all'] : [],
    ...(algorithms === 'every-r' && isAllreduce
      ? { algorithms: ['butterfly'], stepsRemoved: 'all' }
      : { algorithms: [algorithms === 'all' ? 'all' : 'auto'] }),
  })
}

function followState(room: BenchRoom): Signal<BenchState> {
  const state = signal(room.state)
  let timer: ReturnType<typeof setTimeout> | undefined
  const publish = () => {
    clearTimeout(timer)
    timer = undefined
    state.value = room.state
  }
  room.subscribe((next) => {
    if (next.progress !== state.peek().progress && next.rows === state.peek().rows)
      timer ??= setTimeout(publish, progressMs)
    else publish()
  })
  return state
}

const context = createContext<BenchStore | undefined>(undefined)
export const BenchStoreProvider = context.Provider

export function useBench(): BenchStore {
  const store = useContext(context)
  if (!store) throw new Error('useBench needs a BenchStoreProvider above it')
  return store
}
