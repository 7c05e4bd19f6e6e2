/**
 * `npm run bench -- block`: how long the thread of a page is not free for anything else while it takes part in an allreduce of 64 MiB. A task
 * that posts itself again and again sees each block as a gap.
 */
import type { join } from '../../client/index.ts'
import { launchChromium } from '../support/launch.ts'
import { bundleLibrary } from '../support/library.ts'
import { Tabs } from '../support/pages.ts'
import { startServer } from '../support/server.ts'

declare const papilio: { join: typeof join }

interface Blocks {
  /** Milliseconds, the longest first. */
  readonly gaps: readonly number[]
  readonly seconds: number
}

/** Runs in the tab. */
async function member({
  size,
  op,
  runs,
}: {
  size: number
  op: 'sum' | 'mean'
  runs: number
}): Promise<Blocks> {
  const group = await papilio.join({ room: `block-${op}`, create: true, size })
  const data = new Float32Array((64 * 1024 * 1024) / 4).fill(1)
  const gaps: number[] = []
  const { port1, port2 } = new MessageChannel()
  let last = performance.now()
  port1.onmessage = () => {
    const now = performance.now()
    gaps.push(now - last)
    last = now
    port2.postMessage(0)
  }
  await group.barrier({ timeoutMs: 60_000 })
  last = performance.now()
  port2.postMessage(0)
  const begin = performance.now()
  for (let run = 0; run < runs; run++) await group.allreduce(data, { op, timeoutMs: 120_000 })
  const seconds = (performance.now() - begin) / 1000 / runs
  port1.close()
  await group.leave()
  return { gaps: gaps.sort((a, b) => b - a).slice(0, 20), seconds }
}

export async function measureBlocks(size: number, runs: number): Promise<void> {
  const server = await startServer()
  const running = await launchChromium()
  try {
    const tabs = new Tabs(running.context, server)
    await tabs.addScript(await bundleLibrary())
    const pages = await Promise.all(Array.from({ length: size }, async () => (await tabs.openBlank()).page))
    console.log(`# P = ${size} tabs, 64 MiB of float32, ${runs} runs, the group on the thread of the page`)
    console.log('\n| op | seconds | longest blocks of each tab, ms |\n| --- | --- | --- |')
    for (const op of ['sum', 'mean'] as const) {
      const all = await Promise.all(pages.map((page) => page.evaluate(member, { size, op, runs })))
      const longest = all.map(({ gaps }) =>
        gaps
          .slice(0, 3)
          .map((gap) => gap.toFixed(0))
          .join(', '),
      )
      console.log(
        `| ${op} | ${Math.max(...all.map(({ seconds }) => seconds)).toFixed(1)} | ${longest.join('; ')} |`,
      )
    }
  } finally {
    await running.close()
    await server.close()
  }
}
