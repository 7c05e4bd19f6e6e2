/** A broken invariant is a bug of ours: never caught, never shown as a user's mistake. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError'
}

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(message)
}

/** The end of a switch over a union: the compiler proves that no member was forgotten. */
export function unreachable(value: never): never {
  throw new InvariantError(`unexpected value ${String(value)}`)
}
