/** The state of the page: a pure fold over the log. */
import type { GroupState } from '../../../shared/collective/types.ts'
import type { NetworkModel } from '../../../shared/cost/types.ts'
import type { Member } from '../../../shared/membership/types.ts'
import type { About, RunError } from '../../session/messages.ts'
import type { LabEvent, LinkEvent, LogEntry } from './events.ts'
import { foldLoss, type Notice, noticeOfEnd, type Refusal } from './notices.ts'
import { beginRun, foldRun, type RunState } from './runState.ts'

export interface LabState {
  readonly place: 'outside' | 'joining' | 'joined' | 'refused'
  /** Why the server said no, or took the place away. */
  readonly refusal?: Refusal
  readonly room?: string
  readonly self?: { readonly peerId: string; readonly name: string }
  readonly isServerThere: boolean
  readonly groupState: GroupState
  readonly epoch: number
  /** In rank order. */
  readonly members: readonly Member[]
  /** Place in the rank palette by peerId: the rank at first, and it stays when ranks are renumbered. */
  readonly hues: ReadonlyMap<string, number>
  /** By peerId of the other side. */
  readonly links: ReadonlyMap<string, LinkEvent>
  /** Members that follow orders. */
  readonly about: ReadonlyMap<string, About>
  readonly model?: NetworkModel
  /** Epoch whose links have been measured, or could not be. */
  readonly measuredEpoch: number
  readonly measureError?: RunError
  /** Peers of this page. */
  readonly inPage: ReadonlySet<string>
  /** Size that the group will have when everybody who was called has come. */
  readonly expected?: number
  readonly pendingRequest?: string
  /** The run that is going on, or the last one. */
  readonly run?: RunState
  /** Runs that have ended, the newest last. */
  readonly history: readonly RunState[]
  readonly tabs?: { readonly asked: number; readonly opened: number }
  /** What has gone wrong last, until it is dismissed or overtaken. */
  readonly notice?: Notice
}

const historyLength = 200

export const initialState: LabState = {
  place: 'outside',
  isServerThere: true,
  groupState: 'connecting',
  epoch: 0,
  members: [],
  hues: new Map(),
  links: new Map(),
  about: new Map(),
  measuredEpoch: -1,
  inPage: new Set(),
  history: [],
}

export function foldState(state: LabState, { at, event }: LogEntry): LabState {
  switch (event.kind) {
    case 'joining':
      return { ...initialState, place: 'joining', ...(event.room === undefined ? {} : { room: event.room }) }
    case 'joined':
      return {
        ...state,
        place: 'joined',
        room: event.room,
        self: { peerId: event.peerId, name: event.name },
      }
    case 'refused':
      return { ...state, place: 'refused', refusal: { code: event.code, message: event.message } }
    case 'returning':
      return foldReturn(state, event.message)
    case 'signal':
      return { ...state, isServerThere: event.isConnected }
    case 'group':
      return foldGroup(state, event)
    case 'link':
      return { ...state, links: new Map(state.links).set(event.peerId, event) }
    case 'present':
      return { ...state, about: new Map(state.about).set(event.peerId, event.about) }
    case 'model':
      return { ...without(state, 'measureError'), model: event.model, measuredEpoch: state.epoch }
    case 'measured':
      return {
        ...without(state, 'measureError'),
        measuredEpoch: state.epoch,
        ...(event.error ? { measureError: event.error } : {}),
      }
    default:
      return event.kind in runKinds ? foldRuns(state, event, at) : foldPeers(state, event)
  }
}

/** All that was known of the group is about another epoch; what was measured stays, and the run that went on has ended for this page. */
function foldReturn({ room, run, history }: LabState, reason: string): LabState {
  const message = `${reason} The others went on without this page; it takes its seat again.`
  const error = { code: 'REMOVED', message: reason, peers: [] }
  return {
    ...initialState,
    place: 'joining',
    history,
    notice: { code: 'REMOVED', message, tone: 'remark' },
    ...(room === undefined ? {} : { room }),
    ...(run ? { run: run.phase === 'running' ? { ...run, phase: 'failed', error } : run } : {}),
  }
}

type GroupEvent = Extract<LabEvent, { kind: 'group' }>

function foldGroup(state: LabState, { epoch, members, state: groupState }: GroupEvent): LabState {
  const here = new Set(members.map((member) => member.peerId))
  // Not yet in the room is not gone: a peer of this page is known before the view that it is in.
  const gone = new Set(state.members.map((member) => member.peerId).filter((id) => !here.has(id)))
  const keep = <Value>(map: ReadonlyMap<string, Value>) => new Map([...map].filter(([id]) => !gone.has(id)))
  const { expected, ...rest } = state
  return {
    ...rest,
    groupState,
    epoch,
    members,
    hues: huesOf(members, keep(state.hues)),
    links: keep(state.links),
    about: keep(state.about),
    inPage: new Set([...state.inPage].filter((id) => !gone.has(id))),
    ...foldLoss(state.run, here),
    ...(expected === undefined || members.length >= expected ? {} : { expected }),
  }
}

/** Newcomers get the hue of their rank, or the first free one. */
function huesOf(members: readonly Member[], known: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const hues = new Map(known)
  const taken = new Set(known.values())
  for (const [rank, { peerId }] of members.entries()) {
    if (hues.has(peerId)) continue
    let hue = rank
    for (let free = 0; taken.has(hue); free++) hue = free
    taken.add(hue)
    hues.set(peerId, hue)
  }
  return hues
}

function without<Key extends keyof LabState>(state: LabState, ...keys: Key[]): Omit<LabState, Key> {
  const copy: Partial<LabState> = { ...state }
  for (const key of keys) delete copy[key]
  return copy as Omit<LabState, Key>
}

/** Peers that this page calls or sends away. */
function foldPeers(state: LabState, event: LabEvent): LabState {
  const expected = (size: number) => (size > state.members.length ? { expected: size } : {})
  switch (event.kind) {
    case 'adding':
      return {
        ...without(state, 'notice', 'tabs', 'expected'),
        ...expected((state.expected ?? state.members.length) + event.count),
      }
    case 'added':
      return { ...state, inPage: new Set(state.inPage).add(event.peerId) }
    case 'add-failed':
      return {
        ...without(state, 'expected'),
        ...expected((state.expected ?? 0) - 1),
        notice: { code: event.code, message: event.message, tone: 'failure' },
      }
    case 'removing':
      return without(state, 'expected', 'notice')
    case 'tabs': {
      const missing = event.asked - event.opened
      return {
        ...without(state, 'expected', 'notice', 'tabs'),
        ...expected((state.expected ?? state.members.length) - missing),
        ...(missing > 0
          ? {
              tabs: { asked: event.asked, opened: event.opened },
              notice: { code: 'POPUP_BLOCKED', message: '', tone: 'remark' },
            }
          : {}),
      }
    }
    case 'dismissed':
      return without(state, 'notice', 'tabs')
    default:
      return state
  }
}

const runKinds: Partial<Record<LabEvent['kind'], true>> = {
  requested: true,
  'request-refused': true,
  'run-started': true,
  call: true,
  progress: true,
  'peer-progress': true,
  waiting: true,
  report: true,
  result: true,
  spread: true,
  'run-failed': true,
  'run-finished': true,
}

function foldRuns(state: LabState, event: LabEvent, at: number): LabState {
  switch (event.kind) {
    case 'requested':
      return { ...without(state, 'notice', 'tabs'), pendingRequest: event.requestId }
    case 'request-refused':
      return {
        ...without(state, 'pendingRequest'),
        notice: { code: 'RUN_REFUSED', message: event.reason, tone: 'failure' },
      }
    case 'run-started':
      return {
        ...without(state, 'notice', 'tabs', 'pendingRequest'),
        run: beginRun(event.start, state.members, at, state.model),
      }
    default: {
      const { run } = state
      if (!run || !('runId' in event) || event.runId !== run.start.runId) return state
      const next = foldRun(run, event)
      if (event.kind !== 'run-finished') return { ...state, run: next }
      return {
        ...state,
        run: next,
        history: [...state.history, next].slice(-historyLength),
        ...noticeOfEnd(next),
      }
    }
  }
}

export function foldLog(entries: readonly LogEntry[]): LabState {
  return entries.reduce(foldState, initialState)
}
