/** Says things to screen readers: at most one message a second, the last wins; failures at once. The regions stand in index.html. */
const intervalMs = 1000

let pending: string | undefined
let timer: ReturnType<typeof setTimeout> | undefined

function say(id: 'status' | 'alert', text: string): void {
  const region = document.getElementById(id)
  if (region) region.textContent = text
}

export function announce(text: string): void {
  pending = text
  if (timer !== undefined) return
  const flush = () => {
    timer = undefined
    if (pending === undefined) return
    say('status', pending)
    pending = undefined
    timer = setTimeout(flush, intervalMs)
  }
  flush()
}

export function alarm(text: string): void {
  say('alert', text)
}
