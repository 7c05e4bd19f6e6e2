/** The numbers of a chart: shown as a table, saved as CSV. */
export interface TableColumn {
  readonly title: string
  /** Name of the column in CSV, with its unit. */
  readonly csv: string
  /** For people; CSV has the bare value. */
  readonly show?: (value: string | number) => string
  readonly numeric?: boolean
}

export interface Table {
  readonly caption: string
  readonly columns: readonly TableColumn[]
  readonly rows: readonly (readonly (string | number)[])[]
}

/** RFC 4180. A text that a spreadsheet would take for a formula gets an apostrophe. */
function csvField(value: string | number): string {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : ''
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

export function tableCsv(table: Table): string {
  const lines = [table.columns.map((column) => column.csv), ...table.rows]
  return lines.map((fields) => `${fields.map(csvField).join(',')}\r\n`).join('')
}
