/** The page's side of the worker that trains. */
import { type ErrorCode, PapilioError } from '../../../../shared/base/errors.ts'
import type { LocalTask } from '../../../../shared/federated/roundTypes.ts'
import type { Lesson } from '../../../learn/lesson.ts'
import type { Student } from '../../../learn/student.ts'
import type { CallName, FromTrainer, ToTrainer, TrainerCalls } from './messages.ts'

type Calls = { [Name in CallName]: TrainerCalls[Name] }

export interface TrainerPort {
  readonly labels: Calls['labels']
  readonly example: Calls['example']
  createStudent(lesson: Lesson, place: number, onProgress: (fraction: number) => void): Promise<Student>
}

export function startTrainer(): TrainerPort {
  const worker = new Worker(new URL('./trainerWorker.ts', import.meta.url), {
    type: 'module',
    name: 'papilio-trainer',
  })
  return connectTrainer(worker)
}

function connectTrainer(worker: Worker): TrainerPort {
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
  const progress = new Map<number, (fraction: number) => void>()
  let calls = 0
  let students = 0
  let broken: Error | undefined
  worker.onmessage = ({ data }: MessageEvent<FromTrainer>) => {
    if (data.type === 'progress') return progress.get(data.student)?.(data.fraction)
    const call = waiting.get(data.id)
    waiting.delete(data.id)
    if (data.type === 'result') call?.resolve(data.value)
    else call?.reject(new PapilioError(data.code as ErrorCode, data.message))
  }
  worker.onerror = (event) => {
    event.preventDefault()
    broken = new PapilioError('UNSUPPORTED', `The training cannot run in this browser: ${event.message}`)
    for (const { reject } of waiting.values()) reject(broken)
    waiting.clear()
  }
  const call = <Name extends CallName>(name: Name, ...args: Parameters<Calls[Name]>) =>
    new Promise((resolve, reject) => {
      if (broken) return reject(broken)
      const id = ++calls
      waiting.set(id, { resolve, reject })
      worker.postMessage({ id, name, args } satisfies ToTrainer)
    }) as ReturnType<Calls[Name]>

  return {
    labels: (data) => call('labels', data),
    example: (lesson, label, index) => call('example', lesson, label, index),
    async createStudent(lesson, place, onProgress) {
      const key = ++students
      progress.set(key, onProgress)
      const facts = await call('create', key, lesson, place)
      return {
        facts,
        read: () => call('read', key),
        write: (tensors) => call('write', key, tensors),
        train: ({ signal, reference, ...task }: LocalTask) => {
          const training = call('train', key, { ...task, reference: task.proximal > 0 ? reference : {} })
          const abort = () => void call('abort', key)
          if (signal.aborted) abort()
          else signal.addEventListener('abort', abort, { once: true })
          return training.finally(() => signal.removeEventListener('abort', abort))
        },
        evaluate: () => call('evaluate', key),
        answer: (sample) => call('answer', key, sample),
        dispose() {
          progress.delete(key)
          void call('dispose', key).catch(() => undefined)
        },
      }
    },
  }
}
