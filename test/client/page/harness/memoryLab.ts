/** The lab of the page on groups in memory: every state without a server. */
import { Lab } from '../../../../client/page/session/lab.ts'
import { realClock } from '../../../../shared/base/clock.ts'
import { JoinError, type RefusalCode } from '../../../../shared/base/errors.ts'
import { createPrng } from '../../../../shared/base/prng.ts'
import { createMemoryRoom, type MemoryRoom } from '../../../../shared/collective/memoryGroup.ts'
import type { MemoryNetworkOptions } from '../../../../shared/transport/memory.ts'

const names = ['Ada', 'Bo', 'Cem', 'Dilek', 'Emil', 'Fatou', 'Goro', 'Hana', 'Ines', 'Jun', 'Kofi', 'Lea']

export interface MemoryLab {
  readonly lab: Lab
  readonly room: MemoryRoom
}

export function createMemoryLab(options: MemoryNetworkOptions & { refuse?: string } = {}): MemoryLab {
  const room = createMemoryRoom(options)
  let joined = 0
  const lab = new Lab({
    async join() {
      if (options.refuse)
        throw new JoinError(options.refuse as RefusalCode, `Room k7f-2q9: ${options.refuse}.`)
      const name = names[joined++ % names.length]!
      return { group: room.join(name), room: 'k7f-2q9', name }
    },
    clock: realClock,
    prng: createPrng(1),
    agent: 'Test 1',
    breathe: () => undefined,
  })
  return { lab, room }
}
