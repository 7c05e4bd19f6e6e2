/** Numbers as people read them: binary sizes, ms or µs, MB/s. Files and the command line never use these. */
const integer = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })

export function formatCount(value: number): string {
  return integer.format(value)
}

function significant(value: number, digits: number): string {
  if (value === 0) return '0'
  const whole = Math.max(1, Math.floor(Math.log10(Math.abs(value))) + 1)
  return value.toFixed(Math.max(0, digits - whole))
}

const sizes = ['B', 'KiB', 'MiB', 'GiB'] as const

/** 425 B, 64 KiB, 1.5 MiB. */
export function formatBytes(bytes: number): string {
  let unit = 0
  let value = bytes
  while (value >= 1024 && unit < sizes.length - 1) {
    value /= 1024
    unit++
  }
  const text = Number.isInteger(value) ? String(value) : significant(value, 3)
  return `${text} ${sizes[unit]}`
}

/** Three digits: 0.42 ms is shown as 420 µs, a minute as 1 min 4 s. */
export function formatSeconds(seconds: number): string {
  if (!Number.isFinite(seconds)) return '–'
  if (seconds < 0.9995e-3) return `${significant(seconds * 1e6, 3)} µs`
  if (seconds < 0.9995) return `${significant(seconds * 1e3, 3)} ms`
  if (seconds < 60) return `${significant(seconds, 3)} s`
  const whole = Math.round(seconds)
  return `${Math.floor(whole / 60)} min ${whole % 60} s`
}

/** Bytes per second as MB/s (10^6). */
export function formatRate(bytesPerSecond: number): string {
  return `${significant(bytesPerSecond / 1e6, 3)} MB/s`
}

/** Signed percent, without decimals from 10 on. */
export function formatPercent(fraction: number): string {
  const percent = fraction * 100
  const sign = percent > 0 ? '+' : ''
  return `${sign}${Math.abs(percent) >= 9.95 ? percent.toFixed(0) : percent.toFixed(1)} %`
}

/** `1 peer`, `6 peers`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`
}

/** Ana · Ana and Bo · Ana, Bo and Cem. */
export function list(names: readonly string[]): string {
  if (names.length < 2) return names[0] ?? ''
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}

const factors: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 }

/** Reads `425`, `64k`, `1 MiB`, `0.5 MB` (binary, as people mean it for buffers); undefined when it is no size. */
export function parseBytes(text: string): number | undefined {
  const match = /^\s*(\d+(?:[.,]\d+)?)\s*([kmg]?)i?b?(?:ytes)?\s*$/i.exec(text)
  if (!match) return undefined
  return Math.floor(Number(match[1]!.replace(',', '.')) * factors[match[2]!.toLowerCase()]!)
}
