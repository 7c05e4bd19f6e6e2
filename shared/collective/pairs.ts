/**
 * Rounds in which every rank meets every other rank once, at most one at a time (the circle method of round-robin
 * tournaments): size - 1 rounds for an even size, size rounds for an odd one, in each of which one rank has a rest.
 */
export function pairRounds(size: number): number {
  return size < 2 ? 0 : size % 2 === 0 ? size - 1 : size
}

/** Whom `rank` meets in `round`; undefined when it has a rest. */
export function partnerOf(size: number, round: number, rank: number): number | undefined {
  const rounds = pairRounds(size)
  // On the circle of `rounds` ranks, i and j meet when i + j = round (mod rounds); who meets itself meets the extra rank.
  const isExtra = rank === rounds
  // 2 i = round (mod rounds) has the one solution i = round (rounds + 1) / 2, since rounds is odd.
  const alone = (round * ((rounds + 1) / 2)) % rounds
  if (isExtra) return alone
  if (rank !== alone) return (((round - rank) % rounds) + rounds) % rounds
  return size % 2 === 0 ? rounds : undefined
}
