/** A Markdown table. */
export type Row = readonly string[]

export const table = (head: Row, rows: readonly Row[]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')

/** At most three decimals, and none that are zero. */
export const decimal = (value: number): string => String(Number(value.toFixed(3)))
