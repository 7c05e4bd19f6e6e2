import type { JSX } from 'preact'
import type { Table } from './table.ts'

/** More rows than anybody reads on a page; the CSV file has them all. */
const most = 1500

/** What scrolls must be reachable by keyboard. */
const focusable = { tabIndex: 0 }

export function TableView({ table }: { table: Table }): JSX.Element {
  const { caption, columns, rows } = table
  const left = rows.length - most
  return (
    <section class="stage-table" aria-label={caption} {...focusable}>
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.csv} scope="col" class={column.numeric ? 'numeric' : ''}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, most).map((row) => (
            <tr key={row.join(' ')}>
              {columns.map(({ csv, show, numeric }, i) => (
                <td key={csv} class={numeric ? 'numeric' : ''}>
                  {show ? show(row[i] ?? '') : row[i]}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {left > 0 && <p>{`${left} more rows are in the CSV file.`}</p>}
    </section>
  )
}
