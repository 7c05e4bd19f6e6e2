/**
 * `npm run bench -- regret`: real tabs measure every candidate in turns, so that all see the same machine, and the choice is compared with the best
 * of them. Time of an op: that of its slowest rank, from its start to its end there.
 */
import type { join } from '../../client/index.ts'
import { launchChromium } from '../support/launch.ts'
import { bundleLibrary } from '../support/library.ts'
import { Tabs } from '../support/pages.ts'
import { startServer } from '../support/server.ts'
import { median } from './statistics.ts'

declare const papilio: { join: typeof join }

interface Candidate {
  readonly label: string
  readonly algorithm: string
  readonly r?: number
}

interface Sample {
  readonly candidate: number
  readonly bytes: number
  readonly seconds: number
  readonly predicted: number
}

interface Plan {
  readonly size: number
  readonly sizes: readonly number[]
  readonly candidates: readonly Candidate[]
  readonly rounds: number
}

/** Runs in the tab. The first round warms up and does not count. Says last what `auto` takes for each size. */
async function member({
  size,
  sizes,
  candidates,
  rounds,
}: Plan): Promise<{ samples: Sample[]; chosen: string[] }> {
  const group = await papilio.join({ url: location.origin, room: 'bench', create: true, size })
  const samples: Sample[] = []
  const chosen: string[] = []
  for (const bytes of sizes) {
    const data = new Float32Array(bytes / 4).fill(1)
    for (let round = 0; round <= rounds; round++)
      for (const [candidate, { label: _, ...options }] of candidates.entries()) {
        const { report } = await group.allreduce(data, { ...options, consistency: 'fast', timeoutMs: 60_000 })
        if (round > 0)
          samples.push({ candidate, bytes, seconds: report.seconds, predicted: report.predictedSeconds })
      }
    const { report } = await group.allreduce(data, { consistency: 'fast', timeoutMs: 60_000 })
    chosen.push(`${report.algorithm} ${JSON.stringify(report.settings)}`)
  }
  await group.leave()
  return { samples, chosen }
}

export async function regret({ size, rounds }: { size: number; rounds: number }): Promise<void> {
  const steps = Math.ceil(Math.log2(size))
  const candidates: Candidate[] = [
    { label: 'auto', algorithm: 'auto' },
    ...Array.from({ length: steps + 1 }, (_, r) => ({
      label: `butterfly r = ${r}`,
      algorithm: 'butterfly',
      r,
    })),
    ...['ring', 'one-shot', 'two-shot', 'bruck'].map((algorithm) => ({ label: algorithm, algorithm })),
  ]
  const sizes = [424, 65_536, 1_048_576]
  const server = await startServer()
  const running = await launchChromium()
  try {
    const tabs = new Tabs(running.context, server)
    await tabs.addScript(await bundleLibrary())
    const members = await Promise.all(Array.from({ length: size }, () => tabs.openBlank()))
    const plan: Plan = { size, sizes, candidates, rounds }
    const all = await Promise.all(members.map((tab) => tab.page.evaluate(member, plan)))
    console.log(
      `# P = ${size} real tabs, float32 sum, median [least..most] of ${rounds} alternating rounds, ms`,
    )
    for (const [index, bytes] of sizes.entries()) {
      console.log(`\n| ${bytes} B | measured | predicted |\n| --- | --- | --- |`)
      const medians = candidates.map((candidate, at) => {
        const times = Array.from({ length: rounds }, (_, round) =>
          Math.max(
            ...all.map(
              ({ samples }) =>
                samples.filter((s) => s.bytes === bytes && s.candidate === at)[round]!.seconds * 1e3,
            ),
          ),
        )
        const predicted =
          all[0]!.samples.find((s) => s.bytes === bytes && s.candidate === at)!.predicted * 1e3
        const spread = `[${Math.min(...times).toFixed(1)}..${Math.max(...times).toFixed(1)}]`
        console.log(
          `| ${candidate.label} | ${median(times).toFixed(1)} ${spread} | ${predicted.toFixed(1)} |`,
        )
        return median(times)
      })
      const best = Math.min(...medians.slice(1))
      const loss = Math.max(0, medians[0]! / best - 1)
      console.log(`\nauto took ${all[0]!.chosen[index]}; regret ${(100 * loss).toFixed(0)} %`)
    }
  } finally {
    await running.close()
    await server.close()
  }
}
