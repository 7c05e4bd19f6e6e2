/**
 * Rank 0's book. Requests come in from anybody; one run at a time goes out to all, call by call. Pure: it answers each event
 * with the orders to give. When rank 0 changes, the new one starts with an empty book, but for the run that goes on when its leader
 * has left.
 */
import { positionOf, type RunError, type Task } from './messages.ts'
import { callAt, callsOf, type RunSpec } from './runSpec.ts'

export interface Request {
  readonly requestId: string
  readonly by: string
  readonly spec: RunSpec
}

export type Order =
  | { readonly type: 'start'; readonly runId: string; readonly request: Request }
  | { readonly type: 'go'; readonly runId: string; readonly position: number; readonly index: number }
  | { readonly type: 'compare'; readonly runId: string; readonly position: number; readonly variant: number }
  | { readonly type: 'measure'; readonly runId: string; readonly position: number }
  | { readonly type: 'finish'; readonly runId: string; readonly error?: RunError }
  | { readonly type: 'refused'; readonly request: Request; readonly reason: string }

/** A run that has lost its leader. */
export interface OpenRun {
  readonly spec: RunSpec
  /** The last order that was given. */
  readonly task: Task
  /** peerIds of those who are left of it. */
  readonly members: readonly string[]
  /** peerId of the leader. */
  readonly lost: string
}

interface Current {
  readonly runId: string
  readonly epoch: number
  readonly spec: RunSpec | undefined
  /** Why it must end with the call that is going on. */
  stale?: RunError
  /** Orders given so far; each is answered by everybody's `done`. */
  position: number
  /** Calls announced so far. */
  calls: number
  /** Variant whose hashes are still to be looked at. */
  toCompare?: number
  readonly waitingFor: Set<string>
  readonly hashes: Set<string>
}

const queueLimit = 8

export class Sequencer {
  readonly #createId: () => string
  readonly #nameOf: (peerId: string) => string
  #isReady = false
  #epoch = -1
  #members: readonly string[] = []
  readonly #present = new Set<string>()
  #queue: (Request | 'measure')[] = []
  #current: Current | undefined

  constructor(createId: () => string, nameOf: (peerId: string) => string) {
    this.#createId = createId
    this.#nameOf = nameOf
  }

  /**
   * The members of `epoch` can reach each other. A run of an older epoch ends: its data are another group's. The call that is
   * going on may still end well among those who are left, or fail with an error that says more.
   */
  onReady(epoch: number, members: readonly string[]): Order[] {
    const before = this.#members
    this.#isReady = true
    this.#epoch = epoch
    this.#members = members
    const run = this.#current
    if (!run) return this.#next()
    if (run.epoch === epoch) return run.waitingFor.size > 0 ? [] : this.#advance(run)
    const joined = members.filter((id) => !before.includes(id))
    const gone = before.filter((id) => !members.includes(id))
    // Before the first call nothing has been computed by those who were there: the others begin without them.
    if (run.calls > 0 || joined.length > 0) run.stale ??= this.#describeChange(gone, joined)
    for (const id of gone) run.waitingFor.delete(id)
    return run.waitingFor.size > 0 ? [] : this.#advance(run)
  }

  #describeChange(gone: readonly string[], joined: readonly string[]): RunError {
    const [code, ids, what] =
      gone.length > 0
        ? (['PEER_LOST', gone, 'left'] as const)
        : (['MEMBERS_CHANGED', joined, 'joined'] as const)
    const names = ids.slice(0, 5).map(this.#nameOf).join(', ')
    return { code, message: `${names} ${what} while the run was going on.`, peers: ids.slice(0, 64) }
  }

  /** A new view is being agreed on: a call that is announced now might meet a newcomer who knows nothing of it. */
  onPending(): void {
    this.#isReady = false
  }

  /** This rank begins no more runs; the one that it leads it leads to the end. */
  onDeposed(): void {
    this.#queue = []
  }

  get isLeading(): boolean {
    return this.#current !== undefined
  }

  /** Another rank 0 has begun a run. */
  onOvertaken(): void {
    this.#current = undefined
  }

  /** This rank goes on with the run, in the epoch that is ready next; everybody is asked again for the answer to the last order. */
  onInherited({ spec, task, members, lost }: OpenRun): void {
    const call = task.type === 'go' ? callAt(spec, task.index) : undefined
    this.#members = [lost, ...members]
    this.#current = {
      runId: task.runId,
      epoch: this.#epoch,
      spec,
      position: positionOf(task),
      calls: callsBy(task, spec),
      waitingFor: new Set(members),
      hashes: new Set(),
      ...(call?.isLast ? { toCompare: call.variant } : {}),
    }
  }

  /** `peerId` is known to follow orders: nothing starts before everybody does. */
  onPresent(peerId: string): Order[] {
    this.#present.add(peerId)
    return this.#next()
  }

  onRequest(request: Request): Order[] {
    if (this.#queue.length >= queueLimit)
      return [
        { type: 'refused', request, reason: `${queueLimit} runs are waiting already. Try again after them.` },
      ]
    this.#queue.push(request)
    return this.#next()
  }

  onMeasureRequest(): Order[] {
    if (!this.#queue.includes('measure')) this.#queue.unshift('measure')
    return this.#next()
  }

  onDone(peerId: string, runId: string, position: number, hash?: string): Order[] {
    const run = this.#current
    if (run?.runId !== runId || run.position !== position) return []
    run.waitingFor.delete(peerId)
    if (hash !== undefined) run.hashes.add(hash)
    return run.waitingFor.size > 0 || !this.#isReady ? [] : this.#advance(run)
  }

  /** A member's call failed, or somebody wants it stopped: the run ends, and with it all calls that were announced. */
  onFailed(runId: string, error: RunError): Order[] {
    return this.#current?.runId === runId ? this.#finish(error) : []
  }

  #advance(run: Current): Order[] {
    const { runId, spec } = run
    if (!spec) return this.#finish()
    const variant = run.toCompare
    const differs = run.hashes.size > 1
    const isComplete = run.calls === callsOf(spec) && !differs
    if (run.stale && !isComplete) return this.#finish(run.stale)
    delete run.toCompare
    run.hashes.clear()
    if (variant !== undefined && differs)
      return [{ type: 'compare', runId, position: this.#expect(run), variant }]
    if (run.calls === callsOf(spec)) return this.#finish()
    const index = run.calls++
    const call = callAt(spec, index)
    if (call.isLast) run.toCompare = call.variant
    return [{ type: 'go', runId, position: this.#expect(run), index }]
  }

  /** The next position, which all members are now waited for at. */
  #expect(run: Current): number {
    for (const id of this.#members) run.waitingFor.add(id)
    return ++run.position
  }

  #finish(error?: RunError): Order[] {
    const runId = this.#current!.runId
    this.#current = undefined
    return [{ type: 'finish', runId, ...(error ? { error } : {}) }, ...this.#next()]
  }

  #next(): Order[] {
    if (this.#current || !this.#isReady) return []
    if (this.#members.some((id) => !this.#present.has(id))) return []
    const next = this.#queue.shift()
    if (next === undefined) return []
    const runId = this.#createId()
    const run: Current = {
      runId,
      epoch: this.#epoch,
      spec: next === 'measure' ? undefined : next.spec,
      position: -1,
      calls: 0,
      waitingFor: new Set(),
      hashes: new Set(),
    }
    this.#current = run
    const position = this.#expect(run)
    return [
      next === 'measure' ? { type: 'measure', runId, position } : { type: 'start', runId, request: next },
    ]
  }
}

/** Calls announced up to `task`: a comparison follows the last repeat of its variant. */
function callsBy(task: Task, spec: RunSpec): number {
  if (task.type === 'go') return task.index + 1
  return task.type === 'compare' ? callsOf(spec) - spec.variants.length + task.variant + 1 : 0
}
