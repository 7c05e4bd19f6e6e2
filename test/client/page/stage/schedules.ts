/** Two schedules written out from their definition, small enough to check by eye: what the pictures are tested with. */
import type { Schedule, Step } from '../../../../shared/schedule/types.ts'

interface Move {
  readonly from: number
  readonly to: number
  readonly chunks: readonly number[]
}

/** Slot c is chunk c on every rank; the first `reducing` steps combine, the others store. */
function fromMoves(
  algorithm: string,
  size: number,
  moves: readonly (readonly Move[])[],
  reducing: number,
): Schedule {
  const all = Array.from({ length: size }, (_, chunk) => chunk)
  return {
    collective: 'allreduce',
    algorithm,
    settings: {},
    size,
    steps: moves.length,
    chunks: size,
    ranks: all.map((rank) => ({
      rank,
      slots: all,
      input: all,
      output: all,
      steps: moves.map(
        (step, s): Step => ({
          sends: step.filter((m) => m.from === rank).map((m) => ({ to: m.to, slots: m.chunks })),
          receives: step
            .filter((m) => m.to === rank)
            .map((m) => ({ from: m.from, slots: m.chunks, how: s < reducing ? 'append' : 'store' })),
          locals: [],
        }),
      ),
    })),
  }
}

/** Moves of the window sequence P = N_0 > N_1 > ... > 1 on the cyclic group, out and back (design: one family). */
function windows(algorithm: string, size: number, shrink: (n: number) => number): Schedule {
  const mod = (n: number) => ((n % size) + size) % size
  const ranks = Array.from({ length: size }, (_, rank) => rank)
  const out: Move[][] = []
  const back: Move[][] = []
  for (let n = size; n > 1; n = shrink(n)) {
    const kept = shrink(n)
    const placements = Array.from({ length: n - kept }, (_, i) => kept + i)
    const shift = n - kept
    out.push(ranks.map((j) => ({ from: j, to: mod(j - shift), chunks: placements.map((k) => mod(j - k)) })))
    back.unshift(
      ranks.map((j) => ({ from: mod(j - shift), to: j, chunks: placements.map((k) => mod(j - k)) })),
    )
  }
  return fromMoves(algorithm, size, [...out, ...back], out.length)
}

/** The generalized butterfly without removed steps. */
export function butterfly(size: number): Schedule {
  return windows('butterfly', size, (n) => Math.ceil(n / 2))
}

export function ring(size: number): Schedule {
  return windows('ring', size, (n) => n - 1)
}
