/** Groups inside one process: for tests, teaching and trying an algorithm without a network. */
import { type Clock, realClock } from '../base/clock.ts'
import type { Member, Membership, View } from '../membership/types.ts'
import { createMemoryNetwork, type MemoryNetwork, type MemoryNetworkOptions } from '../transport/memory.ts'
import { createGroup } from './group.ts'
import type { Group } from './types.ts'

export interface MemoryGroupOptions extends MemoryNetworkOptions {
  /** Measure the links when an epoch begins. Default true. */
  measure?: boolean
  /** As GroupConfig.silenceSeconds. Default Infinity: nobody vanishes from a process unseen. */
  silenceSeconds?: number
  /** As GroupConfig.largestMesh. */
  largestMesh?: number
}

/** A room without a server: members in the order in which they joined. */
export interface MemoryRoom {
  readonly network: MemoryNetwork
  join(name: string): Group
}

export function createMemoryRoom(options: MemoryGroupOptions = {}): MemoryRoom {
  const clock: Clock = options.clock ?? realClock
  const network = createMemoryNetwork({ ...options, clock })
  const listeners = new Map<string, Set<(view: View) => void>>()
  let view: View = { epoch: 0, members: [] }
  let joined = 0
  const change = (members: readonly Member[]) => {
    view = { epoch: view.epoch + 1, members }
    for (const member of members)
      for (const listener of [...(listeners.get(member.peerId) ?? [])]) listener(view)
  }
  const remove = (peerId: string) => {
    const before = view.members
    const members = before.filter((member) => member.peerId !== peerId)
    if (members.length < before.length) change(members)
  }
  return {
    network,
    join(name) {
      const peerId = `peer-${joined++}`
      listeners.set(peerId, new Set())
      const membership: Membership = {
        selfId: peerId,
        view: () => (view.members.some((member) => member.peerId === peerId) ? view : undefined),
        onView(listener) {
          listeners.get(peerId)!.add(listener)
          return () => listeners.get(peerId)!.delete(listener)
        },
        // Whoever is out already has no say.
        reportLost(lost) {
          if (view.members.some((member) => member.peerId === peerId)) remove(lost)
        },
        async leave() {
          remove(peerId)
        },
      }
      const group = createGroup({
        transport: network.transport(peerId),
        membership,
        clock,
        silenceSeconds: options.silenceSeconds ?? Number.POSITIVE_INFINITY,
        ...(options.largestMesh !== undefined && { largestMesh: options.largestMesh }),
        ...(options.measure !== undefined && { measure: options.measure }),
      })
      change([...view.members, { peerId, name, kind: 'memory' }])
      return group
    },
  }
}

/** Resolves when all these members have agreed on an epoch of exactly them. */
export async function whenTogether(groups: readonly Group[]): Promise<void> {
  await new Promise<void>((resolve) => {
    const check = () => {
      if (groups.every((group) => group.state === 'ready' && group.size === groups.length)) resolve()
    }
    for (const group of groups) group.on('state', check)
    check()
  })
}

/** A ready group of `size` members named Rank 0, Rank 1, ...; groups[rank] is that member's handle. */
export async function createMemoryGroup(size: number, options: MemoryGroupOptions = {}): Promise<Group[]> {
  const room = createMemoryRoom(options)
  const groups = Array.from({ length: size }, (_, rank) => room.join(`Rank ${rank}`))
  await whenTogether(groups)
  return groups
}
