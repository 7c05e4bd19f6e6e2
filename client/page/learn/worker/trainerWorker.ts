/** The worker in which all peers of a page train: TensorFlow.js, the samples and the models live here, and nothing of them in the page. */
import '@tensorflow/tfjs-backend-cpu'
import { setWasmPaths } from '@tensorflow/tfjs-backend-wasm'
import plain from '@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm.wasm?url'
import simd from '@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm-simd.wasm?url'
import * as tf from '@tensorflow/tfjs-core'
import { ArgumentError, PapilioError } from '../../../../shared/base/errors.ts'
import type { DataSet } from '../../../learn/dataSet.ts'
import { digitsPath, readDigitsFile } from '../../../learn/digitsFile.ts'
import { loadIris } from '../../../learn/iris.ts'
import { divide, type Lesson } from '../../../learn/lesson.ts'
import { createStudent, type Student } from '../../../learn/student.ts'
import { registerWasmKernels } from '../../../learn/wasmKernels.ts'
import { createBreathe } from '../../browser.ts'
import type { FromTrainer, ToTrainer, TrainerCalls } from './messages.ts'

/** Told at most so often, ms: a page with many peers has better things to do. */
const progressMs = 80

const post = (message: FromTrainer) => postMessage(message)
const breathe = createBreathe(() => performance.now() / 1000)
const students = new Map<number, Student>()
const trainings = new Map<number, AbortController>()
const sets = new Map<Lesson['data'], Promise<DataSet>>()
let tests: { readonly key: string; readonly test: DataSet } | undefined

/** The fastest that this browser has; all come to the same but for the last bits, which averaging makes equal. */
const backend = (async () => {
  // No threads: they need a page that is isolated from others.
  setWasmPaths({
    'tfjs-backend-wasm.wasm': plain,
    'tfjs-backend-wasm-simd.wasm': simd,
    'tfjs-backend-wasm-threaded-simd.wasm': simd,
  })
  registerWasmKernels()
  tf.enableProdMode()
  if (!(await tf.setBackend('wasm').catch(() => false))) await tf.setBackend('cpu')
})()

async function fetchDigits(): Promise<DataSet> {
  const response = await fetch(new URL(`/${digitsPath}`, location.origin))
  if (!response.ok) throw new ArgumentError('digits', `The server has no digits (status ${response.status}).`)
  return readDigitsFile(new Uint8Array(await response.arrayBuffer()))
}

function load(name: Lesson['data']): Promise<DataSet> {
  const set = sets.get(name) ?? (name === 'iris' ? loadIris() : fetchDigits())
  sets.set(name, set)
  // What fails now may come later.
  set.catch(() => sets.delete(name))
  return set
}

async function testOf(lesson: Lesson): Promise<DataSet> {
  const key = `${lesson.data} ${lesson.seed}`
  if (tests?.key !== key) tests = { key, test: divide(lesson, await load(lesson.data)).test }
  return tests.test
}

function studentOf(key: number): Student {
  const student = students.get(key)
  if (!student) throw new ArgumentError('student', `There is no student ${key}.`)
  return student
}

const calls: TrainerCalls = {
  async labels(name) {
    const { classes, shape, labels } = await load(name)
    return { classes, shape, labels }
  },
  async example(lesson, label, index) {
    const { inputs, labels, count } = await testOf(lesson)
    const places = [...labels.keys()].filter((each) => labels[each] === label)
    const place = places[index % places.length] ?? 0
    const length = inputs.length / count
    return { sample: inputs.slice(place * length, (place + 1) * length), label }
  },
  async create(key, lesson, place) {
    const [data] = await Promise.all([load(lesson.data), backend])
    let toldAt = 0
    const student = createStudent({
      lesson,
      place,
      data,
      onProgress(fraction) {
        const now = performance.now()
        if (fraction < 1 && now - toldAt < progressMs) return
        toldAt = now
        post({ type: 'progress', student: key, fraction })
      },
      pause: async () => breathe(),
    })
    students.set(key, student)
    return student.facts
  },
  read: async (key) => studentOf(key).read(),
  write: async (key, tensors) => studentOf(key).write(tensors),
  async train(key, task) {
    const controller = new AbortController()
    trainings.set(key, controller)
    return studentOf(key).train({ ...task, signal: controller.signal })
  },
  async abort(key) {
    trainings.get(key)?.abort()
  },
  evaluate: async (key) => studentOf(key).evaluate(),
  answer: async (key, sample) => studentOf(key).answer(sample),
  async dispose(key) {
    trainings.get(key)?.abort()
    students.get(key)?.dispose()
    students.delete(key)
  },
}

addEventListener('message', async ({ data }: MessageEvent<ToTrainer>) => {
  const { id, name, args } = data
  try {
    const call = calls[name] as (...args: readonly unknown[]) => Promise<unknown>
    post({ type: 'result', id, value: await call(...args) })
  } catch (error) {
    const code = error instanceof PapilioError ? error.code : 'INTERNAL'
    post({ type: 'failure', id, code, message: error instanceof Error ? error.message : String(error) })
  }
})
