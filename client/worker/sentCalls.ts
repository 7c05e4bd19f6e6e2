/**
 * The calls of a page on their way to the worker. Arrays go over in pieces, and the page breathes between them; the calls keep their order,
 * because it is the order of the ops.
 */
import { UnsupportedError } from '../../shared/base/errors.ts'
import type { Progress } from '../../shared/collective/types.ts'
import type { NumericArray } from '../../shared/wire/dtype.ts'
import { nextTask } from '../rtc/nextTask.ts'
import { isArray } from './arrays.ts'
import type { SentArray, ToWorker } from './messages.ts'

/** Copied in one go: a millisecond or two, on a busy machine ten. */
const pieceBytes = 1024 * 1024

/** What cannot go over as it is. */
interface Extras {
  signal?: AbortSignal
  onProgress?: (progress: Progress) => void
  into?: NumericArray
  feedback?: object
}

/** Takes out of the arguments of a call what cannot go over. */
export function partArguments(args: readonly unknown[]): { sent: unknown[]; extras: Extras } {
  const extras: Extras = {}
  let isGiven = false
  const sent = args.map((argument) => {
    if (typeof argument !== 'object' || argument === null || isArray(argument) || Array.isArray(argument))
      return argument
    isGiven = true
    const { signal, onProgress, into, feedback, ...options } = argument as Extras
    Object.assign(extras, { signal, onProgress, into, feedback })
    return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
  })
  if (!isGiven) sent.push({})
  return { sent, extras }
}

export interface CallSender {
  /** Resolves when the call is on its way; rejects when it cannot go over. */
  send(id: number, method: string, args: unknown[], extras: Extras): Promise<void>
}

export function createCallSender(post: (message: ToWorker, transfer: Transferable[]) => void): CallSender {
  const feedbacks = new WeakMap<object, number>()
  let nextKey = 1
  /** Calls that wait for an array before them to be over. */
  let queue: Promise<void> | undefined

  const feedbackKey = (feedback: object) => {
    const key = feedbacks.get(feedback) ?? nextKey++
    feedbacks.set(feedback, key)
    return key
  }
  const sendArray = async (array: NumericArray): Promise<SentArray> => {
    const key = nextKey++
    post({ type: 'array', key, like: array.slice(0, 0), length: array.length }, [])
    for (let at = 0; at < array.byteLength; at += pieceBytes) {
      if (at > 0) await breathe()
      const end = Math.min(array.byteLength, at + pieceBytes)
      const bytes = new Uint8Array(array.buffer, array.byteOffset + at, end - at).slice().buffer
      post({ type: 'piece', key, at, bytes }, [bytes])
    }
    return { sentArray: key }
  }

  return {
    async send(id, method, args, { onProgress, feedback }) {
      const hooks = {
        wantsProgress: onProgress !== undefined,
        ...(feedback && { feedback: feedbackKey(feedback) }),
      }
      const postCall = (ready: unknown[]) => {
        try {
          post({ type: 'call', id, method, args: ready, hooks }, [])
        } catch (error) {
          throw uncloneable(error)
        }
      }
      // At once when nothing is large and nothing is before it.
      if (!queue && !args.some(isLarge)) return postCall(args)
      const before = queue ?? Promise.resolve()
      const mine = before.then(async () => {
        const ready: unknown[] = []
        for (const value of args) ready.push(isLarge(value) ? await sendArray(value) : value)
        postCall(ready)
      })
      const settled = mine.catch(() => {})
      queue = settled
      void settled.then(() => {
        if (queue === settled) queue = undefined
      })
      return mine
    },
  }
}

/** `into` gets what `from` has, and the page breathes in between. */
export async function copyInto(into: NumericArray, from: NumericArray): Promise<void> {
  const step = Math.floor(pieceBytes / from.BYTES_PER_ELEMENT)
  for (let at = 0; at < from.length; at += step) {
    if (at > 0) await breathe()
    into.set(from.subarray(at, at + step) as never, at)
  }
}

function isLarge(value: unknown): value is NumericArray {
  return isArray(value) && value.byteLength > pieceBytes
}

function breathe(): Promise<void> {
  return new Promise(nextTask)
}

/** Functions cannot be passed to another thread. */
function uncloneable(error: unknown): unknown {
  if (!(error instanceof DOMException) || error.name !== 'DataCloneError') return error
  return new UnsupportedError(
    'fold in a worker',
    'A fold of your own cannot run in the worker of the group. Join with { worker: false }, on this peer.',
  )
}
