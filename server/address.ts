/** Internet addresses as numbers and as keys. */
import type { IncomingMessage } from 'node:http'
import { isIPv4, isIPv6 } from 'node:net'

/** The eight 16-bit groups of an IPv6 address in any notation, without its zone. */
export function ipv6Groups(address: string): readonly number[] {
  const plain = (address.split('%')[0] ?? '').replace(
    /(\d+)\.(\d+)\.(\d+)\.(\d+)$/,
    (_, a, b, c, d) => `${(a * 256 + +b).toString(16)}:${(c * 256 + +d).toString(16)}`,
  )
  const [left, right] = plain.split('::').map((part) => (part === '' ? [] : part.split(':')))
  const head = left ?? []
  const tail = right ?? []
  const zeros = Array<string>(Math.max(0, 8 - head.length - tail.length)).fill('0')
  return [...head, ...zeros, ...tail].map((group) => Number.parseInt(group, 16))
}

/** A socket that serves both families shows an IPv4 peer as ::ffff:a.b.c.d. */
export function unmapped(address: string): string {
  const plain = address.replace(/^::ffff:/i, '')
  return isIPv4(plain) ? plain : address
}

/**
 * What joins are counted by: the address of the connection, or, behind the operator's own proxy, the last one in
 * X-Forwarded-For (the only one that this proxy vouches for). An IPv6 host owns a /64, so that is what counts.
 */
export function networkOf(request: IncomingMessage, trustProxy: boolean): string {
  const forwarded = trustProxy ? request.headers['x-forwarded-for'] : undefined
  const nearest = [forwarded ?? ''].flat().join(',').split(',').at(-1)?.trim()
  const address = unmapped(nearest || (request.socket.remoteAddress ?? 'unknown'))
  if (!isIPv6(address)) return address
  const groups = ipv6Groups(address).slice(0, 4)
  return `${groups.map((group) => group.toString(16)).join(':')}::/64`
}
