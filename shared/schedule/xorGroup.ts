import type { RankGroup } from './group.ts'

/**
 * The elementary abelian 2-group: t_a moves rank x to x XOR a (Table 1.b of the paper); P = 2^k. The lowest bit is
 * reduced first, so that every partial result is that of an aligned interval of ranks and keeps rank order.
 */
export function createXorGroup(size: number): RankGroup | string {
  const bits = 31 - Math.clz32(size)
  if (size !== 2 ** bits) return `the XOR group needs 2^k ranks, not ${size}`
  return {
    name: 'xor',
    size,
    add: (a, b) => a ^ b,
    negate: (a) => a,
    axes: Array.from({ length: bits }, (_, bit) => ({ stride: 2 ** bit, length: 2 })),
    direct: true,
  }
}
