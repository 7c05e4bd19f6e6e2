/** What a message rests on, byte by byte: which piece of it waits for which piece of which other message. */

/**
 * Which bytes of a node's message rest on which bytes of others, in shares of the vector: piece i of node n is one of
 * start[n] .. start[n + 1]. It lies at `at` in the message, is `share` long, and rests on the same length at `onAt`
 * of node `on`.
 */
export interface Pieces {
  readonly start: Int32Array
  readonly at: Float64Array
  readonly share: Float64Array
  readonly on: Int32Array
  readonly onAt: Float64Array
}

export interface Piece {
  at: number
  share: number
  on: number
  onAt: number
}

/** Appends a piece; neighbours that rest on neighbours become one. */
export function addPiece(list: Piece[], piece: Piece): void {
  const last = list[list.length - 1]
  const isNext =
    last !== undefined &&
    last.on === piece.on &&
    isEqual(last.at + last.share, piece.at) &&
    isEqual(last.onAt + last.share, piece.onAt)
  if (isNext) last.share += piece.share
  else list.push(piece)
}

/** Equal but for the rounding of sums of shares. */
function isEqual(a: number, b: number): boolean {
  return Math.abs(a - b) < 1e-12
}

export function packPieces(lists: readonly (readonly Piece[])[]): Pieces {
  const start = new Int32Array(lists.length + 1)
  lists.forEach((list, node) => {
    start[node + 1] = start[node]! + list.length
  })
  const flat = lists.flat()
  return {
    start,
    at: Float64Array.from(flat, (piece) => piece.at),
    share: Float64Array.from(flat, (piece) => piece.share),
    on: Int32Array.from(flat, (piece) => piece.on),
    onAt: Float64Array.from(flat, (piece) => piece.onAt),
  }
}

/** Of each node the nodes that its pieces rest on, once each. */
export function awaited(pieces: Pieces, count: number): { start: Int32Array; on: number[] } {
  const start = new Int32Array(count + 1)
  const on: number[] = []
  for (let node = 0; node < count; node++) {
    for (let i = pieces.start[node]!; i < pieces.start[node + 1]!; i++)
      if (on.indexOf(pieces.on[i]!, start[node]!) < 0) on.push(pieces.on[i]!)
    start[node + 1] = on.length
  }
  return { start, on }
}

/** For each node the nodes whose pieces rest on it. */
export function invert(pieces: Pieces, count: number): readonly (readonly number[])[] {
  const lists: number[][] = Array.from({ length: count }, () => [])
  for (let node = 0; node < count; node++)
    for (let i = pieces.start[node]!; i < pieces.start[node + 1]!; i++) {
      const list = lists[pieces.on[i]!]!
      if (list[list.length - 1] !== node) list.push(node)
    }
  return lists
}
