/** Scales and ticks of axes: pure arithmetic. */

/** Round numbers between `from` and `to`, about `count` of them: 1, 2 or 5 times a power of ten apart. */
export function niceTicks(from: number, to: number, count: number): number[] {
  if (!(to > from)) return [from]
  const rough = (to - from) / Math.max(1, count)
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = power * ([1, 2, 5, 10].find((m) => m * power >= rough) ?? 10)
  const first = Math.ceil(from / step - 1e-9)
  const last = Math.floor(to / step + 1e-9)
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)))
}

/** Powers of ten within [from, to], with 2 and 5 in between when the range is short. */
export function logTicks(from: number, to: number): number[] {
  const decades = Math.log10(to / from)
  const factors = decades < 1.5 ? [1, 2, 5] : decades < 3 ? [1, 3] : [1]
  const ticks: number[] = []
  for (let e = Math.floor(Math.log10(from)); e <= Math.ceil(Math.log10(to)); e++)
    for (const f of factors) {
      const tick = Number((f * 10 ** e).toPrecision(3))
      if (tick >= from * (1 - 1e-9) && tick <= to * (1 + 1e-9)) ticks.push(tick)
    }
  return ticks
}

/** Powers of two within [from, to], every n-th so that at most `most` remain. */
export function binaryTicks(from: number, to: number, most: number): number[] {
  const first = Math.ceil(Math.log2(from) - 1e-9)
  const last = Math.floor(Math.log2(to) + 1e-9)
  const every = Math.max(1, Math.ceil((last - first + 1) / Math.max(1, most)))
  const ticks: number[] = []
  for (let e = Math.ceil(first / every) * every; e <= last; e += every) ticks.push(2 ** e)
  return ticks
}

export function linear(d0: number, d1: number, x0: number, x1: number): (value: number) => number {
  const k = d1 === d0 ? 0 : (x1 - x0) / (d1 - d0)
  return (value) => x0 + (value - d0) * k
}

export function logarithmic(d0: number, d1: number, x0: number, x1: number): (value: number) => number {
  const map = linear(Math.log(d0), Math.log(d1), x0, x1)
  return (value) => map(Math.log(Math.max(value, Number.MIN_VALUE)))
}

export function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value))
}
