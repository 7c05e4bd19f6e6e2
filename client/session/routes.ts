/** Addresses of the page: `/` makes a room, `/j/CODE` opens it; `/learn` makes a room to learn in, `/learn/CODE` opens that; so does `/bench`. */
export type RoomPage = 'j' | 'learn' | 'bench'

export function roomOf(pathname: string, page: RoomPage = 'j'): string | undefined {
  const [, first, code, ...rest] = pathname.replace(/\/$/, '').split('/')
  if (first !== page || !code || rest.length > 0) return undefined
  try {
    return decodeURIComponent(code).trim().toLowerCase()
  } catch {
    return code
  }
}

export function pathOf(room: string, page: RoomPage = 'j'): string {
  return `/${page}/${encodeURIComponent(room)}`
}

export function isLearning(pathname: string): boolean {
  return /^\/learn(\/|$)/.test(pathname)
}

export function isBench(pathname: string): boolean {
  return /^\/bench(\/|$)/.test(pathname)
}
