import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Fault, OpSpec } from './messages.ts'
import { createNodePeers } from './nodePeers.ts'
import { play, type Stage } from './play.ts'
import { startServerProcess } from './serverProcess.ts'

/** Hundreds of scenarios: `npm run faults -- --real`. Here one of each kind. */
let stage: Stage

beforeAll(async () => {
  stage = { peers: createNodePeers(), server: await startServerProcess() }
})
afterAll(async () => {
  await stage.peers.close()
  await stage.server.close()
})

const op: OpSpec = { algorithm: 'ring', settings: {}, count: 500_000, dtype: 'f32' }
const half = { op: 0, fraction: 0.5 }
const faults: readonly Fault[] = [
  { kind: 'kill', peer: 1, moment: half, seconds: 0 },
  { kind: 'stop', peer: 2, moment: half, seconds: 1 },
]

it.each(faults)(
  'a process that gets a $kind in an op: the others end it alike, and the next one',
  async (fault) => {
    const { violations } = await play({ seed: 0, size: 3, ops: [op, op], faults: [fault] }, stage)
    expect(violations).toEqual([])
  },
)
