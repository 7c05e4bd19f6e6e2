/**
 * The ops of one member: starts them on its lanes, brings frames to them (or keeps frames that came early), and makes an op that fails on one
 * rank fail on all. Knows no algorithm and no membership protocol.
 */
import type { Clock } from '../base/clock.ts'
import { createDeferred, type Deferred } from '../base/deferred.ts'
import { AbortedError, ProtocolError, TimeoutError } from '../base/errors.ts'
import type { Frame } from '../wire/frame.ts'
import { createAhead } from './ahead.ts'
import type { Call, Control } from './control.ts'
import { type Arrival, createEarlyFrames } from './early.ts'
import { createExecution, type Execution, type ExecutionConfig, type Moved } from './execution.ts'
import type { Lane } from './lane.ts'
import { createMismatches } from './mismatch.ts'
import { createPastCalls } from './pastCalls.ts'
import { errorOf, reasonOf } from './reasons.ts'
import { type Attempt, Interruption, nameOf } from './recovery.ts'
import { createStalls } from './stalls.ts'
import type { Waiting } from './types.ts'

export interface OpRequest {
  readonly op: number
  readonly attempt: Attempt
  readonly call: Call
  readonly signature: number
  readonly execution: Pick<
    ExecutionConfig,
    'algorithm' | 'settings' | 'dataflow' | 'notes' | 'onProgress' | 'onComplete'
  >
  readonly timeoutSeconds: number
  readonly signal?: AbortSignal | undefined
}

export interface EngineConfig {
  readonly clock: Clock
  lane(peerId: string): Lane | undefined
  /** It is asked where an op stands; others are asked by others. */
  isNear(peerId: string): boolean
  /** Opens links that an op needs and the group does not keep; undefined when there are none. */
  reach(peerIds: readonly string[]): Promise<void> | undefined
  /** A member of the current epoch is lost: an op that needs it cannot run. */
  isGone(peerId: string): boolean
  /** Sends to one member, or to all that this member has links to. */
  tell(control: Control, peerId?: string): void
  onWaiting(waiting: Waiting): void
  /** The peer broke the protocol: its link is not to be trusted any more. */
  onOffence(peerId: string, error: ProtocolError): void
}

export interface Engine {
  /** A newcomer's first op: what came before is none of its business. */
  begin(op: number): void
  /** Reserves the number: frames for it are kept until it runs. */
  call(op: number, attempt: Attempt): void
  /** The promise, or a rejection as soon as a called op has failed before it runs. */
  unlessFailed<T>(op: number, promise: Promise<T>): Promise<T>
  run(request: OpRequest): Promise<Moved>
  /** Ends a called op that cannot run here; it ends everywhere. Does nothing for an op that ran. */
  abandon(op: number, error: Error): void
  /** Ends all ops of this member, which is leaving. */
  failAll(error: Error): void
  /** Stops ops where they are: those of a member that is gone, or one that others have stopped. */
  suspend(isMeant: (op: number, attempt: Attempt) => boolean): void
  suspended(): number[]
  /** Ops that ended well here and in which this member has sent to the peer: what was on its way then is lost with their link. */
  sentTo(peerId: string): number[]
  /**
   * Nothing arrives at any op until `proceed`: what this member has told of its ops stays true until the others have told too.
   */
  pause(): void
  proceed(): void
  /** A suspended op goes on (or an ended one is passed on to others) in a new attempt. */
  resume(op: number, attempt: Attempt): void
  data(peerId: string, frame: Frame, lane: Lane): void
  control(peerId: string, control: Control): void
  /** Smallest number among the ops that have not ended. */
  oldestOp(): number
  /** What was kept of others is of no use any more. */
  keepFor(isMember: (peerId: string) => boolean): void
  /** Ops that have not ended, frames that wait for their op, and ops ahead of which others have told something. */
  holdings(): { ops: number; early: number; ahead: number }
}

interface Entry {
  attempt: Attempt
  request?: OpRequest
  execution?: Execution
  error?: Error
  /** A member is gone: nothing moves until the members have agreed how the op goes on. */
  isSuspended: boolean
  /** Rejects when the op fails or is suspended; renewed at each suspension. */
  failed: Deferred<never>
}

export function createEngine(config: EngineConfig): Engine {
  const { clock } = config
  const entries = new Map<number, Entry>()
  const early = createEarlyFrames(config.onOffence)
  const ahead = createAhead(config.onOffence)
  /** Errors of ops that others have given up and this member has not called yet. */
  const doomed = new Map<number, Error>()
  /** Why ops have failed here, for members that have not heard of it. */
  const failures = new Map<number, Extract<Control, { type: 'abort' }>>()
  const past = createPastCalls()
  /** Ops below have been called (or never will be, on a newcomer); above it, those in the set. */
  let calledBelow = 0
  const calledAbove = new Set<number>()
  const isCalled = (op: number) => op < calledBelow || calledAbove.has(op)
  /** Resolves when the ops may go on. */
  let paused: Deferred<void> | undefined
  const held: Arrival[] = []

  const rankOf = (attempt: Attempt, peerId: string) =>
    attempt.members.findIndex((member) => member.peerId === peerId)

  const mismatches = createMismatches({
    clock,
    tell: (op, call) => config.tell({ type: 'call', op, call }),
    onVerdict: (op, error) => fail(op, error, true),
  })

  const discard = ({ lane, frame }: Arrival) => lane.consume(frame)

  const deliver = (arrival: Arrival, request: OpRequest, execution: Execution) => {
    const { peerId, frame } = arrival
    // A later attempt, which this member has not heard of yet.
    if (frame.epoch > request.attempt.epoch) return early.keep(arrival)
    const rank = rankOf(request.attempt, peerId)
    if (rank < 0 || frame.epoch < request.attempt.epoch || execution.isSettled) return discard(arrival)
    if (frame.signature !== request.signature) {
      discard(arrival)
      mismatches.open(request)
      return
    }
    try {
      execution.accept(rank, frame)
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      fail(request.op, error)
    }
    discard(arrival)
  }

  const fail = (op: number, error: Error, isTold = false) => {
    const entry = entries.get(op)
    if (!entry) {
      if (!isCalled(op)) doomed.set(op, error)
      return
    }
    if (entry.error || entry.execution?.isSettled) return
    entry.error = error
    entry.execution?.fail(error)
    entry.failed.reject(error)
    const { attempt } = entry
    const reason = reasonOf(error, nameOf(attempt, attempt.rank))
    const abort = { type: 'abort', op, epoch: attempt.epoch, reason } as const
    failures.set(op, abort)
    if (failures.size > maxFailures) failures.delete(failures.keys().next().value!)
    if (!isTold) config.tell(abort)
  }

  const running = () =>
    [...entries].flatMap(([op, { request, execution }]) =>
      request && execution && !execution.isSettled ? [{ op, attempt: request.attempt, execution }] : [],
    )
  const stalls = createStalls({
    clock,
    running,
    ask: (op) => config.tell({ type: 'where', op }),
    isNear: config.isNear,
    onWaiting: config.onWaiting,
  })

  const timeOut = ({ op, attempt, timeoutSeconds }: OpRequest, execution: Execution) => {
    const { step, peers } = stalls.culprits({ op, attempt, execution })
    const names = peers.map((peer) => `${peer.name} (rank ${peer.rank})`).join(', ')
    const message = `Op ${op} did not end within ${timeoutSeconds} s: waiting in step ${step + 1} for ${names}.`
    fail(op, new TimeoutError(message, { op, step, waitingFor: peers }))
  }

  const run = async (request: OpRequest): Promise<Moved> => {
    const { op, attempt, signal } = request
    const entry = entries.get(op)
    if (!entry) throw new ProtocolError(`op ${op} was not called`)
    const cleanups: (() => void)[] = []
    // The lanes of an attempt stay the same, so that the order of a message's segments does; when one closes, the op is suspended.
    let lanes: (Lane | undefined)[] = []
    try {
      const linking = config.reach(peersOf(request))
      if (linking !== undefined) {
        const cancel = clock.after(request.timeoutSeconds, () => fail(op, unreached(request)))
        await Promise.race([linking, entry.failed.promise]).finally(cancel)
      }
      lanes = attempt.members.map((member) => config.lane(member.peerId))
      while (paused) await Promise.race([paused.promise, entry.failed.promise])
      entry.request = request
      if (signal?.aborted) fail(op, abortedHere(op, signal.reason))
      if (entry.error) throw entry.error
      if (entry.isSuspended) throw new Interruption(`op ${op} was interrupted before it ran`)
      mismatches.called(request)
      const execution = createExecution({
        ...request.execution,
        op,
        epoch: attempt.epoch,
        signature: request.signature,
        clock,
        lane: (rank) => lanes[rank],
        onFault: (cause) => fail(op, faultOf(op, cause)),
      })
      entry.execution = execution
      cleanups.push(clock.after(request.timeoutSeconds, () => timeOut(request, execution)))
      if (signal) {
        const onAbort = () => fail(op, abortedHere(op, signal.reason))
        signal.addEventListener('abort', onAbort)
        cleanups.push(() => signal.removeEventListener('abort', onAbort))
      }
      execution.start()
      for (const arrival of early.take(op)) deliver(arrival, request, execution)
      stalls.watch()
      return await execution.done
    } finally {
      for (const cleanup of cleanups) cleanup()
      for (const lane of lanes) lane?.drop(op)
      mismatches.close(op)
      if (entry.isSuspended) {
        delete entry.request
        delete entry.execution
      } else {
        remove(op)
        past.add(op, { ...request, sentTo: entry.error ? new Set() : receiversOf(request) })
      }
      for (const lane of lanes) {
        lane?.ended(request.execution.dataflow.result.byteLength)
        // The next op may now use the whole window.
        lane?.pump()
      }
    }
  }

  const remove = (op: number) => {
    entries.delete(op)
    stalls.end(op)
    for (const arrival of early.take(op)) discard(arrival)
  }
  const suspend = (op: number, entry: Entry) => {
    const interruption = new Interruption(`op ${op} was interrupted`)
    const { failed } = entry
    entry.isSuspended = true
    entry.failed = failureOf()
    failed.reject(interruption)
    entry.execution?.fail(interruption)
  }
  const suspendIfGone = (op: number, entry: Entry) => {
    if (entry.attempt.members.some((member) => config.isGone(member.peerId))) suspend(op, entry)
  }

  const keepAhead = (isMeant: (peerId: string, op: number) => boolean) => {
    for (const op of ahead.keepFor(isMeant)) {
      doomed.delete(op)
      mismatches.close(op)
    }
  }

  const route = (arrival: Arrival) => {
    const { op } = arrival.frame
    const entry = entries.get(op)
    if (entry?.request && entry.execution) deliver(arrival, entry.request, entry.execution)
    else if (doomed.has(op) || (!entry && isCalled(op))) discard(arrival)
    else early.keep(arrival)
  }

  const here = (op: number): Control => {
    const request = entries.get(op)?.request ?? past.get(op)
    const runs = request && { epoch: request.attempt.epoch, signature: request.signature }
    return { type: 'here', op, isCalled: isCalled(op), ...(runs && { runs }) }
  }

  return {
    run,
    pause() {
      paused ??= createDeferred()
    },
    proceed() {
      paused?.resolve()
      paused = undefined
      for (const arrival of held.splice(0)) route(arrival)
    },
    abandon(op, error) {
      if (!entries.has(op)) return
      if (!(error instanceof Interruption)) fail(op, error)
      remove(op)
    },
    suspend(isMeant) {
      for (const [op, entry] of entries)
        if (!entry.error && !entry.isSuspended && !entry.execution?.isSettled && isMeant(op, entry.attempt))
          suspend(op, entry)
    },
    suspended: () => [...entries].flatMap(([op, entry]) => (entry.isSuspended && !entry.error ? [op] : [])),
    sentTo: past.sentTo,
    resume(op, attempt) {
      const known = entries.get(op)
      const entry = known ?? { attempt, isSuspended: false, failed: failureOf() }
      entry.attempt = attempt
      entry.isSuspended = false
      entries.set(op, entry)
      suspendIfGone(op, entry)
    },
    failAll(error) {
      for (const op of entries.keys()) fail(op, error, true)
    },
    begin(op) {
      calledBelow = op
      keepAhead((_, ahead) => ahead >= op)
    },
    call(op, attempt) {
      ahead.called(op)
      calledAbove.add(op)
      while (calledAbove.delete(calledBelow)) calledBelow++
      const entry: Entry = { attempt, isSuspended: false, failed: failureOf() }
      entries.set(op, entry)
      const error = doomed.get(op)
      doomed.delete(op)
      if (error) fail(op, error, true)
      else suspendIfGone(op, entry)
    },
    async unlessFailed(op, promise) {
      const entry = entries.get(op)
      return entry ? Promise.race([promise, entry.failed.promise]) : promise
    },
    data(peerId, frame, lane) {
      if (paused) held.push({ peerId, frame, lane })
      else route({ peerId, frame, lane })
    },
    control(peerId, control) {
      if (control.type === 'abort') {
        if (isCalled(control.op) || ahead.admit(peerId, control.op)) fail(control.op, errorOf(control.reason))
      } else if (control.type === 'call') {
        const { op, call } = control
        if (!isCalled(op) && !ahead.admit(peerId, op)) return
        const isOver = !entries.has(op) && past.get(op) !== undefined
        const own = isOver ? past.answer(op, peerId) : undefined
        if (!isOver) mismatches.heard(op, peerId, call)
        else if (own) config.tell({ type: 'call', op, call: own }, peerId)
      } else if (control.type === 'where') {
        // The one who asks may have been without a link when this member told.
        config.tell(failures.get(control.op) ?? here(control.op), peerId)
      } else if (control.type === 'here') {
        const entry = entries.get(control.op)
        stalls.heard(control.op, peerId, control.isCalled)
        const { request, execution } = entry ?? {}
        // Ranks with different calls may wait for each other without ever sending a frame: each is the root, say.
        if (!request || !execution || execution.isSettled || !control.runs) return
        const { epoch, signature } = control.runs
        if (epoch === request.attempt.epoch && signature !== request.signature) mismatches.open(request)
      }
    },
    oldestOp() {
      let oldest = Number.POSITIVE_INFINITY
      for (const op of entries.keys()) oldest = Math.min(oldest, op)
      return oldest
    },
    keepFor(isMember) {
      early.keepFor(isMember)
      keepAhead(isMember)
    },
    holdings: () => ({ ops: entries.size, early: early.count() + held.length, ahead: ahead.count() }),
  }
}

/** More than any program has in flight. */
const maxFailures = 128

/** Rejected only for those who wait for it. */
function failureOf(): Deferred<never> {
  const failed = createDeferred<never>()
  failed.promise.catch(() => {})
  return failed
}

/** Of the data and of what the ranks note beside them. */
const stepsOf = ({ execution: { dataflow, notes } }: OpRequest) => [
  ...dataflow.part.steps,
  ...(notes?.part.steps ?? []),
]

function peersOf(request: OpRequest): string[] {
  const { attempt } = request
  const ranks = stepsOf(request).flatMap(({ sends, receives }) => [
    ...sends.map(({ to }) => to),
    ...receives.map(({ from }) => from),
  ])
  return [...new Set(ranks)].map((rank) => attempt.members[rank]!.peerId)
}

function unreached({ op, timeoutSeconds }: OpRequest): TimeoutError {
  const message = `Op ${op} did not begin within ${timeoutSeconds} s: the links that it needs did not open.`
  return new TimeoutError(message, { op, step: 0, waitingFor: [] })
}

function receiversOf(request: OpRequest): ReadonlySet<string> {
  const sends = stepsOf(request).flatMap((step) => step.sends)
  return new Set(sends.map(({ to }) => request.attempt.members[to]!.peerId))
}

function abortedHere(op: number, reason: unknown): AbortedError {
  return new AbortedError(`Op ${op} was stopped by its caller.`, { cause: reason })
}

function faultOf(op: number, cause: unknown): AbortedError {
  const message = cause instanceof Error ? cause.message : String(cause)
  return new AbortedError(`The fold of op ${op} has thrown: ${message}`, { cause })
}
