/** Points of a chart that have something to say: found by the pointer, or one after the other by the arrow keys. */
export interface Hit {
  readonly x: number
  readonly y: number
  /** A box around (x, y) that the pointer finds as a whole; absent: the point alone. */
  readonly width?: number
  readonly height?: number
  /** Up and down lead from series to series, left and right along one. */
  readonly series: number
  readonly lines: readonly string[]
}

function isInside(hit: Hit, x: number, y: number): boolean {
  return (
    hit.width !== undefined &&
    hit.height !== undefined &&
    Math.abs(x - hit.x) <= hit.width / 2 &&
    Math.abs(y - hit.y) <= hit.height / 2
  )
}

/** The nearest point within `reach` px, else the smallest box around. */
export function hitAtPoint(hits: readonly Hit[], x: number, y: number, reach: number): Hit | undefined {
  let best: Hit | undefined
  let nearest = reach
  for (const hit of hits) {
    if (hit.width !== undefined) continue
    const distance = Math.hypot(hit.x - x, hit.y - y)
    if (distance <= nearest) {
      nearest = distance
      best = hit
    }
  }
  if (best !== undefined) return best
  const boxes = hits.filter((hit) => isInside(hit, x, y))
  return boxes.sort((a, b) => (a.width ?? 0) * (a.height ?? 0) - (b.width ?? 0) * (b.height ?? 0))[0]
}

/** Where a key leads from `current`; undefined when the key is not for us. */
export function hitByKey(hits: readonly Hit[], current: Hit | undefined, key: string): Hit | undefined {
  if (!/^(Arrow(Left|Right|Up|Down)|Home|End)$/.test(key)) return undefined
  if (current === undefined) return hits[0]
  const along = hits.filter((hit) => hit.series === current.series).sort((a, b) => a.x - b.x)
  const at = along.indexOf(current)
  if (key === 'Home') return along[0]
  if (key === 'End') return along.at(-1)
  if (key === 'ArrowLeft') return along[at - 1] ?? current
  if (key === 'ArrowRight') return along[at + 1] ?? current
  const all = [...new Set(hits.map((hit) => hit.series))].sort((a, b) => a - b)
  const series = all[all.indexOf(current.series) + (key === 'ArrowUp' ? -1 : 1)]
  const others = hits.filter((hit) => hit.series === series)
  return others.sort((a, b) => Math.abs(a.x - current.x) - Math.abs(b.x - current.x))[0] ?? current
}
