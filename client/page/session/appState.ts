/** The one word for where the page is (data-app-state), and what it follows from. */
import type { Member } from '../../../shared/membership/types.ts'
import { linksOf } from '../../../shared/schedule/links.ts'
import type { LabState } from './labState.ts'

export type AppState =
  | 'empty'
  | 'waiting'
  | 'connecting'
  | 'ready'
  | 'running'
  | 'degraded'
  | 'failed'
  | 'reconnecting'
  | 'version-mismatch'
  | 'room-full'
  | 'room-locked'
  | 'room-unknown'
  | 'room-closed'
  | 'not-found'
  | 'unsupported'

const refusals: Readonly<Record<string, AppState>> = {
  NO_WEBRTC: 'unsupported',
  NOT_FOUND: 'not-found',
  UNSUPPORTED: 'unsupported',
  VERSION_MISMATCH: 'version-mismatch',
  ROOM_FULL: 'room-full',
  ROOM_LOCKED: 'room-locked',
  ROOM_UNKNOWN: 'room-unknown',
  ROOM_CLOSED: 'room-closed',
}

export function appStateOf(state: LabState): AppState {
  if (state.place === 'refused') return refusals[state.refusal?.code ?? ''] ?? 'failed'
  if (state.place !== 'joined') return 'connecting'
  // A run that has lost members goes on with the others.
  if (state.run?.phase === 'running') return state.run.lost.length > 0 ? 'degraded' : 'running'
  if (!state.isServerThere) return 'reconnecting'
  if (!isConnected(state)) return 'connecting'
  if (state.expected !== undefined) return 'waiting'
  if (state.notice?.tone === 'failure') return 'failed'
  if (state.members.length === 1) return 'empty'
  return relayed(state).length > 0 ? 'degraded' : 'ready'
}

/** Everybody can reach everybody, takes part, and the links are measured. */
function isConnected(state: LabState): boolean {
  return (
    state.groupState === 'ready' &&
    absent(state).length === 0 &&
    (state.members.length < 2 || state.measuredEpoch === state.epoch)
  )
}

/** Members that do not follow orders (yet). */
export function absent(state: LabState): Member[] {
  return state.members.filter((member) => !state.about.has(member.peerId))
}

/** Members to which the link of this page's peer is not open yet. In a large group it has no link to most of them. */
export function unlinked({ members, self, links }: LabState): Member[] {
  const rank = members.findIndex(({ peerId }) => peerId === self?.peerId)
  return linksOf(members.length, rank)
    .map((other) => members[other]!)
    .filter(({ peerId }) => links.get(peerId)?.state !== 'open')
}

export type PeerState = 'connecting' | 'joining' | 'ready'

/** connecting: its link is being opened. joining: linked, but it has not said hello. */
export function peerStateOf(state: LabState, peerId: string): PeerState {
  if (unlinked(state).some((member) => member.peerId === peerId)) return 'connecting'
  return state.about.has(peerId) && state.groupState === 'ready' ? 'ready' : 'joining'
}

/**
 * Members whose link makes a working group slower than it could be. Hidden tabs are marked in the roster only: what they send and
 * receive is driven by messages, which browsers do not throttle.
 */
export function relayed(state: LabState): { rank: number; member: Member }[] {
  return state.members.flatMap((member, rank) =>
    state.links.get(member.peerId)?.path === 'relayed' ? [{ rank, member }] : [],
  )
}

/** Why a run cannot be asked for now; undefined when it can. */
export function whyNoRun(state: LabState): string | undefined {
  if (state.place !== 'joined') return 'This page is not in a room.'
  if (state.run?.phase === 'running') return 'A run is going on.'
  if (state.pendingRequest !== undefined) return 'Waiting for rank 0 to begin the run.'
  if (state.members.length < 2) return 'An allreduce needs at least two peers. Add peers first.'
  if (state.groupState !== 'ready') return 'The links between the peers are still being opened.'
  const missing = absent(state)
  if (missing.length > 0)
    return `${missing.map((member) => member.name).join(', ')}: here, but not ready to take part yet.`
  return state.measuredEpoch === state.epoch ? undefined : 'The links are being measured.'
}
