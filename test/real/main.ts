/** `npm run faults -- --real N --seed S [--browser]`: scenarios with real processes or tabs. The last line is JSON. */

import { createNodePeers } from './nodePeers.ts'
import type { PeerSource } from './peers.ts'
import { play, type RealVerdict } from './play.ts'
import { realScenario } from './realScenario.ts'
import { startServerProcess } from './serverProcess.ts'
import { createTabPeers } from './tabPeers.ts'

export interface RealOptions {
  readonly scenarios: number
  readonly seed: number
  readonly isBrowser: boolean
  /** Scenarios at the same time, each with a server of its own: most of the time of a scenario is waiting. */
  readonly rooms: number
  /** Tells what happens. */
  readonly isTraced: boolean
}

/** Resolves with the number of scenarios that broke an invariant. */
export async function runReal(options: RealOptions): Promise<number> {
  const { scenarios, seed, isBrowser, isTraced } = options
  const rooms = Math.min(options.rooms, scenarios)
  const servers = await Promise.all(Array.from({ length: rooms }, startServerProcess))
  const tabs = isBrowser ? await createTabPeers() : undefined
  const peers: PeerSource = tabs ?? createNodePeers()
  const recoveries: RealVerdict['recoveries'][number][] = []
  let violations = 0
  let next = seed
  const playOn = async (server: (typeof servers)[number]) => {
    while (next < seed + scenarios) {
      const scenario = realScenario(next++, peers.kinds)
      if (isTraced) console.log(JSON.stringify(scenario, undefined, 2))
      const verdict = await play(scenario, { peers, server, trace: isTraced ? console.log : undefined })
      recoveries.push(...verdict.recoveries)
      if (verdict.violations.length === 0) continue
      violations++
      console.log(
        `seed ${scenario.seed}: ${verdict.violations.join('\n  ')}\n` +
          `  again: npm run faults -- --real 1 --only ${scenario.seed}${isBrowser ? ' --browser' : ''}`,
      )
    }
  }
  try {
    await Promise.all(servers.map(playOn))
  } finally {
    await peers.close()
    await Promise.all(servers.map((server) => server.close()))
  }
  const problems = tabs?.problems() ?? []
  for (const problem of problems) console.log(problem)
  violations += problems.length
  const all = recoveries.map(({ seconds }) => seconds).sort((a, b) => a - b)
  for (const kind of new Set(recoveries.map((recovery) => recovery.kind))) {
    const times = recoveries.filter((recovery) => recovery.kind === kind).map(({ seconds }) => seconds)
    console.log(`${kind}: ${times.length} times, result of the survivors ${spread(times)} s later`)
  }
  console.log(
    JSON.stringify({
      scenarios,
      violations,
      seed,
      medianSeconds: all[all.length >> 1] ?? null,
      worstSeconds: all.at(-1) ?? null,
    }),
  )
  return violations
}

function spread(times: number[]): string {
  const sorted = times.sort((a, b) => a - b)
  const [median, worst] = [sorted[sorted.length >> 1]!, sorted.at(-1)!]
  return `${median.toFixed(2)} (median), ${worst.toFixed(2)} (worst)`
}
