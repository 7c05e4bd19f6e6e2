/** How long the survivors of one fault take to end the op with a result, in virtual time, with the limits that group and server have by default. */
import { type Fault, type FaultKind, families, type Scenario } from './scenario.ts'
import { defaultLimits, messagesOf, simulate } from './simulate.ts'

const sizes = [3, 8]
const parts = [0, 0.5, 0.9]
const algorithms = ['butterfly', 'ring', 'two-shot', 'binomial']

const cases: readonly { title: string; kind: FaultKind; seconds: number; also?: FaultKind }[] = [
  { title: 'tab closed', kind: 'close', seconds: 0 },
  { title: 'member leaves', kind: 'leave', seconds: 0 },
  { title: 'page loaded again', kind: 'restart', seconds: 2 },
  { title: 'process killed: the server sees its connection end', kind: 'crash', seconds: 4 },
  { title: 'network dropped: nobody is told', kind: 'crash', seconds: 0 },
  { title: 'link cut, both live', kind: 'cut', seconds: 60 },
  { title: 'thread busy for 2 s', kind: 'freeze', seconds: 2 },
  { title: 'asleep for a minute, its connection to the server broken', kind: 'sleep', seconds: 60 },
  { title: 'server away for 5 s', kind: 'outage', seconds: 5 },
  { title: 'server away for 5 s, and a tab closed', kind: 'outage', seconds: 5, also: 'close' },
]

/** Rows of a table in Markdown. */
export async function* times(): AsyncGenerator<string> {
  yield '| fault | median | worst | put out |'
  yield '| --- | --- | --- | --- |'
  for (const { title, kind, seconds, also } of cases) {
    const taken: number[] = []
    let out = 0
    for (const family of families.filter(({ algorithm }) => algorithms.includes(algorithm)))
      for (const size of sizes)
        for (const part of parts) {
          const total = await messagesOf(family, size)
          const afterMessages = 1 + Math.round(part * (total - 1))
          const fault: Fault = { kind, rank: 1, other: 2, phase: 'running', afterMessages, seconds }
          const second: Fault = { ...fault, kind: also ?? kind, afterMessages: afterMessages + 1 }
          const scenario: Scenario = {
            seed: taken.length + 1,
            size,
            count: 257,
            ops: [family, family, family],
            measures: false,
            pauseSeconds: 0,
            faults: also ? [fault, second] : [fault],
          }
          const verdict = await simulate(scenario, { limits: defaultLimits })
          if (verdict.violations.length > 0) throw new Error(`${title}: ${verdict.violations.join(', ')}`)
          taken.push(verdict.seconds)
          if (verdict.out.length > 0) out++
        }
    taken.sort((a, b) => a - b)
    const show = (value: number) => `${value.toFixed(2)} s`
    const share = out === 0 ? 'never' : out === taken.length ? 'always' : `${out} of ${taken.length}`
    yield `| ${title} | ${show(taken[Math.floor(taken.length / 2)]!)} | ${show(taken.at(-1)!)} | ${share} |`
  }
}
