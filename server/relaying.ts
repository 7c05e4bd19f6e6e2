/** Signals from member to member of one room; what is in them is none of the server's business. */
import { signalSchema } from '../shared/signaling/events.ts'
import { limits } from '../shared/signaling/limits.ts'
import type { Metrics } from './metrics.ts'
import { parse, Refusal } from './refusing.ts'
import type { Rooms } from './rooms.ts'
import type { ClientSocket, Place } from './socketTypes.ts'

export interface RelayingParts {
  readonly rooms: Rooms
  readonly metrics: Metrics
  socketOf(connection: string): ClientSocket | undefined
}

/** The sender is the one that the connection belongs to, whatever the message says. */
export function relay(
  { rooms, metrics, socketOf }: RelayingParts,
  { code, peerId }: Place,
  raw: unknown,
): void {
  const { to, data } = parse(signalSchema, 'signal', raw)
  const bytes = Buffer.byteLength(JSON.stringify(data) ?? '')
  if (bytes > limits.signalBytes) {
    throw new Refusal('PROTOCOL', `signal.data: ${bytes} bytes are more than ${limits.signalBytes}`)
  }
  // A signal for somebody who has just left is no mistake of the sender.
  const target = rooms.get(code)?.seats.find((seat) => seat.peerId === to)
  if (!target?.connection || to === peerId) return
  metrics.signals.inc({ type: typeOf(data) })
  metrics.signalBytes.inc(bytes)
  socketOf(target.connection)?.emit('signal', { from: peerId, data })
}

/** As the clients name them: a closed list, since labels come from outside. */
const types = ['offer', 'answer', 'candidate', 'again']

function typeOf(data: unknown): string {
  const type = typeof data === 'object' && data !== null && 'type' in data ? data.type : undefined
  return types.find((known) => known === type) ?? 'other'
}
