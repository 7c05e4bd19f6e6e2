/** Who may ask how much: signalling bytes per connection, joins per address. */
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
