/** Addresses of the page: `/` makes a room, `/j/CODE` opens it. */
export function roomOf(pathname: string): string | undefined {
  const match = /^\/j\/([^/]+)\/?$/.exec(pathname)
  if (!match) return undefined
  try {
    return decodeURIComponent(match[1]!).trim().toLowerCase()
  } catch {
    return match[1]
  }
}

export function pathOf(room: string): string {
  return `/j/${encodeURIComponent(room)}`
}
