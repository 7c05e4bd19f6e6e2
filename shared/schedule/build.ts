import { ArgumentError } from '../base/errors.ts'
import type { Algorithm, RankSchedule, Schedule, Settings } from './types.ts'

/**
 * Settings with the default of every parameter that is not given.
 * @throws ArgumentError when a setting is unknown or the algorithm refuses the size or a value.
 */
export function completeSettings(algorithm: Algorithm, size: number, settings: Settings = {}): Settings {
  if (!Number.isSafeInteger(size) || size < 1)
    throw new ArgumentError('size', `size must be a whole number of ranks, at least 1, not ${size}`)
  const names = algorithm.parameters.map((parameter) => parameter.name)
  for (const name of Object.keys(settings))
    if (!names.includes(name))
      throw new ArgumentError(
        name,
        `${algorithm.name} has no setting "${name}"; ${names.length > 0 ? `it has ${names.join(', ')}` : 'it has none'}`,
      )
  const complete: Record<string, number | string> = {}
  for (const parameter of algorithm.parameters) {
    const value = settings[parameter.name] ?? parameter.values(size)[0]
    if (value !== undefined) complete[parameter.name] = value
  }
  const reason = algorithm.refuses(size, complete)
  if (reason !== undefined)
    throw new ArgumentError('settings', `${algorithm.name} cannot be used with ${size} ranks: ${reason}`)
  return complete
}

/**
 * The schedule of all ranks. Settings that are not given take their defaults.
 * @throws ArgumentError as `completeSettings` does.
 */
export function buildSchedule(algorithm: Algorithm, size: number, settings: Settings = {}): Schedule {
  const complete = completeSettings(algorithm, size, settings)
  const ranks = Array.from({ length: size }, (_, rank) => algorithm.part(size, complete, rank))
  return { ...algorithm.shape(size, complete), ranks }
}

/** One rank's part alone, in O(its own sends). */
export function buildPart(
  algorithm: Algorithm,
  size: number,
  settings: Settings,
  rank: number,
): RankSchedule {
  const complete = completeSettings(algorithm, size, settings)
  if (!Number.isSafeInteger(rank) || rank < 0 || rank >= size)
    throw new ArgumentError('rank', `rank must be 0 .. ${size - 1}, not ${rank}`)
  return algorithm.part(size, complete, rank)
}
