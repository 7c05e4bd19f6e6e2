/**
 * Control messages in a group that has not all links. What is for all goes over every link once: members pass on what they have not seen, so
 * it arrives as long as any path is left, and in the order sent while the links stay the same. What is for one goes over the member nearest to
 * it; where nobody is nearer, over every link as well. No frame of an op travels like this.
 */
import type { View } from '../membership/types.ts'
import { hopsFrom } from '../schedule/links.ts'
import { type Control, controlIn } from './control.ts'
import type { Lanes } from './lanes.ts'

type Passed = Extract<Control, { type: 'pass' }>

export interface Overlay {
  viewChanged(view: View): void
  /** To one member, or to all others. */
  tell(control: Control, peerId?: string): void
  /** A neighbour has passed this on. */
  passed(from: string, control: Passed): void
}

/** A message that has been passed on so often goes in circles. */
const mostHops = 32
/** Of each member: far more than can be on the way. */
const mostSeen = 2048

export function createOverlay(config: {
  selfId: string
  largestMesh: number
  lanes: Pick<Lanes, 'get' | 'entries' | 'tell'>
  deliver(from: string, control: Control): void
}): Overlay {
  const { selfId, largestMesh, lanes, deliver } = config
  let ranks: ReadonlyMap<string, number> = new Map()
  let told = 0
  const seen = new Map<string, Set<number>>()
  /** By rank of the receiver: how far each rank is from it. */
  const distances = new Map<number, number[]>()

  const isSparse = () => ranks.size > largestMesh
  const distanceTo = (peerId: string): number[] => {
    const rank = ranks.get(peerId)
    if (rank === undefined) return []
    const known = distances.get(rank) ?? hopsFrom(ranks.size, rank, largestMesh)
    distances.set(rank, known)
    return known
  }
  /** A neighbour that is nearer to the receiver than this member. */
  const nextTo = (peerId: string): string | undefined => {
    const hops = distanceTo(peerId)
    const hopsOf = (id: string) => hops[ranks.get(id) ?? -1] ?? Number.POSITIVE_INFINITY
    let next: string | undefined
    let least = hopsOf(selfId)
    for (const [neighbour] of lanes.entries()) {
      if (hopsOf(neighbour) >= least) continue
      next = neighbour
      least = hopsOf(neighbour)
    }
    return next
  }
  const isNew = ({ from, id }: Passed): boolean => {
    const ids = seen.get(from) ?? new Set()
    seen.set(from, ids)
    if (ids.has(id)) return false
    ids.add(id)
    for (const oldest of ids) {
      if (ids.size <= mostSeen) break
      ids.delete(oldest)
    }
    return true
  }
  const flood = (message: Passed, except?: string) => {
    for (const [neighbour] of lanes.entries())
      if (neighbour !== except && neighbour !== message.from) lanes.tell(message, neighbour)
  }
  const send = (message: Passed, except?: string) => {
    const { to } = message
    const next = to === undefined || message.isFlood ? undefined : lanes.get(to) ? to : nextTo(to)
    if (next !== undefined) lanes.tell(message, next)
    else if (to === undefined || message.isFlood) flood(message, except)
    else if (isNew(message)) flood({ ...message, isFlood: true })
  }

  return {
    viewChanged({ members }) {
      ranks = new Map(members.map(({ peerId }, rank) => [peerId, rank]))
      distances.clear()
      for (const peerId of [...seen.keys()]) if (!ranks.has(peerId)) seen.delete(peerId)
    },
    tell(control, to) {
      if (!isSparse() || (to !== undefined && lanes.get(to))) {
        lanes.tell(control, to)
        return
      }
      const message: Passed = { type: 'pass', from: selfId, id: told++, hops: mostHops, inner: control }
      send({ ...message, ...(to !== undefined && { to }) })
    },
    passed(from, message) {
      const isForAll = message.to === undefined || message.isFlood === true
      if (message.from === selfId || !ranks.has(message.from) || (isForAll && !isNew(message))) return
      const control = message.to === undefined || message.to === selfId ? controlIn(message) : undefined
      if (control) deliver(message.from, control)
      if (message.to !== selfId && message.hops > 1) send({ ...message, hops: message.hops - 1 }, from)
    },
  }
}
