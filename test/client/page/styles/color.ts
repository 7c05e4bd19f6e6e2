/** Colour arithmetic for the palette test: contrast (WCAG 2), CIE Lab and simulated colour vision (Machado 2009, severity 1). */
export type Rgb = readonly [number, number, number]

export function parseHex(hex: string): Rgb {
  const value = Number.parseInt(hex.slice(1), 16)
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255]
}

function linear([r, g, b]: Rgb): Rgb {
  const one = (c: number) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4)
  return [one(r), one(g), one(b)]
}

export function luminance(color: Rgb): number {
  const [r, g, b] = linear(color)
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

export function contrast(a: Rgb, b: Rgb): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number]
  return (high + 0.05) / (low + 0.05)
}

type Matrix = readonly [Rgb, Rgb, Rgb]
const identity: Matrix = [
  [1, 0, 0],
  [0, 1, 0],
  [0, 0, 1],
]
export const visions: Readonly<Record<string, Matrix>> = {
  normal: identity,
  protan: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deutan: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritan: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
}

/** CIE Lab (D65) of the colour as seen with `vision`. */
function lab(color: Rgb, vision: Matrix): Rgb {
  const source = linear(color)
  const seen = vision.map((row) =>
    Math.min(1, Math.max(0, row[0] * source[0] + row[1] * source[1] + row[2] * source[2])),
  ) as unknown as Rgb
  const f = (t: number) => (t > (6 / 29) ** 3 ? Math.cbrt(t) : t / (3 * (6 / 29) ** 2) + 4 / 29)
  const x = f((0.4124564 * seen[0] + 0.3575761 * seen[1] + 0.1804375 * seen[2]) / 0.95047)
  const y = f(0.2126729 * seen[0] + 0.7151522 * seen[1] + 0.072175 * seen[2])
  const z = f((0.0193339 * seen[0] + 0.119192 * seen[1] + 0.9503041 * seen[2]) / 1.08883)
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)]
}

/** Delta E 1976 between two colours as seen with `vision`. */
export function distance(a: Rgb, b: Rgb, vision: Matrix): number {
  const [p, q] = [lab(a, vision), lab(b, vision)]
  return Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2])
}
