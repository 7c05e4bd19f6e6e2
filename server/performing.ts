/** Does on the sockets what a room has decided. */
import type { Clock } from '../shared/base/clock.ts'
import { isAlive } from './challenge.ts'
import type { ServerConfig } from './config.ts'
import { iceServersFor } from './ice.ts'
import type { Metrics } from './metrics.ts'
import { Refusal, refuse } from './refusing.ts'
import type { EdgeEffect } from './rooms.ts'
import type { ClientSocket, SocketServer } from './socketTypes.ts'

export interface PerformingParts {
  readonly config: ServerConfig
  readonly clock: Clock
  readonly metrics: Metrics
  readonly io: SocketServer
  stunPort(): number | undefined
  socketOf(connection: string): ClientSocket | undefined
  /** An accused member was asked whether it is alive. */
  onVerdict(code: string, connection: string, isAlive: boolean): void
}

export function createPerformer(parts: PerformingParts): (code: string, effect: EdgeEffect) => void {
  const { config, clock, metrics, socketOf } = parts
  const asked = new Set<string>()

  const ask = async (code: string, socket: ClientSocket) => {
    if (asked.has(socket.id)) return
    asked.add(socket.id)
    // A page whose thread is busy answers late. Putting it out costs more than waiting: a dead one has no connection.
    const answers = await isAlive(socket, clock, config.accusedSeconds)
    asked.delete(socket.id)
    parts.onVerdict(code, socket.id, answers)
  }

  return (code, effect) => {
    if (effect.type === 'view') {
      parts.io.to([...effect.to]).emit('view', effect.view)
      return
    }
    const socket = socketOf(effect.connection)
    if (!socket) return
    const { reply } = socket.data
    switch (effect.type) {
      case 'welcome': {
        const { type: _, connection: __, ...seat } = effect
        const stunPort = parts.stunPort()
        socket.data.place = { code, peerId: seat.peerId }
        delete socket.data.reply
        reply?.({
          ok: true,
          room: code,
          ...seat,
          ...(stunPort !== undefined && { stunPort }),
          iceServers: iceServersFor(config, seat.peerId, new Date()),
        })
        break
      }
      case 'refuse':
        refuse(socket, metrics, new Refusal(effect.code, effect.message), reply)
        break
      case 'removed':
        socket.emit('removed', { cause: effect.cause, code: 'ROOM_CLOSED', message: effect.message })
        socket.disconnect(true)
        break
      case 'probe':
        void ask(code, socket)
    }
  }
}
