/**
 * The calls of a page on their way to the worker. Arrays go over in pieces, and the page breathes between them; the calls keep their order,
 * because it is the order of the ops.
 */
import { createDeferred, type Deferred } from '../../shared/base/deferred.ts'
import { UnsupportedError } from '../../shared/base/errors.ts'
import type { Progress } from '../../shared/collective/types.ts'
import type { NumericArray } from '../../shared/wire/dtype.ts'
import { nextTask } from '../rtc/nextTask.ts'
import { isArray } from './arrays.ts'
import type { SentArray, SentFold, ToWorker } from './messages.ts'

/** Copied in one go: a millisecond or two, on a busy machine ten. */
const pieceBytes = 1024 * 1024

/** What cannot go over as it is. */
interface Extras {
  signal?: AbortSignal
  onProgress?: (progress: Progress) => void
  into?: NumericArray
  feedback?: object
  /** Module of the caller's own fold. */
  fold?: string
}

/** Takes out of the arguments of a call what cannot go over. */
export function partArguments(args: readonly unknown[]): { sent: unknown[]; extras: Extras } {
  const extras: Extras = {}
  let isGiven = false
  const sent = args.map((argument) => {
    if (typeof argument !== 'object' || argument === null || isArray(argument) || Array.isArray(argument))
      return argument
    isGiven = true
    const { signal, onProgress, into, feedback, op, ...options } = argument as Extras & { op?: unknown }
    const fold = moduleOf(op)
    Object.assign(extras, { signal, onProgress, into, feedback, fold })
    const all = { ...options, op: fold === undefined ? op : ({ foldModule: fold } satisfies SentFold) }
    return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
  })
  if (!isGiven) sent.push({})
  return { sent, extras }
}

/** The whole address of the module that a fold says to be in. */
function moduleOf(op: unknown): string | undefined {
  if (typeof op !== 'object' || op === null || !('module' in op)) return undefined
  return new URL(String(op.module), globalThis.location?.href).href
}

export interface CallSender {
  /** The worker has the fold of this module, or cannot have it. */
  foldLoaded(module: string, error: Error | undefined): void
  /** Resolves when the call is on its way; rejects when it cannot go over. */
  send(id: number, method: string, args: unknown[], extras: Extras): Promise<void>
}

export function createCallSender(post: (message: ToWorker, transfer: Transferable[]) => void): CallSender {
  const feedbacks = new WeakMap<object, number>()
  let nextKey = 1
  /** Calls that wait for an array before them to be over. */
  let queue: Promise<void> | undefined

  const folds = new Map<string, Deferred<void>>()
  const loadFold = (module: string): Promise<void> => {
    const known = folds.get(module) ?? createDeferred<void>()
    if (!folds.has(module)) {
      folds.set(module, known)
      post({ type: 'fold', module }, [])
    }
    return known.promise
  }
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
    foldLoaded(module, error) {
      const asked = folds.get(module)
      if (!error) asked?.resolve()
      else {
        // The next call may find it.
        folds.delete(module)
        const message = `The worker of the group cannot take the fold from ${module}: ${error.message}`
        asked?.reject(new UnsupportedError('fold in a worker', message))
      }
    },
    async send(id, method, args, { onProgress, feedback, fold }) {
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
      if (!queue && !args.some(isLarge) && fold === undefined) return postCall(args)
      const before = queue ?? Promise.resolve()
      const mine = before.then(async () => {
        if (fold !== undefined) await loadFold(fold)
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
    'A fold of your own cannot be passed to the worker of the group. Give it the `module` that it is the default export of, or join with { worker: false } on this peer.',
  )
}
