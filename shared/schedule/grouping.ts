/** Groups of ranks as people write them: `2+3`, sizes of consecutive groups, or `0,1|2,3,4`, their members. */

import { ArgumentError } from '../base/errors.ts'

const refusal = (reason: string) => new ArgumentError('groups', reason)

/** Most that is read of a foreign setting. */
const LIMIT = 100_000

/**
 * Members of each group, in order.
 * @throws ArgumentError when that is not a partition of the ranks 0 .. size - 1.
 */
export function parseGroups(text: string, size: number): number[][] {
  if (text.length > LIMIT || !/^\d+(?:\+\d+)*$|^\d+(?:[,|]\d+)*$/.test(text)) {
    throw refusal('groups are written as sizes, like 2+3, or as members, like 0,1|2,3,4')
  }
  const groups = text.includes(',') || text.includes('|') ? fromMembers(text) : fromSizes(text, size)
  const members = groups.flat().sort((a, b) => a - b)
  if (groups.some((group) => group.length === 0)) throw refusal('a group has no member')
  if (members.length !== size || members.some((member, rank) => member !== rank)) {
    throw refusal(`the groups ${text} do not have each of the ${size} ranks exactly once`)
  }
  return groups
}

const fromMembers = (text: string): number[][] => text.split('|').map((group) => group.split(',').map(Number))

function fromSizes(text: string, size: number): number[][] {
  let first = 0
  return text.split('+').map((length) => {
    const members = Array.from({ length: Math.min(Number(length), size + 1) }, (_, index) => first + index)
    first += members.length
    return members
  })
}

/** `count` consecutive groups, as equal as they can be; the larger ones first. */
export function evenGroups(size: number, count: number): string {
  return Array.from({ length: count }, (_, index) => Math.floor((size + count - 1 - index) / count)).join('+')
}
