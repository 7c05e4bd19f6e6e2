/** Writes marks as an SVG file that stands alone: colours are resolved, no style sheet is needed. */
import type { Drawing, Look, Mark, Paint } from './marks.ts'

/** Gives the colour of a role, for the theme that the reader sees. */
export type Palette = (paint: Paint) => string

const fonts = {
  text: "'Atkinson Hyperlegible Next', system-ui, sans-serif",
  mono: "'Atkinson Hyperlegible Mono', ui-monospace, monospace",
}

function escapeText(text: string): string {
  return text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`)
}

function attributes(values: Readonly<Record<string, string | number | undefined>>): string {
  return Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}="${typeof value === 'string' ? escapeText(value) : value}"`)
    .join('')
}

function lookAttributes(look: Look, palette: Palette): Record<string, string | number | undefined> {
  const color = (paint: Paint | undefined) =>
    paint === undefined || paint === 'none' ? 'none' : palette(paint)
  return {
    fill: color(look.fill),
    stroke: look.stroke === undefined ? undefined : color(look.stroke),
    'stroke-width': look.stroke === undefined ? undefined : look.line,
    'stroke-dasharray': look.dash?.join(' '),
    'stroke-linecap': look.round ? 'round' : undefined,
    opacity: look.opacity,
  }
}

function element(mark: Mark, palette: Palette): string {
  if (mark.kind === 'text') {
    const { x, y, size, anchor, opacity, turn } = mark
    return `<text${attributes({
      x,
      y,
      'font-size': size,
      'font-family': mark.mono ? fonts.mono : fonts.text,
      'font-weight': mark.strong ? 700 : undefined,
      'text-anchor': anchor,
      fill: palette(mark.fill),
      stroke: mark.halo && palette(mark.halo),
      'stroke-width': mark.halo && 3,
      'paint-order': mark.halo && 'stroke',
      opacity,
      transform: turn === undefined ? undefined : `rotate(${turn} ${x} ${y})`,
    })}>${escapeText(mark.text)}</text>`
  }
  const look = lookAttributes(mark, palette)
  switch (mark.kind) {
    case 'path':
      return `<path${attributes({ d: mark.d, ...look })}/>`
    case 'rect':
      return `<rect${attributes({ x: mark.x, y: mark.y, width: mark.width, height: mark.height, rx: mark.radius, ...look })}/>`
    case 'circle':
      return `<circle${attributes({ cx: mark.x, cy: mark.y, r: mark.r, ...look })}/>`
  }
}

/** A file; `title` is read aloud by screen readers. */
export function svgFile(drawing: Drawing, title: string, palette: Palette): string {
  const { width, height } = drawing
  const body = drawing.marks.map((mark) => element(mark, palette)).join('\n')
  const size = attributes({ width, height, viewBox: `0 0 ${width} ${height}` })
  return `<svg xmlns="http://www.w3.org/2000/svg"${size} role="img"><title>${escapeText(title)}</title>
<rect width="${width}" height="${height}" fill="${palette('ground')}"/>
${body}
</svg>
`
}

/** The same picture elsewhere: for a file that is put together from several drawings. */
export function shifted(marks: readonly Mark[], dx: number, dy: number): Mark[] {
  return marks.map((mark) =>
    mark.kind === 'path'
      ? { ...mark, d: shiftPath(mark.d, dx, dy) }
      : { ...mark, x: mark.x + dx, y: mark.y + dy },
  )
}

/** Our paths use M and L with absolute, h, v and z with relative numbers. */
function shiftPath(d: string, dx: number, dy: number): string {
  return d.replace(
    /([ML])(-?[\d.]+) (-?[\d.]+)/g,
    (_, command: string, x: string, y: string) =>
      `${command}${Math.round((Number(x) + dx) * 100) / 100} ${Math.round((Number(y) + dy) * 100) / 100}`,
  )
}
