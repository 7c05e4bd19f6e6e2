/**
 * The frame of every chart: title, the numbers as a table, picture and numbers as files, a summary for screen readers.
 */
import type { ComponentChildren, JSX } from 'preact'
import { useId, useRef, useState } from 'preact/hooks'
import type { Drawing } from './marks.ts'
import './stage.css'
import { saveFile } from './saveFile.ts'
import { svgFile } from './svg.ts'
import { TableView } from './TableView.tsx'
import { type Table, tableCsv } from './table.ts'
import { readPalette } from './useBox.ts'

export interface FigureProps {
  readonly title: string
  /** One paragraph: what the picture says. */
  readonly summary: string
  readonly testId: string
  readonly table: () => Table
  /** The whole picture for the SVG file. */
  readonly drawing: () => Drawing
  /** Beginning of the names of saved files. */
  readonly fileName: string
  readonly notes?: ComponentChildren
  readonly tools?: ComponentChildren
  readonly children: ComponentChildren
  /** Stays when the table is shown. */
  readonly footer?: ComponentChildren
  readonly data?: Readonly<Record<`data-${string}`, string | number>>
}

export function Figure(props: FigureProps): JSX.Element {
  const { title, summary, testId, table, drawing, fileName, notes, tools, children, footer, data } = props
  const [asTable, setAsTable] = useState(false)
  const figure = useRef<HTMLElement>(null)
  const summaryId = useId()
  const saveSvg = () => {
    if (figure.current)
      saveFile(`${fileName}.svg`, 'image/svg+xml', svgFile(drawing(), title, readPalette(figure.current)))
  }
  return (
    <figure ref={figure} class="stage-figure" data-testid={testId} aria-describedby={summaryId} {...data}>
      <figcaption class="stage-caption">
        <span class="stage-title">{title}</span>
        {notes}
        <span class="stage-tools">
          {tools}
          <button type="button" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
            as table
          </button>
          <button type="button" onClick={saveSvg} aria-label={`Save ${title} as SVG`}>
            SVG
          </button>
          <button
            type="button"
            onClick={() => saveFile(`${fileName}.csv`, 'text/csv', tableCsv(table()))}
            aria-label={`Save ${title} as CSV`}
          >
            CSV
          </button>
        </span>
      </figcaption>
      <p id={summaryId} class="stage-hidden">
        {summary}
      </p>
      {asTable ? <TableView table={table()} /> : children}
      {footer}
    </figure>
  )
}
