import { expect, it } from 'vitest'
import { learn } from '../../../client/cli/learn.ts'
import type { LearnSummary } from '../../../client/cli/learnTable.ts'
import { recordOutput } from './output.ts'

async function run(...argv: string[]) {
  const out = recordOutput()
  const status = await learn(argv, out)
  return { ...out, status }
}

it('trains peers that each know one flower to name all three, while one leaves and one comes late', async () => {
  const argv = ['--data', 'iris', '--peers', '4', '--transport', 'memory', '--json', '--central']
  const { status, lines, errors } = await run(...argv, '--kill', '3', '--late', '5', '--seed', '1')
  expect(errors.join('\n')).toContain('Peer 3 goes away in round 3.')
  expect(errors.join('\n')).toMatch(/Peer 4 has joined, and got the model after round \d from Peer \d\./)
  expect(status).toBe(0)
  const summary = JSON.parse(lines.join('\n')) as LearnSummary
  expect(summary).toMatchObject({ ending: 'complete', rounds: 12, identical: true, parameters: 131 })
  // Of seeds 1 to 5: 0.84 to 0.98 together, 0.35 to 0.51 alone; this is seed 1.
  expect(summary.averaged).toBeGreaterThan(0.85)
  expect(summary.alone).toBeLessThan(0.7)
  expect(summary.central).toBeGreaterThan(0.85)
  const { peers } = summary
  expect(peers.map(({ hash }) => hash === summary.hash)).toEqual([true, true, true, false, true])
  expect(peers[3]).toMatchObject({ rounds: 2, leftAfter: 2 })
  // Who comes late sits where somebody has left, and trains from the next round on.
  expect(peers[4]).toMatchObject({ place: 3 })
  expect(peers[4]!.samples).toEqual(peers[3]!.samples)
  expect(peers[4]!.rounds).toBeLessThan(8)
  const present = summary.curve.map((round) => round.peers)
  expect([present[0], present[2], present.at(-1)]).toEqual([4, 3, 4])
  // 131 weights of 4 bytes, twice (P - 1) / P of them in each round, and the meetings.
  for (const { bytesSent, rounds } of peers) expect(bytesSent / rounds).toBeGreaterThan(786)
})

it.each([
  [['--peers', '0'], '--peers takes a whole number from 1 to 64, not 0'],
  [['--split', 'some'], '--split takes iid, label or a number from 0 to 1, not some'],
  [['--data', 'iris', '--model', 'cnn'], 'A convolution needs pictures'],
  [['--rounds', '1001'], 'rounds'],
  [['--seed', 'x'], '--seed takes a number, not x'],
  [['--start'], '--url and --start go with --room'],
  [['--backend', 'webgl'], '--backend takes wasm or cpu, not webgl'],
])('refuses %s', async (argv, words) => {
  const { status, errors, lines } = await run(...argv)
  expect(status).toBe(2)
  expect(errors.join('\n')).toContain(words)
  expect(lines).toEqual([])
})
