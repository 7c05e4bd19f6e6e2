/** Where the peers of `papilio learn` meet: in memory, on a server of their own, or in a room of another server. */
import { createServer } from '../../server/app.ts'
import { createMemoryRoom, whenTogether } from '../../shared/collective/memoryGroup.ts'
import type { Group } from '../../shared/collective/types.ts'
import { join } from '../node.ts'

export interface LearnRoom {
  /** More members; resolves when all of them are ready. */
  join(count: number): Promise<Group[]>
  close(): Promise<void>
}

export function openMemoryRoom(): LearnRoom {
  // Unmeasured links: the same algorithm for the same lesson, hence the same bits for the same seed.
  const room = createMemoryRoom({ measure: false })
  let here: Group[] = []
  return {
    async join(count) {
      const groups = Array.from({ length: count }, (_, i) => room.join(`Peer ${here.length + i}`))
      here = [...here.filter(({ state }) => state !== 'left'), ...groups]
      await whenTogether(here)
      return groups
    },
    async close() {},
  }
}

/** @throws {UnsupportedError} node-datachannel is not installed. */
export async function openOwnRoom(): Promise<LearnRoom> {
  const server = createServer({ port: 0, host: '127.0.0.1', logLevel: 'silent' })
  const { port } = await server.listen()
  try {
    const url = `http://127.0.0.1:${port}`
    const first = await join({ url, name: 'Peer 0' })
    let unclaimed: Group | undefined = first
    let named = 1
    return {
      async join(count) {
        const own = unclaimed ? [unclaimed] : []
        unclaimed = undefined
        const more = Array.from({ length: count - own.length }, () =>
          join({ url, room: first.room, name: `Peer ${named++}` }),
        )
        const groups = [...own, ...(await Promise.all(more))]
        await whenSized(groups[0]!, groups.length)
        return groups
      },
      close: () => server.close(),
    }
  } catch (error) {
    await server.close()
    throw error
  }
}

export function openRoom(room: string, url: string | undefined): LearnRoom {
  return {
    join: (count) =>
      Promise.all(Array.from({ length: count }, () => join({ room, ...(url !== undefined && { url }) }))),
    async close() {},
  }
}

/** Each has joined when it was ready among those who were there; all are ready when the first one knows all. */
function whenSized(group: Group, size: number): Promise<void> {
  return new Promise((resolve) => {
    const off: (() => void)[] = []
    const look = () => {
      if (group.state !== 'ready' || group.size < size) return
      for (const end of off) end()
      resolve()
    }
    off.push(group.on('state', look), group.on('view', look))
    look()
  })
}
