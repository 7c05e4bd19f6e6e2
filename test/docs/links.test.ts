/** What the guides point at is there: files, headings, and the paths that they name in code type. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { anchorsOf, guides, linksOf, readGuide, root } from './markdown.ts'

const isForeign = (target: string) => /^[a-z]+:/i.test(target)

describe('links', () => {
  for (const file of guides()) {
    const text = readGuide(file)
    const targets = linksOf(text).filter((target) => !isForeign(target))
    for (const target of targets)
      it(`${file} -> ${target}`, () => {
        const [path = '', anchor] = target.split('#')
        const goal = path === '' ? file : join(dirname(file), path)
        expect(existsSync(join(root, goal)), `${goal} does not exist`).toBe(true)
        if (anchor) expect([...anchorsOf(readGuide(goal))]).toContain(anchor)
      })

    it(`${file} names only paths that exist`, () => {
      const named = [...text.matchAll(/`((?:shared|server|client|test|docs|\.ci)\/[\w./-]*)`/g)].map(
        (m) => m[1]!,
      )
      expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([])
    })
  }
})
