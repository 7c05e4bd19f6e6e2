/** Draws marks on a canvas: for pictures of more than some 2000 marks, where SVG elements become slow. */
import type { Mark } from './marks.ts'
import type { Palette } from './svg.ts'

const textFamily = 'Atkinson Hyperlegible Next Variable, system-ui, sans-serif'
const monoFamily = 'Atkinson Hyperlegible Mono Variable, ui-monospace, monospace'

function drawText(context: CanvasRenderingContext2D, mark: Mark & { kind: 'text' }, palette: Palette): void {
  context.font = `${mark.strong ? 700 : 400} ${mark.size}px ${mark.mono ? monoFamily : textFamily}`
  context.textAlign = mark.anchor === 'middle' ? 'center' : mark.anchor === 'end' ? 'right' : 'left'
  context.translate(mark.x, mark.y)
  if (mark.turn !== undefined) context.rotate((mark.turn * Math.PI) / 180)
  if (mark.halo !== undefined) {
    context.strokeStyle = palette(mark.halo)
    context.lineWidth = 3
    context.strokeText(mark.text, 0, 0)
  }
  context.fillStyle = palette(mark.fill)
  context.fillText(mark.text, 0, 0)
}

const outlines = new WeakMap<Mark, Path2D>()

function outline(mark: Exclude<Mark, { kind: 'text' }>): Path2D {
  const known = outlines.get(mark)
  if (known !== undefined) return known
  const path = new Path2D(mark.kind === 'path' ? mark.d : undefined)
  outlines.set(mark, path)
  if (mark.kind === 'path') return path
  if (mark.kind === 'circle') path.arc(mark.x, mark.y, mark.r, 0, 2 * Math.PI)
  else if (mark.radius === undefined) path.rect(mark.x, mark.y, mark.width, mark.height)
  else path.roundRect(mark.x, mark.y, mark.width, mark.height, mark.radius)
  return path
}

export function drawMark(
  context: CanvasRenderingContext2D,
  mark: Mark,
  palette: Palette,
  opacity: number,
): void {
  context.save()
  context.globalAlpha = opacity * (mark.opacity ?? 1)
  if (mark.kind === 'text') drawText(context, mark, palette)
  else {
    const path = outline(mark)
    if (mark.fill !== undefined && mark.fill !== 'none') {
      context.fillStyle = palette(mark.fill)
      context.fill(path)
    }
    if (mark.stroke !== undefined && mark.stroke !== 'none') {
      context.strokeStyle = palette(mark.stroke)
      context.lineWidth = mark.line ?? 1
      context.lineCap = mark.round ? 'round' : 'butt'
      context.setLineDash(mark.dash ? [...mark.dash] : [])
      context.stroke(path)
    }
  }
  context.restore()
}
