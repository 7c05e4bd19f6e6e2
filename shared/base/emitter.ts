/** Typed events. A listener that throws never stops the emitter or the other listeners. */
export interface Events<EventMap> {
  /** Calls `listener` at every `event`; the returned function removes it. */
  on<Name extends keyof EventMap>(event: Name, listener: (value: EventMap[Name]) => void): () => void
}

export class Emitter<EventMap> implements Events<EventMap> {
  readonly #listeners = new Map<keyof EventMap, Set<(value: never) => void>>()

  on<Name extends keyof EventMap>(event: Name, listener: (value: EventMap[Name]) => void): () => void {
    const listeners = this.#listeners.get(event) ?? new Set()
    this.#listeners.set(event, listeners)
    listeners.add(listener)
    return () => listeners.delete(listener)
  }

  emit<Name extends keyof EventMap>(event: Name, value: EventMap[Name]): void {
    const listeners = this.#listeners.get(event)
    // Progress is told for each segment, and mostly to nobody.
    if (!listeners || listeners.size === 0) return
    for (const listener of [...listeners]) {
      try {
        ;(listener as (value: EventMap[Name]) => void)(value)
      } catch (error) {
        // The listener is the application's: its fault surfaces as an unhandled rejection there, not here.
        void Promise.reject(error)
      }
    }
  }
}
