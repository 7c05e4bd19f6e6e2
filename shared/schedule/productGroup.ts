import type { Axis, RankGroup } from './group.ts'

/**
 * Z_a x Z_b x ..., named '2x3': the ranks are the cells of a grid of 2 rows of 3, counted row by row. The last factor
 * (neighbours in rank) is reduced first.
 */
export function createProductGroup(name: string, size: number): RankGroup | string | undefined {
  if (!/^\d+(x\d+)+$/.test(name)) return undefined
  const factors = name.split('x').map(Number)
  if (factors.some((factor) => factor < 2)) return `each factor of the product ${name} must be at least 2`
  const product = factors.reduce((a, b) => a * b)
  if (product !== size) return `the product ${name} has ${product} elements, not ${size}`
  const axes: Axis[] = []
  let stride = 1
  for (const length of factors.reverse()) {
    axes.push({ stride, length })
    stride *= length
  }
  return {
    name,
    size,
    add(a, b) {
      let sum = 0
      for (const { stride, length } of axes)
        sum += ((Math.floor(a / stride) + Math.floor(b / stride)) % length) * stride
      return sum
    },
    negate(a) {
      let sum = 0
      for (const { stride, length } of axes)
        sum += ((length - (Math.floor(a / stride) % length)) % length) * stride
      return sum
    },
    axes,
    direct: true,
  }
}

/** All products of two factors, and that of all prime factors. */
export function productNames(size: number): readonly string[] {
  const names: string[] = []
  for (let a = 2; a <= size / 2; a++) if (size % a === 0) names.push(`${a}x${size / a}`)
  const primes: number[] = []
  for (let rest = size, factor = 2; rest > 1; factor++)
    for (; rest % factor === 0; rest /= factor) primes.push(factor)
  if (primes.length > 2) names.push(primes.join('x'))
  return names
}
