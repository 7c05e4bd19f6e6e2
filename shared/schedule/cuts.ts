/** How a stage of a butterfly schedule shrinks the window, and what that does to the kinds of the vectors. */
import type { Block, Merge, Run, Span } from './family.ts'

/** Vector i of the smaller window was vector i * scale; that of block b which lands on it was i * scale + shift. */
export interface Cut {
  readonly to: number
  readonly scale: number
  readonly blocks: readonly Block[]
}

/**
 * N -> N - moved, in blocks as even as can be, laid end to end above the smaller window and each landing on its upper
 * end: with one port, shift floor(N / 2), and vector 0 idles when N is odd (equations 19 and 23).
 */
export function cutFar(from: number, ports: number, window: number): Cut {
  const moved = Math.min(window * ports, from - Math.ceil(from / (ports + 1)))
  const to = from - moved
  const count = Math.min(ports, moved)
  const blocks = Array.from({ length: count }, (_, block) => {
    const end = Math.floor(((block + 1) * moved) / count)
    const length = end - Math.floor((block * moved) / count)
    return { lo: to - length, hi: to, shift: end }
  })
  return { to, scale: 1, blocks }
}

/** Vectors i (k + 1) + 1 .. i (k + 1) + k move onto vector i (k + 1). */
export function cutNear(from: number, ports: number): Cut {
  const scale = ports + 1
  const blocks = Array.from({ length: Math.min(ports, from - 1) }, (_, block) => {
    const shift = block + 1
    return { lo: 0, hi: Math.ceil((from - shift) / scale), shift }
  })
  return { to: Math.ceil(from / scale), scale, blocks }
}

/** What becomes of each kind: vectors with the same kind and the same partners stay one kind. */
export function mergeRuns(cut: Cut, runs: readonly Run[], newKind: () => number) {
  const breaks = new Set([0, cut.to])
  const mark = (at: number) => {
    if (at > 0 && at < cut.to) breaks.add(at)
  }
  for (const { lo, hi } of cut.blocks) {
    mark(lo)
    mark(hi)
  }
  for (const shift of [0, ...cut.blocks.map((block) => block.shift)])
    for (const run of runs) mark(Math.ceil((run.lo - shift) / cut.scale))
  const kindAt = (vector: number) => runs.find((run) => vector < run.hi)!.kind

  const merges = new Map<string, { spans: Span[] } & Omit<Merge, 'parts'>>()
  const next: Run[] = []
  const ends = [...breaks].sort((a, b) => a - b)
  for (const [index, lo] of ends.slice(0, -1).entries()) {
    const hi = ends[index + 1]!
    const base = kindAt(lo * cut.scale)
    const operands = cut.blocks.flatMap((block, b) =>
      lo >= block.lo && lo < block.hi ? [{ block: b, kind: kindAt(lo * cut.scale + block.shift) }] : [],
    )
    let kind = base
    if (operands.length > 0) {
      const key = [base, ...operands.map((operand) => `${operand.block}:${operand.kind}`)].join()
      const known = merges.get(key)
      kind = known?.kind ?? newKind()
      if (known === undefined) merges.set(key, { spans: [{ lo, hi }], base, kind, operands })
      else if (known.spans.at(-1)!.hi === lo)
        known.spans[known.spans.length - 1] = { lo: known.spans.at(-1)!.lo, hi }
      else known.spans.push({ lo, hi })
    }
    const last = next.at(-1)
    if (last?.kind === kind) next[next.length - 1] = { ...last, hi }
    else next.push({ lo, hi, kind })
  }
  const stays = (kind: number) => next.some((run) => run.kind === kind)
  // Placements in descending order are chunks in ascending order: a message of the cyclic group is one range of them.
  const ordered = [...merges.values()].reverse()
  return { runs: next, merges: ordered.map((merge) => ({ ...merge, parts: stays(merge.base) })) }
}
