import type { Algorithm, Settings } from '../../shared/schedule/types.ts'

/**
 * What else the parameters allow besides the variants that make sense: every combination of their values (any root, any
 * number of ports, any window), `most` of them evenly spread.
 */
export function combinations(algorithm: Algorithm, size: number, most: number): Settings[] {
  const lists = algorithm.parameters.map(({ name, values }) => ({ name, values: values(size) }))
  const count = lists.reduce((product, { values }) => product * values.length, 1)
  const all = spread([...Array(Math.min(count, 1e5)).keys()], most).map((index) => {
    let rest = count > 1e5 ? Math.floor((index * count) / 1e5) : index
    const settings = lists.map(({ name, values }) => {
      const value = values[rest % values.length]!
      rest = Math.floor(rest / values.length)
      return [name, value] as const
    })
    return Object.fromEntries(settings)
  })
  return all.filter((settings) => algorithm.refuses(size, settings) === undefined)
}

/** At most `most` entries, evenly spread, with the first and the last. */
export function spread<T>(entries: readonly T[], most: number): T[] {
  if (entries.length <= most) return [...entries]
  return Array.from(
    { length: most },
    (_, at) => entries[Math.round((at * (entries.length - 1)) / (most - 1))]!,
  )
}

/** `butterfly {"r":1}` with 7 ranks: what a failing case is called. */
export function caseName({ collective, name }: Algorithm, size: number, settings: Settings): string {
  return `${collective} ${name} ${JSON.stringify(settings)} with ${size} ranks`
}
