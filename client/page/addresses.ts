/** Under which addresses others reach this server: a page that was opened on localhost cannot know, the server does. */
import * as v from 'valibot'

const schema = v.object({
  lan: v.optional(v.pipe(v.array(v.pipe(v.string(), v.url())), v.maxLength(16)), []),
})

export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\./.test(hostname)
}

/** Addresses in the local network, most likely first; none when the page's own address is as good as any. */
export async function lanOrigins(own: URL): Promise<string[]> {
  if (!isLoopback(own.hostname)) return []
  try {
    const answer = v.safeParse(schema, await (await fetch('/version')).json())
    return answer.success ? answer.output.lan.map((address) => new URL(address).origin) : []
  } catch {
    return []
  }
}
