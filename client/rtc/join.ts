/** Joining a room: a seat at the signalling server, links to the other members, and the group on top of them. */
import { type Clock, realClock } from '../../shared/base/clock.ts'
import { AbortedError, ArgumentError, JoinError } from '../../shared/base/errors.ts'
import { createGroup } from '../../shared/collective/group.ts'
import type { Group } from '../../shared/collective/types.ts'
import type { Membership } from '../../shared/membership/types.ts'
import { linksOf } from '../../shared/schedule/links.ts'
import { limits } from '../../shared/signaling/limits.ts'
import { type Connector, createConnector } from './connector.ts'
import { type Seat, takeSeat } from './seat.ts'
import type { SeatStore } from './seatStore.ts'
import type { Webrtc } from './simplePeer.ts'
import { createChannelTransport } from './transport.ts'

export interface JoinOptions {
  /** Address of the server. Default: where the page came from; on Node http://localhost:3000. */
  url?: string | URL
  /** Code of the room. Without one a new room is made, and the group has its code. */
  room?: string
  /** Make the room when it does not exist. Default: only when no room is given. */
  create?: boolean
  /** Shown to the others; the server makes it unique, or makes one up. */
  name?: string
  /** Where this peer runs, for people. Default 'tab', on Node 'node'. */
  kind?: string
  /** Wait until so many members are there, this one included. */
  size?: number
  /** What to wait for: the whole group, ready for ops (default), or only a seat; the group then becomes ready by itself. */
  until?: 'ready' | 'seat'
  /** Ends the attempt to join. To leave later, call `leave`. */
  signal?: AbortSignal
  /** Milliseconds that joining may take altogether. Default 60 000; Infinity waits for ever. */
  timeoutMs?: number
  /**
   * Seconds without a sign of life after which a link is closed and its peer reported as lost. Anything that arrives is a sign; who has nothing to
   * send is asked. Default 5; Infinity: never.
   */
  silenceSeconds?: number
  /** Where the seat is kept over a reload. Default: the sessionStorage of a tab; null: nowhere. */
  seats?: SeatStore | null
  onStatus?: (status: JoinStatus) => void
  /**
   * `auto`: the group runs in a worker where the browser can pass data channels to one, so that neither training nor
   * drawing on the thread of the page holds up the others. false (default): on the thread of the page; a fold of your own needs that or a `module` of its own.
   */
  worker?: 'auto' | false
}

/** How far the join has come, for people who wait. */
export interface JoinStatus {
  readonly waitingFor: 'server' | 'members' | 'links' | 'nothing'
  readonly members: number
  /** How many members are asked for. */
  readonly size: number
  readonly linksOpen: number
  readonly linksWanted: number
}

export interface JoinedGroup extends Group {
  readonly room: string
  /** As the server gave it. */
  readonly name: string
  readonly url: string
  /** Where ops run. */
  readonly thread: 'page' | 'worker'
  /** The signalling connection: its state and events, and what a host may do. The group does not need it to run ops. */
  readonly server: Pick<Seat, 'state' | 'isHost' | 'host' | 'on'>
}

export interface GroupParts {
  readonly connector: Connector
  readonly membership: Membership
  /** As JoinOptions.silenceSeconds. */
  readonly silenceSeconds?: number | undefined
}

/** Another thread that can run the group. */
export interface GroupThread {
  /** Resolves when the group is there; it becomes ready by itself. */
  createGroup(parts: GroupParts): Promise<Group>
  stop(): void
}

/** What differs between a page and Node. */
export interface Environment {
  readonly webrtc: Webrtc
  readonly url: string
  readonly kind: string
  seats(origin: string, kind: string): SeatStore | undefined
  /** Calls `end` when the process or page is about to go; the returned function forgets it. */
  onEnd(end: () => void): () => void
  readonly clock?: Clock
  /** Undefined: there is none, and the group runs where it was joined. */
  startThread?(clock: Clock): Promise<GroupThread | undefined>
}

const defaultTimeoutMs = 60_000
/** Somebody who waits for the first sign of a server does not wait for long. */
const serverPatienceSeconds = 10

/**
 * @throws {JoinError} the server refused (ROOM_UNKNOWN, ROOM_FULL ...), was not there (SIGNAL_UNREACHABLE), or the
 * group was not ready in time (GROUP_NOT_FORMED: the message says who or what was missing).
 * @throws {AbortedError} `signal` was aborted.
 */
export async function joinWith(options: JoinOptions, environment: Environment): Promise<JoinedGroup> {
  const request = check(options, environment)
  const clock = environment.clock ?? realClock
  const deadline = clock.now() + request.timeoutSeconds
  const { signal } = request
  if (signal?.aborted) throw aborted(signal)
  request.onStatus?.({ waitingFor: 'server', members: 0, size: request.size, linksOpen: 0, linksWanted: 0 })

  const starting = options.worker === 'auto' ? environment.startThread?.(clock) : undefined
  const stopThread = async () => (await starting)?.stop()
  const seat = await takeSeat({
    ...request,
    clock,
    patienceSeconds: Math.min(serverPatienceSeconds, request.timeoutSeconds),
  }).catch((error: unknown) => {
    void stopThread()
    throw signal?.aborted ? aborted(signal) : error
  })
  const connector = createConnector({
    selfId: seat.selfId,
    webrtc: environment.webrtc,
    iceServers: () => seat.iceServers,
    signal: (to, data) => seat.signal(to, data),
    onOutcome: (peerId, outcome) => seat.reportLink(peerId, outcome),
    clock,
  })
  const thread = await starting
  const { silenceSeconds } = options
  const group = thread
    ? await thread.createGroup({ connector, membership: seat, silenceSeconds })
    : createGroup({
        transport: createChannelTransport(connector),
        membership: seat,
        clock,
        silenceSeconds,
      })
  seat.receiveSignals((from, data) => connector.accept(from, data))
  // A page that goes away ends its links itself: the others then know at once. Its own seat first, or it would complain of everybody
  // whose link it closes: where several pages go at once, that puts out a member who stays.
  const forget = environment.onEnd(() => {
    seat.close()
    connector.close()
  })
  group.on('state', (state) => {
    if (state === 'left') forget()
  })

  const joined: JoinedGroup = Object.assign(group, {
    room: seat.room,
    name: seat.name,
    url: request.url.origin,
    thread: thread ? ('worker' as const) : ('page' as const),
    server: seat,
  })
  if (request.until === 'seat') return joined
  try {
    await whenReady(joined, seat, request, clock, deadline)
    return joined
  } catch (error) {
    await group.leave()
    throw error
  }
}

type Request = ReturnType<typeof check>

function check(options: JoinOptions, environment: Environment) {
  const { room, name = '', kind = environment.kind, size = 1, timeoutMs = defaultTimeoutMs } = options
  const url = urlOf(options.url ?? environment.url)
  if (!Number.isInteger(size) || size < 1 || size > limits.peersPerRoom)
    throw new ArgumentError('size', `Pass a whole number of members from 1 to ${limits.peersPerRoom}.`)
  if (!(timeoutMs > 0)) throw new ArgumentError('timeoutMs', 'Pass a positive number of milliseconds.')
  if (options.silenceSeconds !== undefined && !(options.silenceSeconds > 0))
    throw new ArgumentError('silenceSeconds', 'Pass a positive number of seconds.')
  if (name.trim().length > limits.nameLength)
    throw new ArgumentError('name', `A name has at most ${limits.nameLength} characters.`)
  const { seats = environment.seats(url.origin, kind), signal, onStatus, until = 'ready' } = options
  return {
    url,
    room,
    name,
    kind,
    size,
    signal,
    onStatus,
    until,
    create: options.create ?? room === undefined,
    seats: seats ?? undefined,
    timeoutSeconds: timeoutMs / 1000,
  }
}

function urlOf(given: string | URL): URL {
  const url = URL.canParse(given) ? new URL(given) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw new ArgumentError(
    'url',
    `Pass the address of a Papilio server, such as http://192.168.0.5:3000, not ${String(given)}.`,
  )
}

async function whenReady(
  group: JoinedGroup,
  seat: Seat,
  request: Request,
  clock: Clock,
  deadline: number,
): Promise<void> {
  const { signal, size, onStatus } = request
  const cleanups: (() => void)[] = []
  try {
    await new Promise<void>((resolve, reject) => {
      const look = () => {
        const status = statusOf(group, size)
        onStatus?.(status)
        const { state } = seat
        if (group.state === 'left') reject(goneError(state.name === 'gone' ? state.error : undefined))
        else if (status.waitingFor === 'nothing') resolve()
      }
      const onAbort = () => reject(aborted(signal))
      signal?.addEventListener('abort', onAbort)
      cleanups.push(
        () => signal?.removeEventListener('abort', onAbort),
        group.on('state', look),
        group.on('view', look),
        group.on('link', look),
        clock.after(deadline - clock.now(), () => reject(notFormed(group, request))),
      )
      if (signal?.aborted) onAbort()
      look()
    })
  } finally {
    for (const cleanup of cleanups) cleanup()
  }
}

function statusOf(group: Group, size: number): JoinStatus {
  const members = group.roster.length
  const rank = group.roster.findIndex(({ peerId }) => peerId === group.peerId)
  const linksWanted = linksOf(members, rank).length
  const linksOpen = group.links().filter(({ state }) => state === 'open').length
  const isReady = group.state === 'ready' && group.size >= size
  const waitingFor = isReady ? 'nothing' : members < size ? 'members' : 'links'
  return { waitingFor, members, size, linksOpen, linksWanted }
}

function notFormed(group: JoinedGroup, { size, timeoutSeconds }: Request): JoinError {
  const names = new Map(group.roster.map(({ peerId, name }) => [peerId, name]))
  const closed = group.links().filter(({ state }) => state !== 'open')
  const have = `${group.roster.length} of ${size} members are in room ${group.room}`
  const links = closed.map(
    ({ peerId, error }) => `no link to ${names.get(peerId) ?? peerId} (${error?.message ?? 'still trying'})`,
  )
  const missing = group.roster.length < size ? [have] : links
  return new JoinError(
    'GROUP_NOT_FORMED',
    `The group was not ready within ${timeoutSeconds} s: ${missing.join('; ') || 'the members have not agreed yet'}.`,
    { retryable: true },
  )
}

function goneError(error: JoinError | undefined): JoinError {
  return error ?? new JoinError('GROUP_NOT_FORMED', 'This peer left the group while it was joining.')
}

function aborted(signal: AbortSignal | undefined): AbortedError {
  return new AbortedError('Joining was aborted.', { cause: signal?.reason })
}
