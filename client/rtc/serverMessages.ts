/** What the signalling server says, parsed: the address that somebody typed need not be one of ours. */
import * as v from 'valibot'
import { ProtocolError, type RefusalCode } from '../../shared/base/errors.ts'
import type { RemovalCause, View } from '../../shared/membership/types.ts'
import type { IceServer, JoinReply } from '../../shared/signaling/events.ts'
import { limits } from '../../shared/signaling/limits.ts'

const text = v.pipe(v.string(), v.maxLength(1000))
const id = v.pipe(v.string(), v.minLength(1), v.maxLength(100))
const code: v.GenericSchema<RefusalCode> = v.picklist([
  'RATE_LIMITED',
  'ROOM_CLOSED',
  'ROOM_FULL',
  'ROOM_LOCKED',
  'ROOM_UNKNOWN',
  'PROTOCOL',
  'VERSION_MISMATCH',
])
const cause: v.GenericSchema<RemovalCause> = v.picklist([
  'kicked',
  'closed',
  'replaced',
  'lost',
  'unreachable',
])

export const viewSchema: v.GenericSchema<View> = v.object({
  epoch: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(limits.epoch)),
  members: v.pipe(
    v.array(v.object({ peerId: id, name: text, kind: text })),
    v.maxLength(limits.peersPerRoom),
  ),
  blocked: v.exactOptional(v.array(v.object({ a: id, b: id, reason: text }))),
})

const iceServerSchema: v.GenericSchema<IceServer> = v.object({
  urls: v.union([text, v.array(text)]),
  username: v.exactOptional(text),
  credential: v.exactOptional(text),
})

export const joinReplySchema: v.GenericSchema<JoinReply> = v.variant('ok', [
  v.object({
    ok: v.literal(true),
    peerId: id,
    token: id,
    room: text,
    name: text,
    view: viewSchema,
    host: v.boolean(),
    stunPort: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65_535))),
    iceServers: v.array(iceServerSchema),
  }),
  v.object({ ok: v.literal(false), code, message: text }),
])

export const signalSchema = v.object({ from: id, data: v.unknown() })
export const removedSchema = v.object({ cause, code, message: text })
export const noticeSchema = v.object({ message: text })
export const refusalSchema = v.object({ code, message: text })

/** @throws {ProtocolError} */
export function parseServerMessage<T>(schema: v.GenericSchema<T>, event: string, data: unknown): T {
  const result = v.safeParse(schema, data)
  if (result.success) return result.output
  const [issue] = result.issues
  throw new ProtocolError(`${event} of the server: ${v.getDotPath(issue) ?? 'data'}: ${issue.message}`)
}
