/** An algorithm named in a setting of another one, with its own settings: `ring`, or `butterfly:r=1,group=xor`. */
import { ArgumentError } from '../base/errors.ts'
import { completeSettings } from './build.ts'
import type { Algorithm, RankSchedule, ScheduleShape } from './types.ts'

/** An algorithm with its settings, for a number of ranks. */
export interface Chosen {
  readonly algorithm: Algorithm
  /** Its settings are complete. */
  readonly shape: ScheduleShape
  part(rank: number): RankSchedule
}

export const namesOf = (algorithms: readonly Algorithm[]): string[] => [
  ...new Set(algorithms.map((algorithm) => algorithm.name)),
]

/**
 * The candidate that `text` names, for `size` ranks.
 * @throws ArgumentError when there is none, or it refuses the size or the settings.
 */
export function chooseAlgorithm(candidates: readonly Algorithm[], text: string, size: number): Chosen {
  const [name, list] = text.split(':', 2)
  const algorithm = candidates.find((candidate) => candidate.name === name)
  if (!algorithm) {
    const names = namesOf(candidates).join(', ') || 'nothing'
    throw new ArgumentError('settings', `there is no "${name}" here, only ${names}`)
  }
  const given: Record<string, number | string> = {}
  for (const pair of list ? list.split(',') : []) {
    const [key, value] = pair.split('=', 2)
    if (!key || !value) {
      throw new ArgumentError('settings', `settings are written as ${name}:key=value,key=value, not ${text}`)
    }
    given[key] = Number.isNaN(Number(value)) ? value : Number(value)
  }
  const settings = completeSettings(algorithm, size, given)
  return {
    algorithm,
    shape: algorithm.shape(size, settings),
    part: (rank) => algorithm.part(size, settings, rank),
  }
}
