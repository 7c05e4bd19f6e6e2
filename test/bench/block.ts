/**
 * `npm run bench -- block [--worker]`: how long the thread of a page is not free for anything else while it takes part in an allreduce of 64 MiB, by a
 * group on that thread or in a worker. A task that posts itself again and again sees each block as a gap. A tab that is in no
 * group and does nothing else sees those of the machine meanwhile, which has less processors than threads that want one.
 */
import type { join } from '../../client/index.ts'
import { launchChromium } from '../support/launch.ts'
import { buildModules } from '../support/library.ts'
import { Tabs } from '../support/pages.ts'
import { startServer } from '../support/server.ts'

interface Gap {
  readonly ms: number
  readonly at: number
}

interface Blocks {
  /** Milliseconds, the longest first, and when in its op each ended, 0 .. 1. */
  readonly gaps: readonly Gap[]
  readonly seconds: number
  readonly thread: string
}

/** Runs in the tab. */
async function member({
  size,
  op,
  runs,
  entry,
  worker,
}: {
  size: number
  op: 'sum' | 'mean'
  runs: number
  entry: string
  worker: 'auto' | false
}): Promise<Blocks> {
  const papilio = (await import(entry)) as { join: typeof join }
  const group = await papilio.join({ room: `block-${op}`, create: true, size, worker })
  const data = new Float32Array((64 * 1024 * 1024) / 4).fill(1)
  const ends: { ms: number; now: number }[] = []
  const { port1, port2 } = new MessageChannel()
  let last = performance.now()
  port1.onmessage = () => {
    const now = performance.now()
    ends.push({ ms: now - last, now })
    last = now
    port2.postMessage(0)
  }
  await group.barrier({ timeoutMs: 60_000 })
  last = performance.now()
  port2.postMessage(0)
  const gaps: { ms: number; at: number }[] = []
  let seconds = 0
  for (let run = 0; run < runs; run++) {
    ends.length = 0
    const begin = performance.now()
    await group.allreduce(data, { op, timeoutMs: 120_000 })
    const took = performance.now() - begin
    seconds += took / 1000 / runs
    for (const { ms, now } of ends) gaps.push({ ms, at: (now - begin) / took })
  }
  port1.close()
  await group.leave()
  return { gaps: gaps.sort((a, b) => b.ms - a.ms).slice(0, 20), seconds, thread: group.thread }
}

/** Runs in a tab beside them; ends when the others have. */
function watchIdle(): void {
  const state = globalThis as unknown as { gaps: number[]; isOver: boolean }
  state.gaps = []
  state.isOver = false
  const { port1, port2 } = new MessageChannel()
  let last = performance.now()
  port1.onmessage = () => {
    const now = performance.now()
    state.gaps.push(now - last)
    last = now
    if (!state.isOver) port2.postMessage(0)
  }
  port2.postMessage(0)
}

function endIdle(): number[] {
  const state = globalThis as unknown as { gaps: number[]; isOver: boolean }
  state.isOver = true
  return state.gaps.sort((a, b) => b - a).slice(0, 3)
}

export async function measureBlocks(size: number, runs: number, isWorker: boolean): Promise<void> {
  const server = await startServer()
  const running = await launchChromium()
  try {
    const tabs = new Tabs(running.context, server)
    const { entry, files } = await buildModules()
    await running.context.route('**/library/**', (route) => {
      const body = files.get(new URL(route.request().url()).pathname.replace('/library/', ''))
      return body === undefined
        ? route.fulfill({ status: 404 })
        : route.fulfill({ body, contentType: 'text/javascript' })
    })
    const pages = await Promise.all(Array.from({ length: size }, async () => (await tabs.openBlank()).page))
    console.log(
      `# P = ${size} tabs, 64 MiB of float32, ${runs} runs, the group ${isWorker ? 'in a worker' : 'on the thread'} of the page`,
    )
    console.log(
      '\n| op | thread | seconds | longest blocks of each tab, ms (where in the op, 0 .. 1) | of an idle tab, ms |',
    )
    console.log('| --- | --- | --- | --- | --- |')
    const given = {
      size,
      runs,
      entry: `/library/${entry}`,
      worker: isWorker ? ('auto' as const) : (false as const),
    }
    const { page: beside } = await tabs.openBlank()
    for (const op of ['sum', 'mean'] as const) {
      await beside.evaluate(watchIdle)
      const all = await Promise.all(pages.map((page) => page.evaluate(member, { ...given, op })))
      const idle = (await beside.evaluate(endIdle)).map((gap) => gap.toFixed(0)).join(', ')
      const longest = all
        .map(({ gaps }) =>
          gaps
            .slice(0, 3)
            .map(({ ms, at }) => `${ms.toFixed(0)} (${at.toFixed(2)})`)
            .join(', '),
        )
        .join('; ')
      const seconds = Math.max(...all.map((blocks) => blocks.seconds)).toFixed(1)
      const threads = [...new Set(all.map(({ thread }) => thread))].join(', ')
      console.log(`| ${op} | ${threads} | ${seconds} | ${longest} | ${idle} |`)
    }
  } finally {
    await running.close()
    await server.close()
  }
}
