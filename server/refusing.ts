/** How a client learns that a request broke a rule: in the reply to a join, else by the event `refused`. */
import * as v from 'valibot'
import type { RefusalCode } from '../shared/base/errors.ts'
import type { JoinReply } from '../shared/signaling/events.ts'
import { limits } from '../shared/signaling/limits.ts'
import type { Metrics } from './metrics.ts'
import type { ClientSocket } from './socketTypes.ts'

export class Refusal extends Error {
  readonly code: RefusalCode

  constructor(code: RefusalCode, message: string) {
    super(message)
    this.code = code
  }
}

export function parse<Schema extends v.GenericSchema>(schema: Schema, event: string, raw: unknown) {
  const result = v.safeParse(schema, raw)
  if (result.success) return result.output
  const [issue] = result.issues
  const path = v.getDotPath(issue)
  const where = path === null ? event : `${event}.${path}`
  throw new Refusal('PROTOCOL', `${where}: ${issue.message}`.slice(0, limits.reasonLength))
}

/** The function that socket.io puts behind the arguments when the client waits for an answer. */
export function replyIn(args: readonly unknown[]): ((reply: JoinReply) => void) | undefined {
  const last = args.at(-1)
  return typeof last === 'function' ? (last as (reply: JoinReply) => void) : undefined
}

/** Tells the client: by the reply to its join when there is one, else by the event `refused`. */
export function refuse(
  socket: ClientSocket,
  metrics: Metrics,
  { code, message }: Refusal,
  reply?: (reply: JoinReply) => void,
): void {
  metrics.refusals.inc({ code })
  if (!reply) {
    socket.emit('refused', { code, message })
    return
  }
  metrics.joins.inc({ result: code })
  if (socket.data.reply === reply) delete socket.data.reply
  reply({ ok: false, code, message })
}
