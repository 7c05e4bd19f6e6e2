/**
 * What a picture consists of: plain data that a layout function returns and a test can read. One list is drawn as SVG
 * elements, on a canvas, or written as an SVG file.
 */

/** A colour by its role: the name of a custom property of styles/tokens.css without the dashes, or `none`. */
export type Paint = string

export interface Look {
  readonly fill?: Paint
  readonly stroke?: Paint
  /** Stroke width, px. */
  readonly line?: number
  readonly dash?: readonly number[]
  readonly opacity?: number
  readonly round?: boolean
}

export interface PathMark extends Look {
  readonly kind: 'path'
  readonly d: string
}

export interface RectMark extends Look {
  readonly kind: 'rect'
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly radius?: number
}

export interface CircleMark extends Look {
  readonly kind: 'circle'
  readonly x: number
  readonly y: number
  readonly r: number
}

export interface TextMark {
  readonly kind: 'text'
  readonly x: number
  /** Baseline. */
  readonly y: number
  readonly text: string
  /** px */
  readonly size: number
  readonly fill: Paint
  readonly anchor?: 'start' | 'middle' | 'end'
  readonly mono?: boolean
  readonly strong?: boolean
  readonly opacity?: number
  /** Degrees around (x, y). */
  readonly turn?: number
  /** Colour of an outline that keeps the text readable on top of lines. */
  readonly halo?: Paint
}

export type Mark = PathMark | RectMark | CircleMark | TextMark

/** A picture with a size. */
export interface Drawing {
  readonly width: number
  readonly height: number
  readonly marks: readonly Mark[]
}

/** Two decimals are finer than any screen and keep paths short and snapshots stable. */
export function round(value: number): number {
  return Math.round(value * 100) / 100
}

export function linePath(points: readonly (readonly [x: number, y: number])[]): string {
  return points.map(([x, y], i) => `${i === 0 ? 'M' : 'L'}${round(x)} ${round(y)}`).join('')
}

export function line(x1: number, y1: number, x2: number, y2: number, look: Look): PathMark {
  return {
    kind: 'path',
    d: linePath([
      [x1, y1],
      [x2, y2],
    ]),
    ...look,
  }
}

/** Path of a rectangle, so that many cells of one colour are one mark. */
export function boxPath(x: number, y: number, width: number, height: number): string {
  return `M${round(x)} ${round(y)}h${round(width)}v${round(height)}h${round(-width)}z`
}

/** Lines at 45 degrees, `gap` px apart, clipped to the rectangle: waiting, or a link that is not used. */
export function hatchPath(x: number, y: number, width: number, height: number, gap: number): string {
  let d = ''
  // Lines x + y = c, phase fixed to the plane so that neighbouring hatches join.
  for (let c = Math.ceil((x + y) / gap) * gap; c <= x + width + y + height; c += gap) {
    const x1 = Math.max(x, c - y - height)
    const x2 = Math.min(x + width, c - y)
    if (x2 > x1) d += `M${round(x1)} ${round(c - x1)}L${round(x2)} ${round(c - x2)}`
  }
  return d
}

/** Width of a text, px: the mean advance of the page's two faces is near 0.52 and exactly 0.6 of the size. */
export function textWidth(text: string, size: number, mono = false): number {
  return text.length * size * (mono ? 0.6 : 0.52)
}

/** Cuts a text to `width` px with an ellipsis. */
export function fitText(text: string, size: number, width: number, mono = false): string {
  if (textWidth(text, size, mono) <= width) return text
  const letters = Math.floor(width / (size * (mono ? 0.6 : 0.52))) - 1
  return letters < 1 ? '' : `${text.slice(0, letters).trimEnd()}…`
}
