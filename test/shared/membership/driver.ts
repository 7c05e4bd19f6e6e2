/** Plays events into a room, remembers what each connection was told, and checks the invariants of docs/protocol.md. */
import { expect } from 'vitest'
import { createRoom, step } from '../../../shared/membership/room.ts'
import { membersOf, viewOf } from '../../../shared/membership/roomStep.ts'
import type {
  JoinEvent,
  Known,
  Room,
  RoomEffect,
  RoomEvent,
  RoomSettings,
  Step,
} from '../../../shared/membership/roomTypes.ts'
import type { View } from '../../../shared/membership/types.ts'

export const testSettings: RoomSettings = {
  maxMembers: 6,
  nameLength: 32,
  graceSeconds: 10,
  accusedSeconds: 3,
  emptySeconds: 60,
}

/** One page or process: what it was told, and what it would say when it comes back. */
export interface Client {
  readonly connection: string
  readonly peerId: string
  readonly token: string
  readonly name: string
  view: View
}

export type JoinWish = Partial<Pick<JoinEvent, 'name' | 'kind' | 'token' | 'peerId' | 'known' | 'host'>>

export class Driver {
  readonly events: RoomEvent[] = []
  readonly clients = new Map<string, Client>()
  readonly openTimers: number[] = []
  /** The members of every epoch that anybody was told. */
  readonly epochs: Map<number, string>
  room: Room
  readonly #out = new Set<string>()
  #count = 0
  readonly #prefix: string

  /** `prefix` keeps identities of several lives of a server apart; `epochs` carries over what earlier lives told. */
  constructor(settings: RoomSettings = testSettings, prefix = '', epochs = new Map<number, string>()) {
    this.room = createRoom(settings)
    this.#prefix = prefix
    this.epochs = epochs
  }

  /** The ids that the server would make. */
  freshJoin(wish: JoinWish = {}): JoinEvent {
    const id = `${this.#prefix}${++this.#count}`
    return {
      type: 'join',
      connection: `c${id}`,
      name: wish.name ?? '',
      kind: wish.kind ?? 'tab',
      fresh: { peerId: `p${id}`, token: `t${id}`, seed: this.#count },
      ...wish,
    }
  }

  /** Joins; the client when it got a seat. */
  join(wish: JoinWish = {}): Client | undefined {
    const event = this.freshJoin(wish)
    this.play(event)
    return this.clients.get(event.connection)
  }

  play(event: RoomEvent): Step {
    const before = structuredClone(this.room)
    const result = step(this.room, event)
    expect(this.room).toEqual(before)
    this.events.push(event)
    for (const effect of result.effects) this.#deliver(effect)
    this.room = result.room
    this.#check(before, event, result)
    return result
  }

  known(client: Client, withMembers = true): Known {
    const { epoch, members } = client.view
    const rank = members.findIndex(({ peerId }) => peerId === client.peerId)
    return withMembers ? { epoch, rank, members } : { epoch, rank }
  }

  #deliver(effect: RoomEffect): void {
    switch (effect.type) {
      case 'welcome': {
        const { connection, peerId, token, name, view } = effect
        this.clients.set(connection, { connection, peerId, token, name, view })
        break
      }
      case 'view':
        for (const connection of effect.to) this.clients.get(connection)!.view = effect.view
        break
      case 'removed':
        this.clients.delete(effect.connection)
        break
      case 'timer':
        this.openTimers.push(effect.timer)
        break
    }
  }

  #check(before: Room, event: RoomEvent, { room, reason }: Step): void {
    const members = membersOf(room)
    const view = viewOf(room)
    const list = members.map(({ peerId }) => peerId)
    const isUnique = (values: readonly unknown[]) => expect(new Set(values).size).toBe(values.length)

    // Seats: nobody twice, nobody beyond the limit, everybody in the order of joining.
    isUnique(list)
    isUnique(members.map(({ name }) => name.toLowerCase()))
    isUnique(room.seats.flatMap(({ token }) => token ?? []))
    isUnique(room.seats.flatMap(({ connection }) => connection ?? []))
    expect(members.length).toBeLessThanOrEqual(room.settings.maxMembers)
    expect(room.seats.length).toBeLessThanOrEqual(3 * room.settings.maxMembers)
    expect(room.seats.map(({ order }) => order)).toEqual(
      room.seats.map(({ order }) => order).sort((a, b) => a - b),
    )
    for (const { name } of members) expect(name.length).toBeGreaterThan(0)

    // Epochs: one more exactly when the list changes; only a survivor's knowledge may carry them further.
    if (!room.closed) {
      const old = membersOf(before).map(({ peerId }) => peerId)
      const hasChanged = JSON.stringify(old) !== JSON.stringify(list)
      const known = event.type === 'join' && reason !== 'refused' ? event.known : undefined
      // A pair that loses its link while both live counts as a change, and is seen only after an answer or when it has another one.
      const isBroken = isNewPair(viewOf(before), view) || isSettled(before, room)
      if (!known || known.epoch <= before.epoch) {
        expect(room.epoch).toBe(before.epoch + (hasChanged || isBroken ? 1 : 0))
      } else {
        expect([known.epoch, known.epoch + 1]).toContain(room.epoch)
      }
      const told = this.epochs.get(room.epoch) ?? JSON.stringify(list)
      expect(`${room.epoch} ${JSON.stringify(list)}`).toBe(`${room.epoch} ${told}`)
      this.epochs.set(room.epoch, told)
    }

    // Who was out of the view never comes back under the same peerId: its ops went on without it.
    const old = membersOf(before).map(({ peerId }) => peerId)
    for (const peerId of old) if (!list.includes(peerId)) this.#out.add(peerId)
    for (const peerId of list) expect(this.#out).not.toContain(peerId)

    // Everybody who is here knows exactly the current view, and nobody else is taken for connected.
    for (const { connection } of members.filter(({ presence }) => presence === 'here')) {
      expect(this.clients.get(connection!)?.view).toEqual(view)
    }
    for (const { connection, presence } of room.seats) {
      expect(connection !== undefined).toBe(presence === 'here')
    }
    for (const { by, about } of room.complaints) {
      expect(list).toContain(by)
      expect(list).toContain(about)
    }
    if (!room.closed && members.length === 0 && room.timers > 0) expect(room.emptyTimer).toBeDefined()
  }
}

/** A pair has lost a link, which is no news any more: it was settled. */
function isSettled(before: Room, after: Room): boolean {
  const keys = ({ complaints }: Room) =>
    complaints.filter(({ isPending }) => isPending).map(({ by, about }) => [by, about].sort().join())
  return keys(before).some((key) => !keys(after).includes(key))
}

function isNewPair(before: View, after: View): boolean {
  const keys = ({ blocked = [] }: View) => blocked.map(({ a, b }) => [a, b].sort().join())
  return keys(after).some((key) => !keys(before).includes(key))
}
