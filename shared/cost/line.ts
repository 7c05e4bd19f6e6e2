/**
 * Messages that go over one line, an uplink or a downlink, side by side. Alone, message i would flow from begin[i] to
 * end[i]; the line itself needs load[i] seconds for it.
 */
export interface Flows {
  count: number
  readonly begin: Float64Array
  readonly end: Float64Array
  readonly load: Float64Array
}

export function createFlows(most: number): Flows {
  return {
    count: 0,
    begin: new Float64Array(most),
    end: new Float64Array(most),
    load: new Float64Array(most),
  }
}

/**
 * When message i is through a line that is free from `freeFrom` on: not before the line has carried it and what of
 * each of the others has come by the time it would have been through alone. A message that is slowed down elsewhere
 * leaves room to the rest.
 */
export function throughLine(flows: Flows, i: number, freeFrom: number): number {
  const { count, begin, end, load } = flows
  const alone = Math.max(end[i]!, freeFrom + load[i]!)
  let carried = load[i]!
  for (let other = 0; other < count; other++) {
    if (other === i) continue
    const from = Math.max(begin[other]!, freeFrom)
    const lasts = Math.max(end[other]! - begin[other]!, load[other]!)
    if (alone >= from + lasts) carried += load[other]!
    else if (alone > from) carried += (load[other]! * (alone - from)) / lasts
  }
  return Math.max(end[i]!, freeFrom + carried)
}
