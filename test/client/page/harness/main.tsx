/**
 * The page on groups in memory: every state can be looked at without a server. `?refuse=ROOM_FULL` refuses the join,
 * `?slow` gives links a round trip.
 */
import { startPage } from '../../../../client/page/start.tsx'
import { JoinError, type RefusalCode } from '../../../../shared/base/errors.ts'
import { createMemoryRoom } from '../../../../shared/collective/memoryGroup.ts'

const given = new URLSearchParams(location.search)
const room = createMemoryRoom()
const names = ['Ada', 'Bo', 'Cem', 'Dilek', 'Emil', 'Fatou', 'Goro', 'Hana', 'Ines', 'Jun', 'Kofi', 'Lea']
let joined = 0

const lab = startPage(async ({ kind }) => {
  const code = given.get('refuse')
  if (code) throw new JoinError(code as RefusalCode, 'Room k7f-2q9 has 16 of 16 seats taken.')
  await new Promise((resolve) => setTimeout(resolve, 50))
  const name = names[joined % names.length] ?? ''
  joined++
  const group = room.join(name)
  return { group, room: 'k7f-2q9', name: kind === 'tab' ? 'Ada' : name }
})
Object.assign(window, { lab, room })
