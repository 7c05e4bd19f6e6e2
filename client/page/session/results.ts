/** Runs as the page compares them: the outcomes of one, and measurements of many pooled by what makes them comparable. */
import type { Settings } from '../../../shared/schedule/types.ts'
import { type Outcome, outcomeOf, quantile, type Times } from '../../session/outcome.ts'
import type { RunState } from './runState.ts'

export function outcomesOf(run: RunState): Outcome[] {
  return run.start.spec.variants.flatMap((_, variant) => outcomeOf(run, variant) ?? [])
}

/** What makes measurements comparable: they then belong in one table. */
export interface Setting {
  readonly bytes: number
  readonly dtype: string
  readonly op: string
  /** Members in rank order: the same peers on the same links. */
  readonly members: string
}

export function settingOf(run: RunState): Setting {
  const { bytes, dtype, op } = run.start.spec
  return { bytes, dtype, op, members: run.members.map((member) => member.peerId).join(' ') }
}

export function settingsKey(algorithm: string, settings: Settings): string {
  const pairs = Object.entries(settings).sort(([a], [b]) => (a < b ? -1 : 1))
  return `${algorithm} ${pairs.map(([name, value]) => `${name}=${value}`).join(' ')}`
}

export interface Measured extends Times {
  readonly algorithm: string
  readonly settings: Settings
}

/** All measurements of finished runs with this setting, pooled by algorithm and settings (`settingsKey`). */
export function measurementsFor(history: readonly RunState[], setting: Setting): Map<string, Measured> {
  const pools = new Map<string, { algorithm: string; settings: Settings; seconds: number[] }>()
  for (const run of history) {
    if (JSON.stringify(settingOf(run)) !== JSON.stringify(setting)) continue
    for (const { algorithm, settings, times, lost } of outcomesOf(run)) {
      // The time in which a loss was noticed and the rest began anew is no time of the schedule.
      if (lost > 0) continue
      const key = settingsKey(algorithm, settings)
      const pool = pools.get(key) ?? { algorithm, settings, seconds: [] }
      pools.set(key, pool)
      pool.seconds.push(...times.seconds)
    }
  }
  return new Map(
    [...pools].map(([key, pool]) => [
      key,
      { ...pool, median: quantile(pool.seconds, 0.5), p95: quantile(pool.seconds, 0.95) },
    ]),
  )
}
