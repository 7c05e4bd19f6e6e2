/**
 * Two ranks exchange at most one message per step, so what several parts that run side by side get from one peer is one
 * receive. Every slot is still written in the order of the parts: where one receive cannot do that, the values wait in
 * scratch slots and locals write them.
 */
import type { Local, Receive } from './types.ts'

/**
 * @param receives in the order in which they are to be applied, several from one peer perhaps
 * @param scratchFor a slot that is free in this step, for the chunk of the given one
 */
export function joinReceives(
  receives: readonly Receive[],
  scratchFor: (slot: number) => number,
): { receives: readonly Receive[]; locals: readonly Local[] } {
  const byPeer = new Map<number, Receive[]>()
  for (const receive of receives) {
    const list = byPeer.get(receive.from)
    if (list) list.push(receive)
    else byPeer.set(receive.from, [receive])
  }
  if (byPeer.size === receives.length) return { receives, locals: [] }

  const waiting = findWaiting(receives, byPeer)
  const values = new Map<Receive, number[]>()
  const joined: Receive[] = []
  for (const [from, parts] of byPeer) {
    let isApplied = true
    const slots: number[] = []
    for (const part of parts) {
      const own: number[] = []
      for (const slot of part.slots) {
        const isWaiting = waiting.has(slot)
        if (isWaiting) isApplied = false
        const value = isWaiting ? scratchFor(slot) : slot
        own.push(value)
        slots.push(value)
      }
      values.set(part, own)
    }
    joined.push({ from, slots, how: isApplied ? parts[0]!.how : 'store' })
  }
  const locals: Local[] = []
  if (waiting.size > 0) {
    for (const part of receives) {
      for (const [index, slot] of part.slots.entries()) {
        if (waiting.has(slot)) locals.push({ from: values.get(part)![index]!, slot, how: part.how })
      }
    }
  }
  return { receives: joined, locals }
}

/** Slots that one receive per peer would write in another order, or together with others that are written otherwise. */
function findWaiting(
  receives: readonly Receive[],
  byPeer: ReadonlyMap<number, readonly Receive[]>,
): Set<number> {
  const place = new Map([...byPeer.keys()].map((peer, index) => [peer, index]))
  const waiting = new Set<number>()
  const lastPlace = new Map<number, number>()
  for (const { from, slots } of receives) {
    for (const slot of slots) {
      if ((lastPlace.get(slot) ?? -1) >= place.get(from)!) waiting.add(slot)
      lastPlace.set(slot, place.get(from)!)
    }
  }
  for (let before = -1; before !== waiting.size; ) {
    before = waiting.size
    for (const parts of byPeer.values()) {
      const how = parts[0]!.how
      const isMixed = parts.some((part) => part.how !== how)
      if (!isMixed && !parts.some((part) => part.slots.some((slot) => waiting.has(slot)))) continue
      // Received by `store`, this message can write nothing else itself.
      for (const part of parts) if (part.how !== 'store') for (const slot of part.slots) waiting.add(slot)
    }
  }
  return waiting
}
