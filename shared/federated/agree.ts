/** What all ranks must have alike, before data move and after. */
import { MismatchError } from '../base/errors.ts'
import type { Group, Report } from '../collective/types.ts'
import { hashText } from '../wire/hash.ts'
import { manifestError } from './manifest.ts'
import { type CallOptions, gatherBytes, gatherTexts, type Meeting, meet, type Place } from './meeting.ts'

const wordsOf = (hash: string) => [hash.slice(0, 8), hash.slice(8)].map((half) => Number.parseInt(half, 16))

/**
 * A meeting of ranks that must agree on a manifest, each with some numbers of its own. When the manifests differ, every rank gets the same
 * MismatchError, which lists what differs on which rank.
 */
export async function meetAbout(
  group: Group,
  about: { readonly name: string; readonly what: string; readonly manifest: string },
  numbers: readonly number[],
  call: CallOptions,
  within?: Place,
): Promise<Meeting> {
  const record = new Float64Array([...wordsOf(hashText(about.manifest)), ...numbers])
  const meeting = await meet(group, record, { ...call, name: about.name }, within)
  const [first] = meeting.present
  if (meeting.present.some(({ record: [a, b] }) => a !== first!.record[0] || b !== first!.record[1]))
    throw manifestError(
      about.what,
      await gatherTexts(group, about.manifest, meeting, { ...call, name: `${about.name}: ${about.what}` }),
    )
  return {
    ...meeting,
    present: meeting.present.map(({ peer, record: row }) => ({ peer, record: row.subarray(2) })),
  }
}

/** Ends on every rank with the knowledge that all have this hash. A difference is a MismatchError on all of them. */
export async function agreeOnHash(
  group: Group,
  hash: string,
  place: Place,
  call: CallOptions,
): Promise<Report> {
  const bytes = new Uint8Array(Uint32Array.from(wordsOf(hash)).buffer)
  const { present, report } = await gatherBytes(group, bytes, place, { ...call, name: 'hash of the result' })
  const found = present.map(({ peer, bytes: row }) => ({
    peer,
    hash: [...new Uint32Array(row.slice().buffer)].map((half) => half.toString(16).padStart(8, '0')).join(''),
  }))
  if (found.every((other) => other.hash === found[0]!.hash)) return report
  const list = found.map(({ peer, hash: other }) => `${peer.name} (rank ${peer.rank}): ${other}`).join(', ')
  throw new MismatchError(`The ranks ended with different results. ${list}.`, {
    field: 'hash',
    byRank: Object.fromEntries(found.map(({ peer, hash: other }) => [peer.rank, other])),
  })
}
