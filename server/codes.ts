/** Room codes that people read out, identities, and the proof that somebody made a room. */
import { createHmac, randomInt, timingSafeEqual } from 'node:crypto'
import { customAlphabet, nanoid } from 'nanoid'

/** Without 0 o, 1 i l, u v: what is read out or copied from a projector must not be mistaken. */
export const codeAlphabet = '23456789abcdefghjkmnpqrstwxyz'

const triple = customAlphabet(codeAlphabet, 3)

/** A code such as k7f-2q9 that is not in use: 29^6, about 600 million. */
export function freeCode(isUsed: (code: string) => boolean): string {
  for (;;) {
    const code = `${triple()}-${triple()}`
    if (!isUsed(code)) return code
  }
}

export function freshIds(): { peerId: string; token: string; seed: number } {
  return { peerId: nanoid(12), token: nanoid(), seed: randomInt(2 ** 31) }
}

/**
 * The token of the peer that made the room carries a signature over the room, so that a server which was restarted with
 * the same secret still knows its hosts without having stored anything.
 */
export function hostToken(secret: string, room: string): string {
  const random = nanoid(16)
  return random + sign(secret, room, random)
}

export function isHostToken(secret: string, room: string, token: string): boolean {
  const expected = Buffer.from(sign(secret, room, token.slice(0, 16)))
  const given = Buffer.from(token.slice(16))
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/** 20 characters of base64url: 120 bits. */
function sign(secret: string, room: string, random: string): string {
  return createHmac('sha256', secret).update(`${room} ${random}`).digest('base64url').slice(0, 20)
}
