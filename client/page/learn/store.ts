/** What the components of the lesson page read: the folded log, the settings of the next lesson, the labels of the samples. */
import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { countClasses, divide, type Lesson } from '../../learn/lesson.ts'
import type { LearnRun } from '../../learn/state.ts'
import { type Classroom, lessonFor } from './classroom.ts'
import { type PageState, type PageWord, pageWordOf } from './pageState.ts'
import type { Labels } from './worker/messages.ts'
import type { TrainerPort } from './worker/trainerPort.ts'

export interface LearnSettings {
  readonly data: Lesson['data']
  readonly model: Lesson['model']
  readonly skew: number
  readonly rounds: number
  readonly seed: number
}

export interface LearnStore {
  readonly room: Classroom
  readonly trainer: TrainerPort
  readonly state: ReadonlySignal<PageState>
  readonly word: ReadonlySignal<PageWord>
  readonly run: ReadonlySignal<LearnRun | undefined>
  readonly settings: Signal<LearnSettings>
  /** The one that goes on or has just ended, or else what the settings would begin. */
  readonly lesson: ReadonlySignal<Lesson>
  /** Samples of each class by hand, of that lesson; undefined: not known yet. */
  readonly hands: ReadonlySignal<readonly (readonly number[])[] | undefined>
  readonly classes: ReadonlySignal<readonly string[]>
  /** Why the samples are not there. */
  readonly problem: ReadonlySignal<string | undefined>
  readonly origins: Signal<readonly string[]>
  readonly origin: Signal<string>
  change(settings: Partial<LearnSettings>): void
  /** Begins what the settings say. */
  train(): void
}

/** Peers that a page alone adds to itself, so that there is somebody to learn with. */
export const companions = 4

export const roundsOf: Readonly<Record<Lesson['data'], number>> = { digits: 30, iris: 12 }

/** Progress is drawn this often, ms. */
const progressMs = 100

export function createLearnStore(room: Classroom, trainer: TrainerPort): LearnStore {
  const state = followState(room)
  const settings = signal<LearnSettings>({
    data: 'digits',
    model: 'mlp',
    skew: 1,
    rounds: roundsOf.digits,
    seed: 1,
  })
  /** Settings were changed since the last run began: they are what is shown. */
  const isChanged = signal(false)
  const labels = signal<Partial<Record<Lesson['data'], Labels>>>({})
  const problem = signal<string>()
  room.subscribe(({ event }) => {
    if (event.kind === 'started') isChanged.value = false
  })
  const run = computed(() => state.value.learning.run)
  const isRunning = computed(() => run.value !== undefined && run.value.ending === undefined)
  const size = computed(() => state.value.learning.members.length)
  const planned = computed(() =>
    lessonFor(
      settings.value,
      Math.max(size.value, state.value.expected, size.value < 2 ? 1 + companions : 1),
    ),
  )
  const known = computed(() => run.value?.lesson)
  const lesson = computed(() =>
    known.value && (isRunning.value || !isChanged.value) ? known.value : planned.value,
  )
  const load = (data: Lesson['data']) => {
    if (labels.peek()[data]) return
    trainer.labels(data).then(
      (found) => {
        problem.value = undefined
        labels.value = { ...labels.peek(), [data]: found }
      },
      (error: unknown) => {
        problem.value = error instanceof Error ? error.message : String(error)
      },
    )
  }
  load(settings.peek().data)
  lesson.subscribe(({ data }) => load(data))
  return {
    room,
    trainer,
    state,
    word: computed(() => pageWordOf(state.value)),
    run,
    settings,
    lesson,
    hands: computed(() => {
      const found = labels.value[lesson.value.data]
      if (!found) return undefined
      const set = { ...found, count: found.labels.length, inputs: new Float32Array() }
      return divide(lesson.value, set).hands.map(countClasses)
    }),
    classes: computed(() => labels.value[lesson.value.data]?.classes ?? []),
    problem,
    origins: signal([location.origin]),
    origin: signal(location.origin),
    change(changes) {
      const before = settings.peek()
      const next = { ...before, ...changes }
      isChanged.value = true
      settings.value =
        next.data === before.data ? next : { ...next, model: 'mlp', rounds: roundsOf[next.data] }
    },
    train() {
      room.train(settings.peek(), companions)
    },
  }
}

function followState(room: Classroom): Signal<PageState> {
  const state = signal(room.state)
  let timer: ReturnType<typeof setTimeout> | undefined
  const publish = () => {
    clearTimeout(timer)
    timer = undefined
    state.value = room.state
  }
  room.subscribe(({ event }) => {
    if (event.kind === 'progress' || event.kind === 'phase') timer ??= setTimeout(publish, progressMs)
    else publish()
  })
  return state
}

const context = createContext<LearnStore | undefined>(undefined)
export const LearnStoreProvider = context.Provider

export function useLearn(): LearnStore {
  const store = useContext(context)
  if (!store) throw new Error('useLearn needs a LearnStoreProvider above it')
  return store
}
