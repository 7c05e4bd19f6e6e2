import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { hueCount, rankHue, rankOutline } from '../../../../client/page/styles/rankHue.ts'
import { contrast, distance, luminance, parseHex, type Rgb, visions } from './color.ts'

const css = readFileSync(new URL('../../../../client/page/styles/tokens.css', import.meta.url), 'utf8')
const themes = ['light', 'dark'] as const

function token(name: string, theme: (typeof themes)[number]): Rgb {
  const value = new RegExp(`--${name}: (?:light-dark\\((#\\w{6}), (#\\w{6})\\)|(#\\w{6}));`).exec(css)
  const hex = value?.[3] ?? value?.[theme === 'light' ? 1 : 2]
  if (hex === undefined) throw new Error(`no colour --${name}`)
  return parseHex(hex)
}
const hues = Array.from({ length: hueCount }, (_, hue) => hue)

describe.each(themes)('palette, %s', (theme) => {
  const color = (name: string) => token(name, theme)

  it.each(['ground', 'panel', 'sunk'])('text reads on %s', (surface) => {
    for (const text of ['ink', 'ink-2', 'ink-3', 'accent', 'ok', 'warn', 'bad'])
      expect(contrast(color(text), color(surface)), text).toBeGreaterThanOrEqual(4.5)
  })

  it('rules and hues stand out from the ground by 3 to 1', () => {
    for (const surface of ['ground', 'panel'])
      for (const mark of ['rule', ...hues.map((hue) => `rank-${hue}`)])
        expect(contrast(color(mark), color(surface)), `${mark} on ${surface}`).toBeGreaterThanOrEqual(3)
  })

  it('text on the accent and on every hue reads, and is the better of black and white', () => {
    expect(contrast(color('on-accent'), color('accent'))).toBeGreaterThanOrEqual(4.5)
    for (const hue of hues) {
      const ground = color(`rank-${hue}`)
      const best =
        contrast([0, 0, 0], ground) > contrast([255, 255, 255], ground) ? [0, 0, 0] : [255, 255, 255]
      expect(color(`on-rank-${hue}`), `on-rank-${hue}`).toEqual(best)
      expect(contrast(color(`on-rank-${hue}`), ground), `on-rank-${hue}`).toBeGreaterThanOrEqual(4.5)
    }
  })

  it.each(Object.keys(visions))('two hues are never confused: %s', (vision) => {
    for (const a of hues)
      for (const b of hues.slice(a + 1))
        expect(
          distance(color(`rank-${a}`), color(`rank-${b}`), visions[vision]!),
          `${a} ${b}`,
        ).toBeGreaterThanOrEqual(20)
  })
})

describe('sequential ramp', () => {
  it('grows in luminance, and its text (white below 0.18, else black) reads', () => {
    const ramp = [0, 1, 2, 3, 4, 5].map((step) => token(`seq-${step}`, 'light'))
    const values = ramp.map(luminance)
    expect(values).toEqual([...values].sort((a, b) => a - b))
    for (const ground of ramp) {
      const text: Rgb = luminance(ground) < 0.18 ? [255, 255, 255] : [0, 0, 0]
      expect(contrast(text, ground)).toBeGreaterThanOrEqual(4.5)
    }
  })
})

describe('rank chips', () => {
  it('differ in hue or outline for 32 ranks', () => {
    const looks = new Set(Array.from({ length: 32 }, (_, rank) => rankHue(rank) + rankOutline(rank)))
    expect(looks.size).toBe(32)
  })
})
