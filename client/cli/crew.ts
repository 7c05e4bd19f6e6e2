/** The headless peers of one process: they join, are ready together, and stay until they have done their runs or are stopped. */
import type { Clock } from '../../shared/base/clock.ts'
import { createDeferred } from '../../shared/base/deferred.ts'
import { AbortedError, JoinError } from '../../shared/base/errors.ts'
import { exitCodeOf, exitCodes } from './exitCodes.ts'
import { HeadlessPeer, type HeadlessPeerConfig, type Seated } from './headlessPeer.ts'
import { isRight, type PeerEvent } from './peerEvents.ts'
import type { PeerRequest } from './peerRequest.ts'

export interface CrewConfig extends Pick<PeerRequest, 'peers' | 'room' | 'size' | 'timeoutSeconds' | 'runs'> {
  readonly clock: Clock
  readonly peer: Omit<HeadlessPeerConfig, 'clock' | 'join' | 'onEvent' | 'verdicts'>
  join(room: string | undefined): Promise<Seated>
  onEvent(event: PeerEvent, isFirst: boolean): void
  /** The first peer has its seat: others can join this room now. */
  onRoom(room: string): void
  /** Something went wrong, in a sentence. */
  onProblem(message: string): void
  /** Ends it politely. */
  readonly signal: AbortSignal
}

/** A server that has had too many joins of late is asked again. */
const insistPauseSeconds = 2

/** Resolves with the exit status when all peers are out of the room. */
export async function attend(config: CrewConfig): Promise<number> {
  const { clock, peers: count, runs, signal, timeoutSeconds } = config
  const deadline = clock.now() + timeoutSeconds
  const verdicts = new Map()
  const done = new Map<HeadlessPeer, number>()
  const allReady = createDeferred<void>()
  const stopped = createDeferred<void>()
  let code: number = exitCodes.fine
  /** A wrong result outweighs all else; of the rest the first counts. */
  const note = (found: number) => {
    if (code === exitCodes.fine || found === exitCodes.wrong) code = found
  }

  const heard = (peer: HeadlessPeer, event: PeerEvent) => {
    config.onEvent(event, peer === crew[0])
    if (event.event === 'ready' && crew.every((each) => each.group && !each.missing(config.size)))
      allReady.resolve()
    if (event.event !== 'run') return
    if (!isRight(event)) note(exitCodes.wrong)
    else if (event.phase === 'failed') note(exitCodes.lost)
    done.set(peer, (done.get(peer) ?? 0) + 1)
    if (done.get(peer) === runs) void peer.leave()
  }
  const crew = Array.from({ length: count }, () => {
    const peer: HeadlessPeer = new HeadlessPeer({
      ...config.peer,
      clock,
      verdicts,
      join: (room) => insist(room),
      onEvent: (event) => heard(peer, event),
    })
    return peer
  })
  const insist = async (room: string | undefined): Promise<Seated> => {
    for (;;)
      try {
        const group = await config.join(room)
        if (!signal.aborted) return group
        await group.leave()
        throw new AbortedError('Stopped while it joined.')
      } catch (error) {
        const mayPass = error instanceof JoinError && error.code === 'RATE_LIMITED'
        if (!mayPass || clock.now() + insistPauseSeconds > deadline) throw error
        await new Promise<void>((resolve) => clock.after(insistPauseSeconds, resolve))
      }
  }
  const becomeReady = async () => {
    const cancel = clock.after(deadline - clock.now(), () => {
      const late = crew.find((peer) => peer.missing(config.size)) ?? crew[0]
      const why = late?.missing(config.size)?.text ?? ''
      allReady.reject(
        new JoinError('GROUP_NOT_FORMED', `The group was not ready within ${timeoutSeconds} s. ${why}`),
      )
    })
    await allReady.promise.finally(cancel)
  }
  const stay = async () => {
    const [first, ...rest] = crew
    await first!.enter(config.room)
    const { room } = first!.group!
    config.onRoom(room)
    await Promise.all(rest.map((peer) => peer.enter(room)))
    await becomeReady()
    const reasons = await Promise.all(crew.map((peer) => peer.ended.promise))
    for (const reason of reasons) if (reason) note(exitCodeOf(reason))
  }

  const stop = () => stopped.resolve()
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  try {
    await Promise.race([stay(), stopped.promise])
  } catch (error) {
    note(error instanceof AbortedError ? exitCodes.interrupted : exitCodeOf(error))
    if (!(error instanceof AbortedError)) config.onProblem((error as Error).message)
  }
  const hasDone = crew.every((peer) => (done.get(peer) ?? 0) >= runs)
  if (signal.aborted && runs !== Number.POSITIVE_INFINITY && !hasDone) note(exitCodes.interrupted)
  await Promise.all(crew.map((peer) => peer.leave()))
  signal.removeEventListener('abort', stop)
  return code
}
