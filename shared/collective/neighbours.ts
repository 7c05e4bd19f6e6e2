/**
 * Whom this member keeps links to. Small groups: everybody. Large ones: those of schedule/links.ts in the newest view, and for a while those of
 * before, since ops of older epochs may still run over them; beside them those that an op has asked for.
 */
import type { View } from '../membership/types.ts'
import { linksOf } from '../schedule/links.ts'

export interface Neighbours {
  /** The group has more members than links. */
  readonly isSparse: boolean
  viewChanged(view: View): void
  /** The newest view needs this link: without it the group is not ready, and its end is a loss. */
  needs(peerId: string): boolean
  /** All that are to be kept open. */
  wanted(): string[]
  /** An op needs these links, although the view does not. */
  add(peerIds: readonly string[]): void
  /** A link that the view does not need has closed: the other side may have forgotten it. */
  drop(peerId: string): void
  /** Keeps only what the view needs. */
  prune(): void
}

export function createNeighbours(config: {
  selfId: string
  largestMesh: number
  isOpen(peerId: string): boolean
}): Neighbours {
  const { selfId, largestMesh, isOpen } = config
  let isSparse = false
  let needed: ReadonlySet<string> = new Set()
  /** Beside those. */
  const kept = new Set<string>()
  return {
    get isSparse() {
      return isSparse
    },
    viewChanged({ members }) {
      // Of views that were overtaken, nothing was opened that has to stay.
      for (const peerId of needed) if (isOpen(peerId)) kept.add(peerId)
      const present = new Set(members.map(({ peerId }) => peerId))
      for (const peerId of [...kept]) if (!present.has(peerId)) kept.delete(peerId)
      const rank = members.findIndex(({ peerId }) => peerId === selfId)
      isSparse = members.length > largestMesh
      needed = new Set(linksOf(members.length, rank, largestMesh).map((other) => members[other]!.peerId))
    },
    needs: (peerId) => needed.has(peerId),
    wanted: () => [...new Set([...needed, ...kept])],
    add(peerIds) {
      for (const peerId of peerIds) kept.add(peerId)
    },
    drop: (peerId) => kept.delete(peerId),
    prune: () => kept.clear(),
  }
}
