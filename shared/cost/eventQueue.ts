/** Events by time, those of one time in the order in which they were pushed: a heap over plain number arrays. */
export interface EventQueue {
  readonly size: number
  push(time: number, kind: number, node: number): void
  /** Takes the earliest event into `event`; false when there is none. */
  pop(event: SimulatedEvent): boolean
}

export interface SimulatedEvent {
  time: number
  kind: number
  node: number
}

export function createEventQueue(): EventQueue {
  const times: number[] = []
  const orders: number[] = []
  const kinds: number[] = []
  const nodes: number[] = []
  const columns = [times, orders, kinds, nodes]
  let pushed = 0

  const isBefore = (a: number, b: number) =>
    times[a]! < times[b]! || (times[a] === times[b] && orders[a]! < orders[b]!)
  const swap = (a: number, b: number) => {
    for (const column of columns) {
      const value = column[a]!
      column[a] = column[b]!
      column[b] = value
    }
  }

  return {
    get size() {
      return times.length
    },
    push(time, kind, node) {
      times.push(time)
      orders.push(pushed++)
      kinds.push(kind)
      nodes.push(node)
      for (let at = times.length - 1; at > 0; ) {
        const parent = (at - 1) >> 1
        if (!isBefore(at, parent)) break
        swap(at, parent)
        at = parent
      }
    },
    pop(event) {
      const last = times.length - 1
      if (last < 0) return false
      event.time = times[0]!
      event.kind = kinds[0]!
      event.node = nodes[0]!
      swap(0, last)
      for (const column of columns) column.pop()
      for (let at = 0; ; ) {
        const left = 2 * at + 1
        if (left >= last) break
        const child = left + 1 < last && isBefore(left + 1, left) ? left + 1 : left
        if (!isBefore(child, at)) break
        swap(at, child)
        at = child
      }
      return true
    },
  }
}
