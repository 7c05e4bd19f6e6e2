/** What tables say of repeated measurements. */

/** The middle one; of an even number the mean of both. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** `median [least..most]`. */
export function spread(values: readonly number[], digits: number): string {
  const [least, most] = [Math.min(...values), Math.max(...values)]
  return `${median(values).toFixed(digits)} [${least.toFixed(digits)}..${most.toFixed(digits)}]`
}

/** Seconds as milliseconds, `median [least..most]`. */
export function milliseconds(seconds: readonly number[]): string {
  const typical = median(seconds)
  const digits = typical < 0.01 ? 2 : typical < 0.1 ? 1 : 0
  return spread(
    seconds.map((value) => value * 1e3),
    digits,
  )
}

export function sizeText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB']
  let [value, unit] = [bytes, 0]
  while (value >= 1024 && value % 1024 === 0 && unit < units.length - 1)
    [value, unit] = [value / 1024, unit + 1]
  return `${value} ${units[unit]}`
}
