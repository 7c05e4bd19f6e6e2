/** What the page must know of the browser that it runs in. */

/** `Chrome 156`, for the roster; the first name that fits, since most browsers call themselves Safari as well. */
export function agentOf(userAgent: string): string {
  const known: readonly (readonly [name: string, pattern: RegExp])[] = [
    ['Edge', /Edg(?:A|iOS)?\/(\d+)/],
    ['Opera', /OPR\/(\d+)/],
    ['Firefox', /(?:Firefox|FxiOS)\/(\d+)/],
    ['Chrome', /(?:HeadlessChrome|Chrome|CriOS)\/(\d+)/],
    ['Safari', /Version\/(\d+).*Safari/],
  ]
  for (const [name, pattern] of known) {
    const version = pattern.exec(userAgent)?.[1]
    if (version) return `${name} ${version}`
  }
  return 'Browser'
}

/**
 * A pause that lets the page react, once `seconds` have passed since the last one. It waits for a message to itself: timers of
 * hidden tabs may take a second, messages do not.
 */
export function createBreathe(now: () => number, seconds = 0.01): () => Promise<void> | undefined {
  const channel = new MessageChannel()
  const waiting: (() => void)[] = []
  channel.port1.onmessage = () => waiting.shift()?.()
  let last = now()
  return () => {
    if (now() - last < seconds) return undefined
    return new Promise((resolve) => {
      waiting.push(() => {
        last = now()
        resolve()
      })
      channel.port2.postMessage(null)
    })
  }
}
