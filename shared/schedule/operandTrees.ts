/**
 * Hash-consed operand trees: a value of a symbolic run is the tree of the combines that made it. Equal trees have equal
 * numbers, so that a combine that was seen before costs one look-up, whatever the number of ranks. What the verifier
 * wants to know of a tree (contributors, order, shape) is computed once, when the tree is first met.
 */
export interface OperandTrees {
  /** The contribution of one rank. */
  leaf(rank: number): number
  /** The tree left (+) right. */
  combine(left: number, right: number): number
  /** Every rank contributes, at least once. */
  complete(tree: number): boolean
  /** No rank contributes twice. */
  once(tree: number): boolean
  /** A rank that contributes to both, or undefined. */
  shared(left: number, right: number): number | undefined
  /** A rank that does not contribute, or undefined. */
  missing(tree: number): number | undefined
  /** Equal for trees that are equal up to swapping operands: IEEE + and * are commutative, so their bits are equal. */
  canonical(tree: number): number
  /** From left to right, the ranks ascend. */
  ordered(tree: number): boolean
  /** ((first (+) second) (+) third) ...: each right operand is one rank's contribution. */
  leftFold(tree: number): boolean
}

export function createOperandTrees(size: number): OperandTrees {
  const words = (size + 31) >>> 5
  let capacity = Math.max(1024, 2 * size)
  let sets = new Uint32Array(capacity * words)
  const trees = createPairTable(size)
  const canonicals = createPairTable(size)
  const canonicalOf = Array.from({ length: size }, (_, rank) => rank)
  const isComplete = new Array<boolean>(size).fill(size === 1)
  const isOnce = new Array<boolean>(size).fill(true)
  const first = Array.from({ length: size }, (_, rank) => rank)
  const last = Array.from({ length: size }, (_, rank) => rank)
  const isOrdered = new Array<boolean>(size).fill(true)
  const isLeftFold = new Array<boolean>(size).fill(true)
  for (let rank = 0; rank < size; rank++) sets[rank * words + (rank >>> 5)] = 1 << (rank & 31)

  const add = (tree: number, left: number, right: number) => {
    if (tree >= capacity) {
      capacity *= 2
      const larger = new Uint32Array(capacity * words)
      larger.set(sets)
      sets = larger
    }
    let disjoint = true
    let contributors = 0
    for (let w = 0; w < words; w++) {
      const inLeft = sets[left * words + w]!
      const inRight = sets[right * words + w]!
      sets[tree * words + w] = inLeft | inRight
      disjoint &&= (inLeft & inRight) === 0
      contributors += bitCount(inLeft | inRight)
    }
    isOnce.push(disjoint && isOnce[left]! && isOnce[right]!)
    isComplete.push(contributors === size)
    const a = canonicalOf[left]!
    const b = canonicalOf[right]!
    canonicalOf.push(canonicals.intern(Math.min(a, b), Math.max(a, b)))
    first.push(first[left]!)
    last.push(last[right]!)
    isOrdered.push(isOrdered[left]! && isOrdered[right]! && last[left]! < first[right]!)
    isLeftFold.push(isLeftFold[left]! && right < size)
  }

  return {
    leaf: (rank) => rank,
    combine(left, right) {
      const known = trees.count()
      const tree = trees.intern(left, right)
      if (tree === known) add(tree, left, right)
      return tree
    },
    complete: (tree) => isComplete[tree]!,
    once: (tree) => isOnce[tree]!,
    shared(left, right) {
      for (let w = 0; w < words; w++) {
        const both = sets[left * words + w]! & sets[right * words + w]!
        if (both !== 0) return 32 * w + 31 - Math.clz32(both)
      }
      return undefined
    },
    missing(tree) {
      for (let rank = 0; rank < size; rank++)
        if ((sets[tree * words + (rank >>> 5)]! & (1 << (rank & 31))) === 0) return rank
      return undefined
    },
    canonical: (tree) => canonicalOf[tree]!,
    ordered: (tree) => isOrdered[tree]!,
    leftFold: (tree) => isLeftFold[tree]!,
  }
}

function bitCount(word: number): number {
  let v = word - ((word >>> 1) & 0x55555555)
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333)
  return Math.imul((v + (v >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

/** Numbers pairs in the order in which they are first seen, from `offset` on (open addressing, linear probing). */
function createPairTable(offset: number) {
  let mask = 4095
  let table = new Int32Array(mask + 1).fill(-1)
  let lefts = new Int32Array(1024)
  let rights = new Int32Array(1024)
  let count = 0
  const place = (left: number, right: number) => {
    let at = (Math.imul(left, 0x9e3779b1) ^ Math.imul(right, 0x85ebca6b)) >>> 7
    for (at &= mask; table[at] !== -1; at = (at + 1) & mask) {
      const entry = table[at]!
      if (lefts[entry] === left && rights[entry] === right) break
    }
    return at
  }
  const grow = () => {
    mask = 2 * mask + 1
    table = new Int32Array(mask + 1).fill(-1)
    for (let entry = 0; entry < count; entry++) table[place(lefts[entry]!, rights[entry]!)] = entry
  }
  return {
    count: () => offset + count,
    intern(left: number, right: number): number {
      const at = place(left, right)
      const known = table[at]!
      if (known !== -1) return offset + known
      if (count === lefts.length) {
        const moreLefts = new Int32Array(2 * count)
        const moreRights = new Int32Array(2 * count)
        moreLefts.set(lefts)
        moreRights.set(rights)
        lefts = moreLefts
        rights = moreRights
      }
      lefts[count] = left
      rights[count] = right
      table[at] = count
      count++
      if (2 * count > mask) grow()
      return offset + count - 1
    },
  }
}
