/** The signalling server of the simulator: the real room, with connections that take time and can freeze or break. */
import type { Clock } from '../../shared/base/clock.ts'
import { createRoom, step } from '../../shared/membership/room.ts'
import type { RoomEffect, RoomEvent } from '../../shared/membership/roomTypes.ts'
import type { Membership, View } from '../../shared/membership/types.ts'

export interface Connection {
  readonly membership: Membership
  /** A link to this peer is open again. */
  linked(peerId: string): void
  /** The connection breaks; the server sees it at once (a closed tab) or after `seconds` (a dropped network). */
  close(seconds: number): void
  freeze(): void
  thaw(): void
}

export interface Arbiter {
  join(peerId: string, clock: Clock): Connection
}

interface Client {
  readonly peerId: string
  view: View | undefined
  readonly listeners: Set<(view: View) => void>
  held: (() => void)[] | undefined
  isOpen: boolean
}

const settings = { maxMembers: 64, nameLength: 32, graceSeconds: 2, accusedSeconds: 1.5, emptySeconds: 60 }
/** How long the server waits for an answer when a member complains of a connected one. */
const probeSeconds = 1.5

export function createArbiter(clock: Clock, latency: number): Arbiter {
  let room = createRoom(settings)
  const clients = new Map<string, Client>()
  let joined = 0

  const handle = (event: RoomEvent) => {
    const after = step(room, event)
    room = after.room
    for (const effect of after.effects) perform(effect)
  }
  /** Towards a client: after the latency, and not while it is frozen. */
  const deliver = (connection: string, action: (client: Client) => void) => {
    const client = clients.get(connection)
    if (!client) return
    clock.after(latency, () => {
      if (!client.isOpen) return
      if (client.held) client.held.push(() => action(client))
      else action(client)
    })
  }
  const show = (client: Client, view: View) => {
    client.view = view
    for (const listener of [...client.listeners]) listener(view)
  }
  const perform = (effect: RoomEffect) => {
    if (effect.type === 'view')
      for (const connection of effect.to) deliver(connection, (client) => show(client, effect.view))
    else if (effect.type === 'welcome') deliver(effect.connection, (client) => show(client, effect.view))
    else if (effect.type === 'removed')
      deliver(effect.connection, (client) => show(client, { epoch: room.epoch, members: [] }))
    else if (effect.type === 'timer')
      clock.after(effect.seconds, () => handle({ type: 'expire', timer: effect.timer }))
    else if (effect.type === 'probe') {
      const { connection } = effect
      let isAnswered = false
      deliver(connection, () =>
        clock.after(latency, () => {
          isAnswered = true
          handle({ type: 'answered', connection })
        }),
      )
      clock.after(probeSeconds, () => {
        if (!isAnswered) handle({ type: 'silent', connection })
      })
    }
  }

  return {
    join(peerId) {
      const connection = `c${joined++}`
      const client: Client = { peerId, view: undefined, listeners: new Set(), held: undefined, isOpen: true }
      clients.set(connection, client)
      /** From the client: after the latency, and not while it is frozen. */
      const send = (event: RoomEvent) => {
        if (!client.isOpen) return
        const go = () => clock.after(latency, () => handle(event))
        if (client.held) client.held.push(go)
        else go()
      }
      send({
        type: 'join',
        connection,
        name: peerId,
        kind: 'test',
        fresh: { peerId, token: `t${connection}`, seed: joined },
      })
      return {
        membership: {
          selfId: peerId,
          view: () => client.view,
          onView(listener) {
            client.listeners.add(listener)
            return () => client.listeners.delete(listener)
          },
          reportLost: (lost, reason, wasOpen) =>
            send({ type: 'lost', connection, peerId: lost, epoch: client.view?.epoch ?? 0, reason, wasOpen }),
          async leave() {
            send({ type: 'leave', connection })
          },
        },
        linked: (other) => send({ type: 'linked', connection, peerId: other }),
        close(seconds) {
          client.isOpen = false
          clock.after(seconds, () => handle({ type: 'disconnect', connection }))
        },
        freeze() {
          client.held ??= []
        },
        thaw() {
          const held = client.held ?? []
          client.held = undefined
          for (const action of held) action()
        },
      }
    },
  }
}
