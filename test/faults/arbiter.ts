/**
 * The signalling server of the simulator: the real room, with connections that take time and can freeze or break. It can be away for a while and
 * come back without any memory. Its clients do what client/rtc/seat.ts and outbox.ts do: they come back by themselves, with what they know and
 * with what they had to say meanwhile.
 */
import type { Clock } from '../../shared/base/clock.ts'
import { createRoom, step } from '../../shared/membership/room.ts'
import type { RoomEffect, RoomEvent } from '../../shared/membership/roomTypes.ts'
import type { Membership, View } from '../../shared/membership/types.ts'

export interface Connection {
  readonly membership: Membership
  /** A link to this peer is open again. */
  linked(peerId: string): void
  /** The peer is gone for good; the server sees its connection break at once (a closed tab) or after `seconds` (a dropped network). */
  close(seconds: number): void
  /** The network to the server is gone for so long; the server sees it after `noticeSeconds`. */
  offline(seconds: number): void
  freeze(): void
  thaw(): void
}

export interface Arbiter {
  join(peerId: string): Connection
  /** Everything in the server is gone; it takes connections again after `seconds`. */
  restart(seconds: number): void
}

interface Client {
  readonly peerId: string
  readonly order: number
  connection: string
  /** The server has given it a seat on this connection, as far as it knows. */
  isSeated: boolean
  view: View | undefined
  readonly listeners: Set<(view: View) => void>
  held: (() => void)[] | undefined
  isOpen: boolean
  /** It has no network to the server until then. */
  offlineUntil: number
  /** What waits for the server to be back: losses, then links. */
  readonly losses: Map<string, Extract<RoomEvent, { type: 'lost' }>>
  readonly links: Set<string>
}

/** As the server's settings of these names. */
export interface Limits {
  readonly graceSeconds: number
  /** Also how long the server waits for an answer when a member is complained of or doubted. */
  readonly accusedSeconds: number
}
/** The server notices a connection that broke without a word. */
const noticeSeconds = 1
/** Whose connection has ended asks again after about so long. */
const returnSeconds = 0.3

export function createArbiter(clock: Clock, latency: number, random: () => number, limits: Limits): Arbiter {
  const settings = { maxMembers: 64, nameLength: 32, emptySeconds: 60, ...limits }
  let room = createRoom(settings)
  /** Counts restarts: what was under way in an earlier life does not happen. */
  let life = 0
  let isAway = false
  const clients = new Map<string, Client>()
  let connections = 0
  let joined = 0

  const inThisLife = (seconds: number, action: () => void) => {
    const now = life
    clock.after(seconds, () => {
      if (now === life && !isAway) action()
    })
  }
  const handle = (event: RoomEvent) => {
    const after = step(room, event)
    room = after.room
    for (const effect of after.effects) perform(effect)
  }
  const unlessFrozen = (client: Client, action: () => void) => {
    if (client.held) client.held.push(action)
    else action()
  }
  /** Towards a client: after the latency, and not while it is frozen. */
  const deliver = (connection: string, action: (client: Client) => void) => {
    const client = clients.get(connection)
    if (!client) return
    clock.after(latency, () =>
      unlessFrozen(client, () => {
        if (client.isOpen && client.connection === connection && clock.now() >= client.offlineUntil)
          action(client)
      }),
    )
  }
  /** From a client: after the latency, and not while it is frozen. */
  const send = (client: Client, event: RoomEvent) => {
    const { connection } = client
    unlessFrozen(client, () => {
      if (client.isOpen && client.connection === connection && clock.now() >= client.offlineUntil)
        inThisLife(latency, () => handle(event))
    })
  }
  const show = (client: Client, view: View) => {
    const before = client.view
    if (before && view.epoch < before.epoch) return
    const isKnown =
      before?.epoch === view.epoch && JSON.stringify(before.blocked) === JSON.stringify(view.blocked)
    if (isKnown) return
    client.view = view
    for (const listener of [...client.listeners]) listener(view)
  }
  const flush = (client: Client) => {
    if (!client.isSeated) return
    const isMember = (peerId: string) => client.view?.members.some((member) => member.peerId === peerId)
    const { connection } = client
    for (const loss of client.losses.values())
      if (isMember(loss.peerId)) send(client, { ...loss, connection })
    for (const peerId of client.links)
      if (isMember(peerId)) send(client, { type: 'linked', connection, peerId })
    client.losses.clear()
    client.links.clear()
  }
  const ask = (client: Client) => {
    if (!client.isOpen) return
    if (isAway || clock.now() < client.offlineUntil) {
      comeBack(client)
      return
    }
    client.connection = `c${connections++}`
    clients.set(client.connection, client)
    const { connection, peerId, order, view } = client
    const token = `t-${peerId}`
    const rank = view?.members.findIndex((member) => member.peerId === peerId) ?? -1
    send(client, {
      type: 'join',
      connection,
      name: peerId,
      kind: 'test',
      ...(view && rank >= 0 && { token, peerId, known: { epoch: view.epoch, rank, members: view.members } }),
      fresh: { peerId, token, seed: order },
    })
  }
  const comeBack = (client: Client) =>
    clock.after(returnSeconds * (0.5 + random()), () => unlessFrozen(client, () => ask(client)))
  /** The client sees that its connection has ended. */
  const drop = (client: Client) =>
    unlessFrozen(client, () => {
      client.isSeated = false
      comeBack(client)
    })

  const perform = (effect: RoomEffect) => {
    if (effect.type === 'view')
      for (const connection of effect.to) deliver(connection, (client) => show(client, effect.view))
    else if (effect.type === 'welcome')
      deliver(effect.connection, (client) => {
        client.isSeated = true
        show(client, effect.view)
        flush(client)
      })
    else if (effect.type === 'removed')
      deliver(effect.connection, (client) => {
        client.isSeated = false
        client.isOpen = false
        const { epoch = 0, members = [] } = client.view ?? {}
        const others = members.filter(({ peerId }) => peerId !== client.peerId)
        client.view = { epoch, members: others }
        for (const listener of [...client.listeners]) listener(client.view)
      })
    else if (effect.type === 'timer')
      inThisLife(effect.seconds, () => handle({ type: 'expire', timer: effect.timer }))
    else if (effect.type === 'probe') {
      const { connection } = effect
      let isAnswered = false
      const answer = (type: 'answered' | 'silent') => {
        if (!isAnswered) handle({ type, connection })
        isAnswered = true
      }
      deliver(connection, () => inThisLife(latency, () => answer('answered')))
      inThisLife(limits.accusedSeconds, () => answer('silent'))
    }
  }

  return {
    restart(seconds) {
      life++
      isAway = true
      room = createRoom(settings)
      const all = new Set(clients.values())
      clients.clear()
      clock.after(seconds, () => {
        isAway = false
      })
      for (const client of all) clock.after(latency, () => drop(client))
    },
    join(peerId) {
      const client: Client = {
        peerId,
        order: ++joined,
        connection: '',
        isSeated: false,
        view: undefined,
        listeners: new Set(),
        held: undefined,
        isOpen: true,
        offlineUntil: 0,
        losses: new Map(),
        links: new Set(),
      }
      ask(client)
      const disconnectAfter = (seconds: number) => {
        const { connection } = client
        inThisLife(seconds, () => handle({ type: 'disconnect', connection }))
      }
      return {
        membership: {
          selfId: peerId,
          view: () => client.view,
          onView(listener) {
            client.listeners.add(listener)
            return () => client.listeners.delete(listener)
          },
          reportLost(lost, reason, wasOpen) {
            client.links.delete(lost)
            if (!client.losses.get(lost) || wasOpen) {
              const epoch = client.view?.epoch ?? 0
              client.losses.set(lost, { type: 'lost', connection: '', peerId: lost, epoch, reason, wasOpen })
            }
            flush(client)
          },
          doubt(doubted) {
            const epoch = client.view?.epoch ?? 0
            const { connection, isSeated } = client
            if (isSeated) send(client, { type: 'doubt', connection, peerId: doubted, epoch })
          },
          async leave() {
            send(client, { type: 'leave', connection: client.connection })
            client.isOpen = false
            disconnectAfter(2 * latency)
          },
        },
        linked(other) {
          client.links.add(other)
          flush(client)
        },
        close(seconds) {
          client.isOpen = false
          disconnectAfter(seconds)
        },
        offline(seconds) {
          client.offlineUntil = Math.max(client.offlineUntil, clock.now() + seconds)
          disconnectAfter(noticeSeconds)
          clock.after(seconds, () => drop(client))
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
