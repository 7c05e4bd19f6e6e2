/**
 * The page's side of a group that runs in a worker: the same interface, and every call is passed on. Arrays go over in pieces, and the page breathes
 * between them; the calls keep their order, because it is the order of the ops.
 */
import { Emitter } from '../../shared/base/emitter.ts'
import { AbortedError, ArgumentError, PapilioError, UnsupportedError } from '../../shared/base/errors.ts'
import { tellControl } from '../../shared/collective/control.ts'
import { predictCall } from '../../shared/collective/plan.ts'
import type { Group, GroupEvents, PlanRequest, Progress, Report } from '../../shared/collective/types.ts'
import type { NetworkModel } from '../../shared/cost/types.ts'
import type { Membership } from '../../shared/membership/types.ts'
import type { NumericArray } from '../../shared/wire/dtype.ts'
import type { Connector } from '../rtc/connector.ts'
import { nextTask } from '../rtc/nextTask.ts'
import { isArray } from './arrays.ts'
import type { CallHooks, Snapshot, ToPage, ToWorker } from './messages.ts'
import { receiveError, sendError } from './sentErrors.ts'
import type { GroupWorker } from './startWorker.ts'

/** Copied in one go: a millisecond or two, on a busy machine ten. */
const pieceBytes = 1024 * 1024

export interface RemoteGroupConfig {
  readonly worker: GroupWorker
  readonly connector: Connector
  readonly membership: Membership
  /** As GroupConfig.silenceSeconds. */
  readonly silenceSeconds?: number | undefined
}

/** Resolves when the group is there; it becomes ready by itself. */
export function createRemoteGroup(config: RemoteGroupConfig): Promise<Group> {
  return new Promise((resolve) => {
    const group = new RemoteGroup(config, (methods) => {
      for (const name of methods)
        if (!(name in group))
          Object.defineProperty(group, name, { value: (...args: unknown[]) => group.call(name, args) })
      // Whatever a group can do is there by now: the worker has said what that is.
      resolve(group as unknown as Group)
    })
  })
}

interface Pending {
  resolve(value: unknown): void
  reject(error: unknown): void
  readonly onProgress: ((progress: Progress) => void) | undefined
  readonly into: NumericArray | undefined
  readonly signal: AbortSignal | undefined
  cleanUp(): void
}

/** What cannot go over as it is. */
interface Extras {
  signal?: AbortSignal
  onProgress?: (progress: Progress) => void
  into?: NumericArray
  feedback?: object
}

class RemoteGroup extends Emitter<GroupEvents> {
  readonly peerId: string
  readonly #worker: GroupWorker
  readonly #connector: Connector
  readonly #membership: Membership
  readonly #onReady: (methods: readonly string[]) => void
  readonly #pending = new Map<number, Pending>()
  readonly #feedbacks = new WeakMap<object, number>()
  #snapshot: Snapshot | undefined
  #model: NetworkModel | undefined
  #nextId = 1
  #isListenedTo = false
  /** Calls that wait for an array before them to be over. */
  #queue: Promise<void> | undefined

  constructor(
    { worker, connector, membership, silenceSeconds }: RemoteGroupConfig,
    onReady: (methods: readonly string[]) => void,
  ) {
    super()
    this.peerId = membership.selfId
    this.#worker = worker
    this.#connector = connector
    this.#membership = membership
    this.#onReady = onReady
    worker.onMessage((message) => this.#take(message))
    worker.onError((error) => this.#broken(error))
    connector.on('channel', (event) => {
      const { peerId, attempt, channel } = event
      this.#post({ type: 'channel', peerId, attempt, channel }, [channel as unknown as Transferable])
    })
    connector.on('status', (status) => {
      const { error, ...rest } = status
      this.#post({ type: 'status', status: rest, error: error && sendError(error) })
      this.emit('link', status)
    })
    connector.on('open', (event) => this.#post({ type: 'open', ...event }))
    connector.on('close', ({ peerId, error }) =>
      this.#post({ type: 'close', peerId, error: sendError(error) }),
    )
    this.#post({ type: 'start', selfId: membership.selfId, view: membership.view(), silenceSeconds })
    membership.onView((view) => this.#post({ type: 'view', view }))
  }

  get rank() {
    return this.#known.rank
  }
  get size() {
    return this.#known.size
  }
  get epoch() {
    return this.#known.epoch
  }
  get members() {
    return this.#known.members
  }
  get roster() {
    return this.#known.roster
  }
  get state() {
    return this.#known.state
  }
  get model() {
    return this.#model
  }
  links() {
    return this.#connector.statuses()
  }
  predict(request: PlanRequest) {
    return predictCall(request, this.size, this.#model)
  }
  tell(data: unknown, to?: string): void {
    // Refused here and now, as without a worker.
    tellControl(data)
    this.#post({ type: 'tell', data, to })
  }

  override on<Name extends keyof GroupEvents>(name: Name, listener: (value: GroupEvents[Name]) => void) {
    if (name === 'progress' && !this.#isListenedTo) {
      this.#isListenedTo = true
      this.#post({ type: 'listen' })
    }
    return super.on(name, listener)
  }

  call(method: string, args: readonly unknown[]): Promise<unknown> {
    const id = this.#nextId++
    const { sent, hooks, extras } = this.#prepare(args)
    const { signal } = extras
    return new Promise((resolve, reject) => {
      const onAbort = () => this.#post({ type: 'abort', id })
      signal?.addEventListener('abort', onAbort)
      this.#pending.set(id, {
        resolve,
        reject,
        onProgress: extras.onProgress,
        into: extras.into,
        signal,
        cleanUp: () => signal?.removeEventListener('abort', onAbort),
      })
      this.#inOrder(sent, (ready) => {
        this.#post({ type: 'call', id, method, args: ready, hooks })
        if (signal?.aborted) onAbort()
      }).catch((error: unknown) => this.#end(id)?.reject(error))
    })
  }

  get #known(): Snapshot {
    if (!this.#snapshot) throw new PapilioError('LEFT', 'The worker of the group has not answered yet.')
    return this.#snapshot
  }

  #post(message: ToWorker, transfer: Transferable[] = []): void {
    this.#worker.post(message, transfer)
  }

  /** Large arrays first, in pieces; at once when there are none and nothing is before it. */
  #inOrder(args: unknown[], post: (args: unknown[]) => void): Promise<void> {
    const isLarge = (value: unknown): value is NumericArray => isArray(value) && value.byteLength > pieceBytes
    if (!this.#queue && !args.some(isLarge)) {
      try {
        post(args)
        return Promise.resolve()
      } catch (error) {
        return Promise.reject(uncloneable(error))
      }
    }
    const before = this.#queue ?? Promise.resolve()
    const mine = before.then(async () => {
      const ready: unknown[] = []
      for (const value of args) ready.push(isLarge(value) ? await this.#sendArray(value) : value)
      post(ready)
    })
    const settled = mine.catch(() => {})
    this.#queue = settled
    void settled.then(() => {
      if (this.#queue === settled) this.#queue = undefined
    })
    return mine
  }

  async #sendArray(array: NumericArray): Promise<{ sentArray: number }> {
    const key = this.#nextId++
    this.#post({ type: 'array', key, like: array.slice(0, 0), length: array.length })
    for (let at = 0; at < array.byteLength; at += pieceBytes) {
      if (at > 0) await breathe()
      const end = Math.min(array.byteLength, at + pieceBytes)
      const bytes = new Uint8Array(array.buffer, array.byteOffset + at, end - at).slice().buffer
      this.#post({ type: 'piece', key, at, bytes }, [bytes])
    }
    return { sentArray: key }
  }

  #prepare(args: readonly unknown[]): { sent: unknown[]; hooks: CallHooks; extras: Extras } {
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
    const { onProgress, feedback } = extras
    return {
      sent,
      extras,
      hooks: {
        wantsProgress: onProgress !== undefined,
        ...(feedback && { feedback: this.#feedbackKey(feedback) }),
      },
    }
  }

  #feedbackKey(feedback: object): number {
    const key = this.#feedbacks.get(feedback) ?? this.#nextId++
    this.#feedbacks.set(feedback, key)
    return key
  }

  #end(id: number): Pending | undefined {
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    pending?.cleanUp()
    return pending
  }

  #learn(snapshot: Snapshot): void {
    this.#snapshot = snapshot
    this.#model = snapshot.model ?? this.#model
  }

  #take(message: ToPage): void {
    const connector = this.#connector
    switch (message.type) {
      case 'ready':
        this.#learn(message.snapshot)
        this.#onReady(message.methods)
        return
      case 'event':
        this.#learn(message.snapshot)
        this.emit(message.name as keyof GroupEvents, message.value as never)
        this.#stopIfOver()
        return
      case 'progress':
        this.#pending.get(message.id)?.onProgress?.(message.progress)
        return
      case 'result':
        void this.#succeed(message.id, message.value)
        return
      case 'failure': {
        const pending = this.#end(message.id)
        const error = receiveError(message.error)
        if (error instanceof AbortedError && pending?.signal?.aborted) error.cause = pending.signal.reason
        pending?.reject(error)
        this.#stopIfOver()
        return
      }
      case 'want':
        connector.want(message.peerIds)
        return
      case 'opened':
        connector.opened(message.peerId, message.attempt)
        return
      case 'closed':
        connector.closed(message.peerId, message.attempt)
        return
      case 'broken':
        connector.broken(message.peerId, message.attempt, receiveError(message.error))
        return
      case 'shut':
        connector.close()
        return
      case 'lost':
        this.#membership.reportLost(message.peerId, message.reason)
        return
      case 'leave':
        void this.#membership.leave().finally(() => this.#post({ type: 'left' }))
        return
      case 'loaded':
    }
  }

  async #succeed(id: number, value: unknown): Promise<void> {
    const pending = this.#end(id)
    if (!pending) return
    const result = value as { data?: NumericArray; report?: Report } | undefined
    const { into } = pending
    if (into && result?.data) {
      if (into.constructor !== result.data.constructor || into.length !== result.data.length) {
        const name = result.data[Symbol.toStringTag]
        pending.reject(
          new ArgumentError('into', `Pass a ${name} of ${result.data.length} elements, like the data.`),
        )
        return
      }
      await copyInto(into, result.data)
      result.data = into
    }
    if (result?.report) this.emit('report', result.report)
    pending.resolve(value)
    this.#stopIfOver()
  }

  #stopIfOver(): void {
    if (this.#snapshot?.state === 'left' && this.#pending.size === 0) this.#worker.stop()
  }

  /** The worker is gone: so is this peer's part in the group. */
  #broken(error: Error): void {
    const left = new PapilioError('LEFT', `The worker of the group has failed: ${error.message}`, {
      cause: error,
    })
    for (const id of [...this.#pending.keys()]) this.#end(id)?.reject(left)
    this.#connector.close()
    void this.#membership.leave()
    if (!this.#snapshot || this.#snapshot.state === 'left') return
    this.#snapshot = { ...this.#snapshot, state: 'left' }
    this.emit('state', 'left')
    this.#worker.stop()
  }
}

function breathe(): Promise<void> {
  return new Promise(nextTask)
}

async function copyInto(into: NumericArray, from: NumericArray): Promise<void> {
  const step = Math.floor(pieceBytes / from.BYTES_PER_ELEMENT)
  for (let at = 0; at < from.length; at += step) {
    if (at > 0) await breathe()
    into.set(from.subarray(at, at + step) as never, at)
  }
}

/** Functions cannot be passed to another thread. */
function uncloneable(error: unknown): unknown {
  if (!(error instanceof DOMException) || error.name !== 'DataCloneError') return error
  return new UnsupportedError(
    'fold in a worker',
    'A fold of your own cannot run in the worker of the group. Join with { worker: false }, on this peer.',
  )
}
