/** Where a page keeps the token that gives its seat back after a reload. */
export interface SeatStore {
  load(room: string): string | undefined
  save(room: string, token: string): void
  forget(room: string): void
}

/** One seat for each server and room, in storage that outlives a reload: a tab's sessionStorage. */
export function createSeatStore(
  storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>,
  origin: string,
) {
  const key = (room: string) => `papilio seat ${origin} ${room}`
  const store: SeatStore = {
    load: (room) => storage.getItem(key(room)) ?? undefined,
    save(room, token) {
      try {
        storage.setItem(key(room), token)
      } catch {
        // Full, or forbidden in this mode of the browser: a reload then takes a new seat.
      }
    },
    forget: (room) => storage.removeItem(key(room)),
  }
  return store
}
