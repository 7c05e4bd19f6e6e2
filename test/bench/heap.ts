/**
 * `npm run bench -- heap`: memory over 1000 allreduces of 1 MiB. After each tenth of them the garbage is collected and what is left is
 * printed: objects and the memory of arrays. What is kept after the second tenth is the base; later growth counts.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { join as joinTab } from '../../client/index.ts'
import { join } from '../../client/node.ts'
import type { JoinedGroup } from '../../client/rtc/join.ts'
import { launchChromium } from '../support/launch.ts'
import { bundleLibrary } from '../support/library.ts'
import { Tabs } from '../support/pages.ts'
import { startServer } from '../support/server.ts'

declare const papilio: { join: typeof joinTab }
declare global {
  var heapGroup: JoinedGroup
}

export interface HeapOptions {
  readonly size: number
  readonly ops: number
  readonly isBrowser: boolean
}

const count = (1024 * 1024) / 4
const parts = 10

export async function measureHeap({ size, ops, isBrowser }: HeapOptions): Promise<void> {
  const where = isBrowser ? 'the first tab' : 'the process of all peers'
  console.log(
    `# P = ${size}, ${ops} allreduces of 1 MiB, float32 sum; MiB kept in ${where} after a collection`,
  )
  console.log('\n| ops | kept, MiB |\n| --- | --- |')
  const kept: number[] = []
  const note = (bytes: number) => {
    kept.push(bytes)
    console.log(`| ${(kept.length * ops) / parts} | ${(bytes / 2 ** 20).toFixed(2)} |`)
  }
  await (isBrowser ? inTabs(size, ops / parts, note) : onNode(size, ops / parts, note))
  const growth = kept.at(-1)! / kept[1]! - 1
  console.log(`\nGrowth since the second tenth: ${(100 * growth).toFixed(1)} % (at most 10 % is none).`)
  if (growth > 0.1) process.exitCode = 1
}

async function onNode(size: number, each: number, note: (bytes: number) => void): Promise<void> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const server = await startServer()
  try {
    const groups = await Promise.all(
      Array.from({ length: size }, () => join({ url: server.url, room: 'heap', create: true, size })),
    )
    const data = new Float32Array(count).fill(1)
    for (let part = 0; part < parts; part++) {
      for (let op = 0; op < each; op++) await Promise.all(groups.map((group) => group.allreduce(data)))
      await new Promise((resolve) => setTimeout(resolve, 200))
      collect()
      const { heapUsed, arrayBuffers } = process.memoryUsage()
      note(heapUsed + arrayBuffers)
    }
    await Promise.all(groups.map((group) => group.leave()))
  } finally {
    await server.close()
  }
}

async function inTabs(size: number, each: number, note: (bytes: number) => void): Promise<void> {
  const server = await startServer()
  const running = await launchChromium()
  try {
    const tabs = new Tabs(running.context, server)
    await tabs.addScript(await bundleLibrary())
    const pages = await Promise.all(Array.from({ length: size }, async () => (await tabs.openBlank()).page))
    await Promise.all(
      pages.map((page) =>
        page.evaluate(async (members) => {
          globalThis.heapGroup = await papilio.join({ room: 'heap', create: true, size: members })
        }, size),
      ),
    )
    const session = await running.context.newCDPSession(pages[0]!)
    for (let part = 0; part < parts; part++) {
      await Promise.all(
        pages.map((page) =>
          page.evaluate(
            async ({ length, times }) => {
              const data = new Float32Array(length).fill(1)
              for (let op = 0; op < times; op++)
                await globalThis.heapGroup.allreduce(data, { timeoutMs: 60_000 })
            },
            { length: count, times: each },
          ),
        ),
      )
      await session.send('HeapProfiler.collectGarbage')
      const usage: { usedSize: number; backingStorageSize?: number } =
        await session.send('Runtime.getHeapUsage')
      note(usage.usedSize + (usage.backingStorageSize ?? 0))
    }
  } finally {
    await running.close()
    await server.close()
  }
}
