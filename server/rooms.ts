/** The rooms of this process: keeps their states, runs their timers, hands their effects on. */
import type { Clock } from '../shared/base/clock.ts'
import { createRoom, step } from '../shared/membership/room.ts'
import { membersOf } from '../shared/membership/roomStep.ts'
import type { Room, RoomEffect, RoomEvent, RoomSettings, Step } from '../shared/membership/roomTypes.ts'

/** Timers are run here; the rest is for the edge to perform. */
export type EdgeEffect = Exclude<RoomEffect, { type: 'timer' }>

export interface RoomsSetup {
  readonly settings: RoomSettings
  readonly clock: Clock
  perform(code: string, effect: EdgeEffect): void
  observe(code: string, event: RoomEvent, step: Step): void
}

export interface Rooms {
  readonly count: number
  /** Members of all rooms. */
  readonly members: number
  get(code: string): Room | undefined
  open(code: string): void
  dispatch(code: string, event: RoomEvent): void
  /** Stops all timers. */
  close(): void
}

/** A room that is opened again under an old code is a new entry: timers of the old one do not reach it. */
interface Entry {
  room: Room
  readonly cancels: Set<() => void>
}

export function createRooms({ settings, clock, perform, observe }: RoomsSetup): Rooms {
  const entries = new Map<string, Entry>()

  const startTimer = (code: string, { cancels }: Entry, timer: number, seconds: number) => {
    const cancel = clock.after(seconds, () => {
      cancels.delete(cancel)
      dispatch(code, { type: 'expire', timer })
    })
    cancels.add(cancel)
  }

  const stopTimers = ({ cancels }: Entry) => {
    for (const cancel of cancels) cancel()
    cancels.clear()
  }

  const dispatch = (code: string, event: RoomEvent) => {
    const entry = entries.get(code)
    if (!entry) return
    const result = step(entry.room, event)
    entry.room = result.room
    if (result.room.closed) {
      entries.delete(code)
      stopTimers(entry)
    }
    observe(code, event, result)
    for (const effect of result.effects) {
      if (effect.type === 'timer') startTimer(code, entry, effect.timer, effect.seconds)
      else perform(code, effect)
    }
  }

  return {
    get count() {
      return entries.size
    },
    get members() {
      let sum = 0
      for (const { room } of entries.values()) sum += membersOf(room).length
      return sum
    },
    get: (code) => entries.get(code)?.room,
    open(code) {
      entries.set(code, { room: createRoom(settings), cancels: new Set() })
    },
    dispatch,
    close() {
      for (const entry of entries.values()) stopTimers(entry)
    },
  }
}
