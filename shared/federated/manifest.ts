/**
 * What ranks must agree on before their data meet: names, types, shapes and policies. Ranks compare a hash of it; only when hashes differ
 * do they tell each other the text, to say what differs and where.
 */
import { MismatchError, type PeerName } from '../base/errors.ts'
import { type Entry, typeOfValues } from './tensors.ts'

/** One line per thing: `name|value`. */
export function manifestOf(
  entries: readonly Entry[],
  settings: Readonly<Record<string, unknown>> = {},
): string {
  const lines = entries.map(({ name, data, shape, policy }) => {
    const shown = typeof policy === 'string' ? policy : `variance of ${policy.varianceOf}`
    return `${JSON.stringify(name)}|${typeOfValues(data)} ${shape.join('x')} ${shown}`
  })
  const rest = Object.entries(settings).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}|${JSON.stringify(value, sortKeys)}`],
  )
  return [...rest.sort(), ...lines].join('\n')
}

/** The order in which somebody has written an object down does not matter. */
const sortKeys = (_: string, value: unknown) =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value

const parse = (manifest: string) =>
  new Map(
    manifest.split('\n').map((line) => {
      const at = line.lastIndexOf('|')
      return [line.slice(0, at), line.slice(at + 1)] as const
    }),
  )

export interface RankManifest {
  readonly peer: PeerName
  readonly text: string
}

/** Differences shown in a message: beyond these it says how many more there are. */
const maxShown = 8

/** What differs, against the manifest that most ranks have (of equally many: the lowest rank's). */
export function manifestError(what: string, manifests: readonly RankManifest[]): MismatchError {
  const count = (text: string) => manifests.filter((manifest) => manifest.text === text).length
  const most = Math.max(...manifests.map(({ text }) => count(text)))
  const usual = manifests.find(({ text }) => count(text) === most)!
  const expected = parse(usual.text)
  const byRank: Record<number, string> = {}
  const found: string[] = []
  for (const { peer, text } of manifests) {
    const mine = parse(text)
    const differing = [...new Set([...expected.keys(), ...mine.keys()])].flatMap((name) => {
      const [want, have] = [expected.get(name), mine.get(name)]
      if (want === have) return []
      if (have === undefined) return [`${name} is missing (${want})`]
      if (want === undefined) return [`${name} is extra (${have})`]
      return [`${name} is ${have}, not ${want}`]
    })
    byRank[peer.rank] = differing.length === 0 ? 'as most' : differing.join('; ')
    found.push(...differing.map((difference) => `${peer.name} (rank ${peer.rank}): ${difference}`))
  }
  const shown = found.slice(0, maxShown).join('; ')
  const rest = found.length > maxShown ? `; and ${found.length - maxShown} more` : ''
  return new MismatchError(`The ranks have different ${what}. ${shown}${rest}. Nothing was changed.`, {
    field: what,
    byRank,
  })
}
