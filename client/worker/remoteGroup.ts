/** The page's side of a group that runs in a worker: the same interface, and every call is passed on. */
import { Emitter } from '../../shared/base/emitter.ts'
import { AbortedError, ArgumentError, PapilioError } from '../../shared/base/errors.ts'
import { tellControl } from '../../shared/collective/control.ts'
import { predictCall } from '../../shared/collective/plan.ts'
import type {
  Group,
  GroupEvents,
  PlanRequest,
  Progress,
  Report,
  StateProvider,
} from '../../shared/collective/types.ts'
import type { NetworkModel } from '../../shared/cost/types.ts'
import type { Membership } from '../../shared/membership/types.ts'
import type { NumericArray } from '../../shared/wire/dtype.ts'
import type { Connector } from '../rtc/connector.ts'
import type { GroupParts } from '../rtc/join.ts'
import type { GroupWorker, Snapshot, ToPage, ToWorker } from './messages.ts'
import { type CallSender, copyInto, createCallSender, partArguments } from './sentCalls.ts'
import { receiveError, sendError } from './sentErrors.ts'

/** Resolves when the group is there; it becomes ready by itself. */
export function createRemoteGroup(worker: GroupWorker, parts: GroupParts): Promise<Group> {
  return new Promise((resolve) => {
    const group = new RemoteGroup(worker, parts, (methods) => {
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

class RemoteGroup extends Emitter<GroupEvents> {
  readonly peerId: string
  readonly #worker: GroupWorker
  readonly #connector: Connector
  readonly #membership: Membership
  readonly #onReady: (methods: readonly string[]) => void
  readonly #pending = new Map<number, Pending>()
  readonly #calls: CallSender
  #snapshot: Snapshot | undefined
  #model: NetworkModel | undefined
  #nextId = 1
  #isListenedTo = false
  #provider: StateProvider | undefined

  constructor(
    worker: GroupWorker,
    { connector, membership, silenceSeconds }: GroupParts,
    onReady: (methods: readonly string[]) => void,
  ) {
    super()
    this.peerId = membership.selfId
    this.#worker = worker
    this.#connector = connector
    this.#membership = membership
    this.#onReady = onReady
    this.#calls = createCallSender((message, transfer) => this.#post(message, transfer))
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

  /** The application is on this thread: the worker asks for its state. */
  offerState(provider: StateProvider): () => void {
    this.#provider = provider
    this.#post({ type: 'offer', isOffered: true })
    return () => {
      if (this.#provider !== provider) return
      this.#provider = undefined
      this.#post({ type: 'offer', isOffered: false })
    }
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
    const { sent, extras } = partArguments(args)
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
      this.#calls.send(id, method, sent, extras).then(
        () => {
          if (signal?.aborted) onAbort()
        },
        (error: unknown) => this.#end(id)?.reject(error),
      )
    })
  }

  get #known(): Snapshot {
    if (!this.#snapshot) throw new PapilioError('LEFT', 'The worker of the group has not answered yet.')
    return this.#snapshot
  }

  #post(message: ToWorker, transfer: Transferable[] = []): void {
    this.#worker.post(message, transfer)
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
      case 'fold':
        this.#calls.foldLoaded(message.module, message.error && receiveError(message.error))
        return
      case 'ask-state':
        void this.#giveState()
        return
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
      case 'doubt':
        this.#membership.doubt?.(message.peerId)
        return
      case 'lost':
        this.#membership.reportLost(message.peerId, message.reason, message.wasOpen)
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

  async #giveState(): Promise<void> {
    try {
      const state = await this.#provider?.()
      this.#post({ type: 'offered', state, error: undefined })
    } catch (error) {
      this.#post({ type: 'offered', state: undefined, error: sendError(error) })
    }
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
