/** Counts, percents, lists and sizes as people write them; times and rates are in stage/format.ts. */
const integer = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })

export function formatCount(value: number): string {
  return integer.format(value)
}

/** Signed percent, without decimals from 10 on; the unit stays with its number. From tenfold on the factor, which is easier to read. */
export function formatPercent(fraction: number): string {
  if (fraction >= 9) return `×${Math.round(1 + fraction)}`
  const percent = fraction * 100
  const sign = percent > 0 ? '+' : ''
  return `${sign}${Math.abs(percent) >= 9.95 ? percent.toFixed(0) : percent.toFixed(1)}\u00a0%`
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
