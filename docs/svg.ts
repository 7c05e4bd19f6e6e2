/** Figures as SVG text, legible on light and dark ground: whoever shows them says which by prefers-color-scheme. */

const style = `
  text { font: 12px system-ui, sans-serif; fill: #14202B }
  .head { font-weight: 600; font-size: 13px }
  .soft { fill: #4A5763 }
  .ground { fill: #FFFFFF }
  .grid { stroke: #D9D5C9 }
  .axis { stroke: #8A8677 }
  .a { --ink: #04599B } .b { --ink: #AB3510 } .c { --ink: #1E7A78 }
  .line { fill: none; stroke: var(--ink); stroke-width: 2 }
  .dot { fill: var(--ink) }
  .ring { fill: #FFFFFF; stroke: var(--ink); stroke-width: 1.5 }
  .name { fill: var(--ink); font-weight: 600 }
  @media (prefers-color-scheme: dark) {
    text { fill: #EAF0F4 }
    .soft { fill: #AAB7C3 }
    .ground { fill: #18202A }
    .grid { stroke: #2B3743 }
    .axis { stroke: #6B7A88 }
    .a { --ink: #6DB6FF } .b { --ink: #FF9A70 } .c { --ink: #77F6F3 }
    .ring { fill: #18202A }
  }`

/** @param about what the figure shows, for who cannot see it */
export function svgPage(
  width: number,
  height: number,
  title: string,
  about: string,
  body: readonly string[],
): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<desc>${escaped(about)}</desc>`,
    `<style>${style}\n</style>`,
    `<rect class="ground" width="${width}" height="${height}" rx="6"/>`,
    ...body,
    '</svg>\n',
  ].join('\n')
}

const escaped = (text: string) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')

/** Two decimals at most: what no eye can tell apart need not be in the file. */
const short = (value: number) => String(Math.round(value * 100) / 100)

export function text(
  x: number,
  y: number,
  content: string,
  kind = '',
  anchor: 'start' | 'middle' | 'end' = 'start',
): string {
  const is = kind ? ` class="${kind}"` : ''
  const from = anchor === 'start' ? '' : ` text-anchor="${anchor}"`
  return `<text x="${short(x)}" y="${short(y)}"${is}${from}>${escaped(content)}</text>`
}

export function rect(x: number, y: number, width: number, height: number, fill: string): string {
  return `<rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" fill="${fill}"/>`
}

export function line(x1: number, y1: number, x2: number, y2: number, kind: 'grid' | 'axis'): string {
  return `<line class="${kind}" x1="${short(x1)}" y1="${short(y1)}" x2="${short(x2)}" y2="${short(y2)}"/>`
}

export type Point = readonly [number, number]

/** @param series a, b or c: its colour */
export function curve(points: readonly Point[], series: string): string {
  return `<polyline class="line ${series}" points="${points.map((point) => point.map(short).join()).join(' ')}"/>`
}

export function dot([x, y]: Point, series: string, kind: 'dot' | 'ring' = 'dot'): string {
  return `<circle class="${kind} ${series}" cx="${short(x)}" cy="${short(y)}" r="3.5"/>`
}
