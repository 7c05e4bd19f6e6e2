/** Whether a schedule keeps to the links that a large group has (schedule/links.ts). */
import { buildPart } from '../schedule/build.ts'
import { linksOf } from '../schedule/links.ts'
import type { Algorithm, Settings } from '../schedule/types.ts'

/** To ask takes the parts of all ranks: answers are kept. */
const answers = new WeakMap<Algorithm, Map<string, boolean>>()

/** No rank sends to one that it has no link to. */
export function keepsToLinks(algorithm: Algorithm, size: number, settings: Settings): boolean {
  const known = answers.get(algorithm) ?? new Map<string, boolean>()
  answers.set(algorithm, known)
  const key = `${size} ${JSON.stringify(settings)}`
  const answer = known.get(key) ?? looksAt(algorithm, size, settings)
  known.set(key, answer)
  return answer
}

/**
 * Where all ranks do the same, only with others, some stand for all: a link that is missing after all is opened when an op needs it.
 */
const lookedAt = 8

function looksAt(algorithm: Algorithm, size: number, settings: Settings): boolean {
  const stride = algorithm.alike ? Math.max(1, Math.floor(size / lookedAt)) : 1
  for (let rank = 0; rank < size; rank += stride) {
    const links = new Set(linksOf(size, rank, 0))
    for (const { sends } of buildPart(algorithm, size, settings, rank).steps)
      if (sends.some(({ to }) => !links.has(to))) return false
  }
  return true
}
