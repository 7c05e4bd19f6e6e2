/** A room in which the third member vanishes at a message. */
import { createMemoryRoom, whenTogether } from '../../shared/collective/memoryGroup.ts'
import type { Group } from '../../shared/collective/types.ts'

interface Vanishing {
  readonly groups: readonly Group[]
  /** Counts messages from now on; the member vanishes at message `fatal`. */
  arm(): void
}

export async function meetVanishing(names: readonly string[], fatal: number): Promise<Vanishing> {
  let isArmed = false
  let messages = 0
  const room = createMemoryRoom({
    noticeSeconds: 0,
    measure: false,
    onDeliver() {
      if (isArmed && ++messages === fatal) room.network.kill('peer-2')
    },
  })
  const groups = names.map((name) => room.join(name))
  await whenTogether(groups)
  return {
    groups,
    arm() {
      isArmed = true
    },
  }
}
