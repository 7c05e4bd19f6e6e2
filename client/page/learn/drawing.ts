/** From what somebody draws to a picture like those that the models know: 28 x 28, the digit 20 pixels large, its weight in the middle. */

export const side = 28
const digitSide = 20

export interface Ink {
  /** 0 .. 1, in rows. */
  readonly pixels: Float32Array
  readonly width: number
  readonly height: number
}

interface Box {
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}

function boxOf({ pixels, width }: Ink): Box | undefined {
  let [left, top, right, bottom] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, -1, -1]
  for (const [at, ink] of pixels.entries()) {
    if (ink < 0.05) continue
    const [x, y] = [at % width, Math.floor(at / width)]
    left = Math.min(left, x)
    right = Math.max(right, x + 1)
    top = Math.min(top, y)
    bottom = Math.max(bottom, y + 1)
  }
  return right < 0 ? undefined : { left, top, right, bottom }
}

/** Mean ink of a rectangle of the drawing, in parts of pixels outside counted as empty. */
function meanInk({ pixels, width, height }: Ink, x0: number, y0: number, x1: number, y1: number): number {
  let sum = 0
  for (let y = Math.max(0, Math.floor(y0)); y < Math.min(height, y1); y++)
    for (let x = Math.max(0, Math.floor(x0)); x < Math.min(width, x1); x++) {
      const [dx, dy] = [Math.min(x + 1, x1) - Math.max(x, x0), Math.min(y + 1, y1) - Math.max(y, y0)]
      sum += pixels[y * width + x]! * dx * dy
    }
  return sum / ((x1 - x0) * (y1 - y0))
}

/** As the MNIST database was made (LeCun et al. 1998, section III-A). Undefined: nothing is drawn. */
export function digitOf(ink: Ink): Float32Array | undefined {
  const box = boxOf(ink)
  if (!box) return undefined
  const scale = Math.max(box.right - box.left, box.bottom - box.top) / digitSide
  const sample = (dx: number, dy: number) => {
    // The place of pixel (0, 0) in the drawing.
    const [x0, y0] = [
      (box.left + box.right) / 2 - (scale * side) / 2 - dx * scale,
      (box.top + box.bottom) / 2 - (scale * side) / 2 - dy * scale,
    ]
    return Float32Array.from({ length: side * side }, (_, at) => {
      const [x, y] = [x0 + (at % side) * scale, y0 + Math.floor(at / side) * scale]
      return meanInk(ink, x, y, x + scale, y + scale)
    })
  }
  const centred = sample(0, 0)
  let [weight, x, y] = [0, 0, 0]
  for (const [at, value] of centred.entries()) {
    weight += value
    x += value * ((at % side) + 0.5)
    y += value * (Math.floor(at / side) + 0.5)
  }
  if (weight === 0) return undefined
  return sample(Math.round(side / 2 - x / weight), Math.round(side / 2 - y / weight))
}
