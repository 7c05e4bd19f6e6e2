/**
 * The page on groups in memory, to look at: `?refuse=ROOM_FULL` refuses the join, `?latency=0.01` slows the links.
 */
import { startPage } from '../../../../client/page/start.tsx'
import { createMemoryLab } from './memoryLab.ts'

const given = new URLSearchParams(location.search)
const refuse = given.get('refuse')
const latency = Number(given.get('latency') ?? 0)
const memory = createMemoryLab({ latency, ...(refuse ? { refuse } : {}) })
Object.assign(window, memory)
startPage(memory.lab)
