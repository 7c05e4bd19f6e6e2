/** Messages in the order of the moments at which something happens to them. */

/** Nodes begin .. end - 1 in the order of their moments, equal ones by number. */
export function byMoment(begin: number, end: number, moments: Float64Array): Int32Array {
  const nodes = Int32Array.from({ length: end - begin }, (_, i) => begin + i)
  let isSorted = true
  for (let node = begin + 1; node < end; node++) if (moments[node]! < moments[node - 1]!) isSorted = false
  return isSorted ? nodes : nodes.sort((a, b) => moments[a]! - moments[b]! || a - b)
}

/** Puts a node into its place among the first `count` of `nodes`, which are in the order of their moments. */
export function insertByMoment(nodes: Int32Array, count: number, node: number, moments: Float64Array): void {
  let at = count
  for (; at > 0 && moments[nodes[at - 1]!]! > moments[node]!; at--) nodes[at] = nodes[at - 1]!
  nodes[at] = node
}
