/** Who may ask how much: signalling bytes per connection, joins per address. */
import type { IncomingMessage } from 'node:http'
import { isIPv6 } from 'node:net'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import type { ServerConfig } from './config.ts'

/** Every event costs this much more than its own bytes: many small events are work too. */
const eventBytes = 256

export interface Budgets {
  /** False when the connection has used up its share; `isFirst` at the first refusal of a period. */
  event(connection: string, bytes: number): Promise<{ ok: boolean; isFirst: boolean }>
  join(address: string): Promise<boolean>
}

/**
 * A peer that opens 127 links with 30 candidates each, all within 10 s, sends about 3 MB by this count;
 * the default budget is 4 MB.
 */
export function createBudgets(config: ServerConfig): Budgets {
  const events = new RateLimiterMemory({ points: config.eventBytesPer10s, duration: 10 })
  const joins = new RateLimiterMemory({ points: config.joinsPerMinute, duration: 60 })
  return {
    async event(connection, bytes) {
      const cost = eventBytes + bytes
      try {
        await events.consume(connection, cost)
        return { ok: true, isFirst: false }
      } catch (refusal) {
        const consumed = (refusal as { consumedPoints?: number }).consumedPoints ?? 0
        return { ok: false, isFirst: consumed - cost <= config.eventBytesPer10s }
      }
    },
    async join(address) {
      try {
        await joins.consume(address)
        return true
      } catch {
        return false
      }
    },
  }
}

/**
 * The address that joins are counted by: of the connection, or, behind the operator's own proxy, the last one in
 * X-Forwarded-For (the only one that this proxy vouches for). An IPv6 host owns a /64, so that is what counts.
 */
export function addressOf(request: IncomingMessage, trustProxy: boolean): string {
  const forwarded = trustProxy ? request.headers['x-forwarded-for'] : undefined
  const chain = Array.isArray(forwarded) ? forwarded.join(',') : forwarded
  const address = chain?.split(',').at(-1)?.trim() || (request.socket.remoteAddress ?? 'unknown')
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
  return isIPv6(plain) ? networkOf(plain) : plain
}

function networkOf(address: string): string {
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length
  const groups = [...left, ...Array<string>(Math.max(0, zeros)).fill('0'), ...right]
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}
