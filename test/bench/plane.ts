/**
 * `npm run bench -- plane`: how much of what the channels can carry an allreduce brings through. The channels of the group are driven raw with
 * the bytes that the allreduce has sent over each of them, in turns with it; and a small allreduce is compared with pings.
 */
import { join } from 'node:path'
import { loadNodeWebrtc } from '../../client/rtc/nodeWebrtc.ts'
import { launchChromium } from '../support/launch.ts'
import { bundleScript } from '../support/library.ts'
import { Tabs } from '../support/pages.ts'
import { startServer } from '../support/server.ts'
import { type PlaneRequest, type PlaneSamples, planeMember } from './planeMember.ts'
import type { run } from './planeTab.ts'
import { median, milliseconds, spread } from './statistics.ts'

declare const plane: { run: typeof run }

export interface PlaneOptions {
  /** Of peers; default 2, 4, 7 and on Node 16. */
  readonly sizes?: readonly number[] | undefined
  readonly runs: number
  readonly isBrowser: boolean
}

const bytes = 16 * 1024 * 1024
const smallBytes = 424
const smallRuns = 41

/** What a group of one size has reached. */
export interface PlaneResult {
  readonly size: number
  /** Bytes per second, ours / raw, run by run. */
  readonly shares: readonly number[]
  /** Of a small vector: ours / (rounds x a raw message one way). */
  readonly rounds: number
}

export async function measurePlane({ sizes, runs, isBrowser }: PlaneOptions): Promise<PlaneResult[]> {
  const where = isBrowser ? 'tabs of one Chromium' : 'peers of one Node process'
  console.log(`# ${where}, float32 sum, median [least..most] of ${runs} alternating runs`)
  console.log('\n| P | algorithm | 16 MiB, ms | raw, ms | MB/s of all ranks | raw MB/s | ours / raw |')
  console.log('| --- | --- | --- | --- | --- | --- | --- |')
  const smallRows: string[] = []
  const results: PlaneResult[] = []
  for (const size of sizes ?? (isBrowser ? [2, 4, 7] : [2, 4, 7, 16])) {
    const request = { size, bytes, runs, smallBytes, smallRuns }
    const samples = await (isBrowser ? inTabs(request) : onNode(request))
    const [first] = samples as [PlaneSamples]
    const slowest = (pick: (rank: PlaneSamples) => readonly number[]) =>
      pick(first).map((_, run) => Math.max(...samples.map((rank) => pick(rank)[run]!)))
    const ours = slowest((rank) => rank.ours)
    const raw = slowest((rank) => rank.raw)
    const moved = samples.reduce((sum, { bytesSent }) => sum + bytesSent, 0)
    const ratios = ours.map((seconds, run) => raw[run]! / seconds)
    console.log(
      `| ${size} | ${first.algorithm} | ${milliseconds(ours)} | ${milliseconds(raw)} | ${(moved / median(ours) / 1e6).toFixed(1)} | ${(moved / median(raw) / 1e6).toFixed(1)} | ${spread(ratios, 2)} |`,
    )
    const small = slowest((rank) => rank.small)
    const oneWay = samples.flatMap(({ pings }) => pings.map((seconds) => seconds / 2))
    const rounds = first.smallSteps * median(oneWay)
    results.push({ size, shares: ratios, rounds: median(small) / rounds })
    smallRows.push(
      `| ${size} | ${first.smallAlgorithm} | ${first.smallSteps} | ${milliseconds(small)} | ${milliseconds(oneWay)} | ${(median(small) / rounds).toFixed(2)} |`,
    )
  }
  console.log(`\n| P | algorithm | rounds | ${smallBytes} B, ms | raw one way, ms | ours / (rounds x raw) |`)
  console.log('| --- | --- | --- | --- | --- | --- |')
  for (const row of smallRows) console.log(row)
  return results
}

type Request = Omit<PlaneRequest, 'url'>

async function onNode(request: Request): Promise<PlaneSamples[]> {
  const server = await startServer()
  try {
    const webrtc = await loadNodeWebrtc()
    return await everyRank(request, () => planeMember(webrtc, { ...request, url: server.url }))
  } finally {
    await server.close()
  }
}

async function inTabs(request: Request): Promise<PlaneSamples[]> {
  const server = await startServer()
  const running = await launchChromium()
  try {
    const tabs = new Tabs(running.context, server)
    await tabs.addScript(await bundleScript(join(import.meta.dirname, 'planeTab.ts'), 'plane'))
    return await everyRank(request, async () => {
      const { page } = await tabs.openBlank()
      return page.evaluate((given) => plane.run(given), { ...request, url: server.url })
    })
  } finally {
    await running.close()
    await server.close()
  }
}

async function everyRank({ size }: Request, member: () => Promise<PlaneSamples>): Promise<PlaneSamples[]> {
  const samples = await Promise.all(Array.from({ length: size }, member))
  return samples.sort((a, b) => a.rank - b.rank)
}
