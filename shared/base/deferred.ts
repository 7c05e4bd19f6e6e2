/** A promise with its handles outside. */
export interface Deferred<T> {
  readonly promise: Promise<T>
  readonly settled: boolean
  resolve(value: T): void
  reject(reason: unknown): void
}

export function createDeferred<T>(): Deferred<T> {
  let settle: { resolve: (value: T) => void; reject: (reason: unknown) => void } | undefined
  let settled = false
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject }
  })
  return {
    promise,
    get settled() {
      return settled
    },
    resolve(value) {
      settled = true
      settle?.resolve(value)
    },
    reject(reason) {
      settled = true
      settle?.reject(reason)
    },
  }
}
