/**
 * The worker's side of a group that runs in a worker: links over channels that the page has handed over, the group on top of them, and the calls of
 * the page. Nothing here waits for the page: while it is busy, the ops of the others go on.
 */
import { createDeferred } from '../../shared/base/deferred.ts'
import { Emitter } from '../../shared/base/emitter.ts'
import { LinkError, PapilioError } from '../../shared/base/errors.ts'
import { createGroup } from '../../shared/collective/group.ts'
import type { Group, GroupEvents, Progress } from '../../shared/collective/types.ts'
import type { NetworkModel } from '../../shared/cost/types.ts'
import type { Membership, View } from '../../shared/membership/types.ts'
import type { NumericArray } from '../../shared/wire/dtype.ts'
import { createFeedback, type Feedback } from '../../shared/wire/feedback.ts'
import type { ChannelSource, ConnectorEvents } from '../rtc/connector.ts'
import { createChannelTransport } from '../rtc/transport.ts'
import { arrayLike, isSentArray, transferablesOf } from './arrays.ts'
import type { Port, SentFold, Snapshot, ToPage, ToWorker } from './messages.ts'
import { receiveError, sendError } from './sentErrors.ts'

/** Told at once: the rest of the progress of an op is told at most so often, or the page would have nothing else to do. */
const progressSeconds = 0.03

type Call = Extract<ToWorker, { type: 'call' }>

export function hostGroup(port: Port): void {
  const post = (message: ToPage, transfer: Transferable[] = []) => port.postMessage(message, transfer)
  let start = (_message: Extract<ToWorker, { type: 'start' }>) => {}
  let take = (_message: ToWorker) => {}
  port.onmessage = ({ data }: MessageEvent<ToWorker>) => {
    if (data.type === 'start') start(data)
    else take(data)
  }
  start = ({ selfId, view, silenceSeconds }) => {
    const source = createSource(selfId, post)
    const membership = createMembership(selfId, view, post)
    const group = createGroup({ transport: createChannelTransport(source), membership, silenceSeconds })
    const calls = serveCalls(group, post)
    const offers = createOffers(group, () => post({ type: 'ask-state' }))
    const snapshot = createSnapshots(group)
    let isListenedTo = false
    const mayTell = createThrottle()
    const forward = (name: keyof GroupEvents) =>
      group.on(name, (value) => post({ type: 'event', name, value, snapshot: snapshot() }))
    for (const name of ['view', 'state', 'waiting', 'model', 'message'] as const) forward(name)
    group.on('progress', (progress) => {
      if (isListenedTo && mayTell(progress))
        post({ type: 'event', name: 'progress', value: progress, snapshot: snapshot() })
    })
    take = (message) => {
      if (message.type === 'view') membership.show(message.view)
      else if (message.type === 'left') membership.left()
      else if (message.type === 'listen') isListenedTo = true
      else if (message.type === 'offer') offers.offer(message.isOffered)
      else if (message.type === 'offered') offers.answer(message)
      else if (message.type === 'tell') group.tell(message.data, message.to)
      else if (!calls(message)) source.take(message)
    }
    post({ type: 'ready', methods: methodsOf(group), snapshot: snapshot() })
  }
  post({ type: 'loaded' })
}

function createSource(selfId: string, post: (message: ToPage) => void) {
  class Source extends Emitter<ConnectorEvents> implements ChannelSource {
    readonly selfId = selfId
    want(peerIds: readonly string[]) {
      post({ type: 'want', peerIds })
    }
    opened(peerId: string, attempt: number) {
      post({ type: 'opened', peerId, attempt })
    }
    closed(peerId: string, attempt: number) {
      post({ type: 'closed', peerId, attempt })
    }
    broken(peerId: string, attempt: number, cause: unknown) {
      post({ type: 'broken', peerId, attempt, error: sendError(cause) })
    }
    close() {
      post({ type: 'shut' })
    }
    take(message: ToWorker) {
      if (message.type === 'channel') this.emit('channel', message)
      else if (message.type === 'open') this.emit('open', message)
      else if (message.type === 'close')
        this.emit('close', { peerId: message.peerId, error: linkError(receiveError(message.error)) })
      else if (message.type === 'status')
        this.emit('status', {
          ...message.status,
          ...(message.error && { error: linkError(receiveError(message.error)) }),
        })
    }
  }
  return new Source()
}

function linkError(error: Error): LinkError {
  return error instanceof LinkError
    ? error
    : new LinkError('CHANNEL_CLOSED', error.message, { peerId: '', cause: error })
}

function createMembership(selfId: string, first: View | undefined, post: (message: ToPage) => void) {
  const views = new Emitter<{ view: View }>()
  let view = first
  let left = () => {}
  const membership: Membership = {
    selfId,
    view: () => view,
    onView: (listener) => views.on('view', listener),
    doubt: (peerId) => post({ type: 'doubt', peerId }),
    reportLost: (peerId, reason, wasOpen) => post({ type: 'lost', peerId, reason, wasOpen }),
    leave: () =>
      new Promise((resolve) => {
        left = resolve
        post({ type: 'leave' })
      }),
  }
  return {
    ...membership,
    show(next: View) {
      view = next
      views.emit('view', next)
    },
    left: () => left(),
  }
}

function createSnapshots(group: Group): () => Snapshot {
  let told: NetworkModel | undefined
  return () => {
    const { rank, size, epoch, members, roster, state, model } = group
    const isNew = model !== told
    told = model
    return { rank, size, epoch, members, roster, state, ...(isNew && { model }) }
  }
}

/** The state of the application is on the page, which is asked for it. */
function createOffers(group: Group, ask: () => void) {
  let asked = createDeferred<Uint8Array>()
  let withdraw = () => {}
  return {
    offer(isOffered: boolean) {
      withdraw()
      if (!isOffered) return
      withdraw = group.offerState(() => {
        asked = createDeferred()
        ask()
        return asked.promise
      })
    },
    answer({ state, error }: Extract<ToWorker, { type: 'offered' }>) {
      if (error) asked.reject(receiveError(error))
      else asked.resolve(state as Uint8Array)
    },
  }
}

function createThrottle(): (progress: Progress) => boolean {
  let last = Number.NEGATIVE_INFINITY
  return ({ fraction }) => {
    const now = performance.now() / 1000
    if (fraction < 1 && now - last < progressSeconds) return false
    last = now
    return true
  }
}

/** Everything that can be called on a group: the page need not know it by name. */
function methodsOf(group: Group): string[] {
  const methods = new Set<string>()
  for (let holder: object = group; holder !== Object.prototype; holder = Object.getPrototypeOf(holder))
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(holder)))
      if (typeof value === 'function' && name !== 'constructor') methods.add(name)
  return [...methods]
}

/** Says whether the message was about a call. */
function serveCalls(group: Group, post: (message: ToPage, transfer?: Transferable[]) => void) {
  const arrays = new Map<number, NumericArray>()
  const running = new Map<number, AbortController>()
  const feedbacks = new Map<number, Feedback>()
  const feedbackOf = (key: number) => {
    const feedback = feedbacks.get(key) ?? createFeedback()
    feedbacks.set(key, feedback)
    return feedback
  }
  const folds = new Map<string, unknown>()
  const loadFold = async (module: string) => {
    const loaded = (await import(/* @vite-ignore */ module)) as { default?: unknown }
    if (typeof loaded.default !== 'object')
      throw new PapilioError('UNSUPPORTED', 'It has no fold as default export.')
    folds.set(module, loaded.default)
  }
  const given = (argument: unknown) => {
    if (!isSentArray(argument)) return argument
    const array = arrays.get(argument.sentArray)
    arrays.delete(argument.sentArray)
    return array
  }
  const call = async ({ id, method, args, hooks }: Call): Promise<unknown> => {
    const target = group as unknown as Record<string, ((...args: unknown[]) => unknown) | undefined>
    const mayTell = createThrottle()
    const abort = new AbortController()
    running.set(id, abort)
    const options = {
      signal: abort.signal,
      ...(hooks.wantsProgress && {
        onProgress(progress: Progress) {
          if (mayTell(progress)) post({ type: 'progress', id, progress })
        },
      }),
      ...(hooks.feedback !== undefined && { feedback: feedbackOf(hooks.feedback) }),
    }
    const complete = args.map((argument) =>
      isOptions(argument) && !isSentArray(argument)
        ? { ...argument, ...foldIn(argument, folds), ...options }
        : given(argument),
    )
    const run = target[method]
    if (!run) throw new PapilioError('UNSUPPORTED', `A group has no ${method}.`)
    return run.apply(group, complete)
  }
  return (message: ToWorker): boolean => {
    if (message.type === 'array') arrays.set(message.key, arrayLike(message.like, message.length))
    else if (message.type === 'piece') {
      const array = arrays.get(message.key)
      if (array) new Uint8Array(array.buffer).set(new Uint8Array(message.bytes), message.at)
    } else if (message.type === 'fold') {
      const { module } = message
      loadFold(module).then(
        () => post({ type: 'fold', module, error: undefined }),
        (error: unknown) => post({ type: 'fold', module, error: sendError(error) }),
      )
    } else if (message.type === 'abort') running.get(message.id)?.abort()
    else if (message.type === 'call') {
      const { id } = message
      call(message)
        .then(
          (value) => {
            const sent = transferablesOf(value)
            post({ type: 'result', id, value: sent.value }, sent.transfer)
          },
          (error: unknown) => post({ type: 'failure', id, error: sendError(error) }),
        )
        .finally(() => running.delete(id))
    } else return false
    return true
  }
}

function foldIn(options: object, folds: ReadonlyMap<string, unknown>) {
  const { op } = options as { op?: SentFold | string }
  return typeof op === 'object' && { op: folds.get(op.foldModule) }
}

function isOptions(argument: unknown): argument is object {
  return (
    typeof argument === 'object' && argument !== null && Object.getPrototypeOf(argument) === Object.prototype
  )
}
