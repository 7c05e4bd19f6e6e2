/** `npm run bench -- plan`: how long it takes to make, prove and choose a schedule. */
import { chooseSchedule } from '../../shared/cost/choose.ts'
import { classroom, internet, loopback, measureScenario } from '../../shared/cost/scenarios.ts'
import type { NetworkModel } from '../../shared/cost/types.ts'
import { buildPart, buildSchedule } from '../../shared/schedule/build.ts'
import type { Algorithm } from '../../shared/schedule/types.ts'
import { verifySchedule } from '../../shared/schedule/verify.ts'

/** One part takes a millisecond or so: it is made this many times as often as a whole schedule. */
const moreParts = 10

export function timePlans(algorithm: Algorithm, runs: number): void {
  console.log(`# ${algorithm.title}, default settings; median [least..most] of ${runs} runs, ms`)
  console.log('| P | one rank | all ranks | proof |')
  console.log('| --- | --- | --- | --- |')
  for (const size of [64, 1024, 10_000]) {
    const one = timed(runs * moreParts, () => void buildPart(algorithm, size, {}, 1))
    // A whole schedule has P parts of P chunks each: beyond a thousand ranks it is of no use to anybody.
    const isSmall = size <= 1024
    const all = isSmall ? timed(runs, () => void buildSchedule(algorithm, size)) : '-'
    const schedule = isSmall ? buildSchedule(algorithm, size) : undefined
    const proof = schedule ? timed(runs, () => void verifySchedule(schedule)) : '-'
    console.log(`| ${size} | ${one} | ${all} | ${proof} |`)
  }
  console.log('\n# The choice of an algorithm, float32, same bits on all ranks, ms')
  console.log(
    '# first: a new network and no schedule of that size known; then: other vectors of about that length',
  )
  console.log('| network | P | vector | first | then |')
  console.log('| --- | --- | --- | --- | --- |')
  for (const size of [7, 16, 30, 64])
    for (const scenario of [loopback, classroom, internet]) {
      const model = measureScenario(scenario(size), 0.1)
      for (const bytes of [424, 1_048_576]) timeChoice(scenario(2).name, size, bytes, model, runs)
    }
}

function timeChoice(name: string, size: number, bytes: number, model: NetworkModel, runs: number): void {
  const call = { rounds: true, commutative: true, idempotent: false, consistency: 'identical' } as const
  const choose = (more: number) => void chooseSchedule({ ...call, size, bytes: bytes + 4 * more }, model)
  const first = milliseconds(() => choose(0))
  let more = 0
  const then = timed(runs, () => choose(++more))
  console.log(`| ${name} | ${size} | ${bytes} B | ${first.toFixed(1)} | ${then} |`)
}

function milliseconds(work: () => void): number {
  const begin = performance.now()
  work()
  return performance.now() - begin
}

/** Milliseconds of `work`: median and spread over the runs, after one run that warms up. */
function timed(runs: number, work: () => void): string {
  work()
  const times = Array.from({ length: runs }, () => milliseconds(work)).sort((a, b) => a - b)
  const ms = (value: number) => value.toFixed(2)
  return `${ms(times[runs >> 1]!)} [${ms(times[0]!)}..${ms(times[runs - 1]!)}]`
}
