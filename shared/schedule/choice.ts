/** An algorithm named in a setting of another one, with its own settings: `ring`, or `butterfly:r=1,group=xor`. */
import { ArgumentError } from '../base/errors.ts'
import { completeSettings } from './build.ts'
import type { Algorithm, Settings } from './types.ts'

export interface Chosen {
  readonly algorithm: Algorithm
  /** Complete: defaults filled in. */
  readonly settings: Settings
}

export const namesOf = (algorithms: readonly Algorithm[]): string[] => [
  ...new Set(algorithms.map((algorithm) => algorithm.name)),
]

/**
 * The candidate that `text` names, for `size` ranks.
 * @returns a sentence that says what is wrong, when there is none or it refuses.
 */
export function chooseAlgorithm(
  candidates: readonly Algorithm[],
  text: string,
  size: number,
): Chosen | string {
  const [name, list] = text.split(':', 2)
  const algorithm = candidates.find((candidate) => candidate.name === name)
  if (!algorithm) return `there is no "${name}" here, only ${namesOf(candidates).join(', ') || 'nothing'}`
  const given: Record<string, number | string> = {}
  for (const pair of list ? list.split(',') : []) {
    const [key, value] = pair.split('=', 2)
    if (!key || !value) return `settings are written as ${name}:key=value,key=value, not ${text}`
    given[key] = Number.isNaN(Number(value)) ? value : Number(value)
  }
  try {
    return { algorithm, settings: completeSettings(algorithm, size, given) }
  } catch (error) {
    if (error instanceof ArgumentError) return error.message
    throw error
  }
}
