import { createCyclicGroup } from './cyclicGroup.ts'
import { ceilLog2, range } from './declare.ts'
import { createMember } from './member.ts'

const divisors = (size: number) => range(1, size + 1).filter((d) => size % d === 0)

/**
 * Halves over the P / d cosets of the subgroup of order d, is latency-optimal inside it, and distributes over the cosets:
 * 2 ceil(log2(P / d)) + ceil(log2 d) steps, 2 (P - d) + d ceil(log2 d) chunks. R is a subgroup, so that its copies travel
 * with what is sent anyway: for even P one step less (d = 2) costs no bytes, and for P = 2^k this is the classic hybrid.
 */
export const subgroup = createMember({
  name: 'subgroup',
  title: 'Butterfly over a subgroup',
  source: 'Kolmakov and Zhang 2020 with the results on a subgroup; own construction (Cauchy-Davenport bound)',
  parameters: [
    {
      name: 'order',
      description:
        'd: order of the subgroup, a divisor of the size; every rank of it ends the reduction with results',
      values: (size) => [...divisors(size).filter((d) => d > 1), 1],
    },
  ],
  options(size, settings) {
    const order = Number(settings.order)
    if (order < 1 || size % order !== 0) return `order can be ${divisors(size).join(', ')}, not ${order}`
    return { group: createCyclicGroup(size, order), removed: ceilLog2(order) }
  },
  variants: (size) => divisors(size).map((order) => ({ order })),
})
