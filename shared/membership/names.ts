/** Names of members as people read them: cleaned, unique in a room, made up when empty. */

const adjectives =
  'Amber Bold Brave Bright Calm Clever Cosy Daring Eager Fair Gentle Glad Happy Honest Jolly Keen Kind Lively Lucky Merry Mighty Neat Nimble Proud Quick Quiet Shiny Sunny Swift Tidy Warm Witty'.split(
    ' ',
  )
const animals =
  'Badger Beaver Bison Crane Dolphin Falcon Ferret Finch Gecko Hare Heron Ibis Jackdaw Koala Lark Lemur Lynx Marten Newt Otter Owl Panda Puffin Raven Robin Salmon Seal Swan Tapir Toucan Turtle Wren'.split(
    ' ',
  )

/** 32 x 32 friendly names; `seed` is any non-negative integer. */
export function madeUpName(seed: number): string {
  const pick = seed % (adjectives.length * animals.length)
  return `${adjectives[pick % adjectives.length]} ${animals[Math.floor(pick / adjectives.length)]}`
}

/**
 * One line of visible text of at most `limit` UTF-16 units. Control characters, invisible characters and marks that
 * turn the direction of writing are dropped (a name must not be able to imitate another or to break a line);
 * at most two combining marks stay on one letter.
 */
export function cleanName(raw: string, limit: number): string {
  const visible = raw
    .normalize('NFC')
    .replace(/\s+/gu, ' ')
    .replace(/[\p{C}\u115f\u1160\u3164\uffa0\u2800]/gu, '')
    .replace(/(\p{M}{2})\p{M}+/gu, '$1')
    .replace(/ +/g, ' ')
    .trim()
  return cut(visible, limit)
}

/** `name`, or the first of "name 2", "name 3" ... that is not in `taken` (without regard to case). */
export function uniqueName(name: string, taken: readonly string[], limit: number): string {
  const used = new Set(taken.map(fold))
  if (!used.has(fold(name))) return name
  for (let count = 2; ; count++) {
    const suffix = ` ${count}`
    const candidate = cut(name, limit - suffix.length) + suffix
    if (!used.has(fold(candidate))) return candidate
  }
}

function fold(name: string): string {
  return name.normalize('NFKC').toLowerCase()
}

/** Whole code points only: half a surrogate pair would show as a box. */
function cut(text: string, limit: number): string {
  let out = ''
  for (const point of text) {
    if (out.length + point.length > limit) break
    out += point
  }
  return out.trim()
}
