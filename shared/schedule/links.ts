/**
 * Which links a group keeps open. Up to `meshSize` members every rank has one to every other; above, only those that are 2^i or about P / 2^i
 * ranks away, either way round: at most 4 ceil(log2 P) per rank. The first are all that trees, dissemination and Bruck's allgather use, the
 * second all that the generalized butterfly over the cyclic group uses at every r; ring and chain use 1.
 */

/** A class of laptops still has every link, and with it every algorithm; 31 connections for each member are what a page can afford. */
export const meshSize = 32

/** The ranks that `rank` has a link to, ascending; the relation is symmetric. */
export function linksOf(size: number, rank: number, largestMesh = meshSize): number[] {
  const links = new Set<number>()
  if (size <= largestMesh) for (let other = 0; other < size; other++) links.add(other)
  else
    for (const distance of distances(size)) {
      links.add((rank + distance) % size)
      links.add((rank - distance + size) % size)
    }
  links.delete(rank)
  return [...links].sort((a, b) => a - b)
}

/** From 1 to size - 1. */
function distances(size: number): Set<number> {
  const found = new Set<number>()
  for (let power = 1; power < size; power *= 2) found.add(power)
  // With so many vectors left, the butterfly moves the upper half of them onto the lower one.
  for (let left = size; left > 1; left = Math.ceil(left / 2)) found.add(Math.floor(left / 2))
  return found
}

/** How far apart each rank is from `from` in links, by rank. */
export function hopsFrom(size: number, from: number, largestMesh = meshSize): number[] {
  const hops = Array<number>(size).fill(Number.POSITIVE_INFINITY)
  hops[from] = 0
  const queue = [from]
  for (const rank of queue)
    for (const next of linksOf(size, rank, largestMesh)) {
      if (hops[next]! < Number.POSITIVE_INFINITY) continue
      hops[next] = hops[rank]! + 1
      queue.push(next)
    }
  return hops
}
