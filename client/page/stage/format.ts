/** Numbers for people: ms and µs, KiB and MiB, MB/s, with a fixed number of significant digits. */

function digits(value: number, significant: number): string {
  if (value === 0) return '0'
  const decimals = Math.max(0, significant - 1 - Math.floor(Math.log10(Math.abs(value))))
  return value.toFixed(Math.min(decimals, 6))
}

export function formatSeconds(seconds: number): string {
  if (!Number.isFinite(seconds)) return '–'
  const size = Math.abs(seconds)
  if (size === 0) return '0 ms'
  if (size < 0.9995e-3) return `${digits(seconds * 1e6, size < 1e-5 ? 2 : 3)} µs`
  if (size < 0.9995) return `${digits(seconds * 1e3, size < 0.01 ? 2 : 3)} ms`
  return `${digits(seconds, 3)} s`
}

/** For axes: no digits that say nothing. */
export function formatTick(seconds: number): string {
  const trim = (value: number) => String(Number(value.toPrecision(3)))
  if (seconds === 0) return '0'
  if (Math.abs(seconds) < 0.9995e-3) return `${trim(seconds * 1e6)} µs`
  if (Math.abs(seconds) < 0.9995) return `${trim(seconds * 1e3)} ms`
  return `${trim(seconds)} s`
}

export function formatBytes(bytes: number): string {
  for (const [unit, size] of [
    ['GiB', 2 ** 30],
    ['MiB', 2 ** 20],
    ['KiB', 2 ** 10],
  ] as const)
    if (bytes >= size * 0.9995) {
      return `${wholeOr(bytes / size)} ${unit}`
    }
  return `${wholeOr(bytes)} B`
}

/** Sums of fractions of a vector are whole but for rounding errors. */
function wholeOr(value: number): string {
  const whole = Math.round(value)
  return Math.abs(value - whole) <= 1e-6 * Math.max(1, whole) ? String(whole) : digits(value, 3)
}

/** Decimal megabytes per second. */
export function formatRate(bytesPerSecond: number): string {
  return `${digits(bytesPerSecond / 1e6, 3)} MB/s`
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** 0, 1, 2, 5 → "0–2, 5"; long lists are cut. */
export function formatList(numbers: readonly number[], most = 12): string {
  const sorted = [...numbers].sort((a, b) => a - b)
  const runs: [number, number][] = []
  for (const n of sorted) {
    const last = runs.at(-1)
    if (last !== undefined && n === last[1] + 1) last[1] = n
    else runs.push([n, n])
  }
  const words = runs.map(([a, b]) => (a === b ? `${a}` : b === a + 1 ? `${a}, ${b}` : `${a}–${b}`))
  return words.length > most ? `${words.slice(0, most).join(', ')}, …` : words.join(', ')
}
