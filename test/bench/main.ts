/** `npm run bench -- plan | regret | kernels | learn`: measurements that print tables; never part of the tests. */
import { parseArgs } from 'node:util'
import { buildPart, buildSchedule } from '../../shared/schedule/build.ts'
import { findAlgorithm } from '../../shared/schedule/registry.ts'
import { verifySchedule } from '../../shared/schedule/verify.ts'
import { kernels } from './kernels.ts'
import { learn, learnParts } from './learn.ts'
import { regret } from './regret.ts'

function usage(exitCode: number): never {
  const print = exitCode === 0 ? console.log : console.error
  print('Usage: npm run bench -- plan [--algorithm NAME] [--runs N]')
  print('       npm run bench -- regret [-p PEERS] [--runs N]')
  print('       npm run bench -- kernels')
  print('       npm run bench -- learn split|poison|cost [-p PEERS] [--runs SEEDS]   federated training')
  process.exit(exitCode)
}

function parse() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        runs: { type: 'string', default: '5' },
        algorithm: { type: 'string', default: 'butterfly' },
        peers: { type: 'string', short: 'p', default: '7' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    return usage(2)
  }
}

const { positionals, values } = parse()
if (values.help) usage(0)
const runs = Number(values.runs)
const peers = Number(values.peers)
const isWhole = (value: number) => Number.isSafeInteger(value) && value >= 1
if (
  !isWhole(runs) ||
  !isWhole(peers) ||
  !['plan', 'regret', 'kernels', 'learn'].includes(positionals[0] ?? '')
)
  usage(2)
if (positionals[0] === 'kernels') {
  await kernels()
  process.exit()
}
if (positionals[0] === 'learn') {
  const part = learnParts.find((name) => name === positionals[1]) ?? usage(2)
  await learn(part, peers, runs)
  process.exit()
}
if (positionals[0] === 'regret') {
  await regret({ size: peers, rounds: runs })
  process.exit()
}

/** Milliseconds of `work`: median and spread over the runs, after one run that warms up. */
function timed(work: () => void): string {
  work()
  const times = Array.from({ length: runs }, () => {
    const begin = performance.now()
    work()
    return performance.now() - begin
  }).sort((a, b) => a - b)
  const ms = (value: number) => value.toFixed(2)
  return `${ms(times[runs >> 1]!)} [${ms(times[0]!)}..${ms(times[runs - 1]!)}]`
}

const algorithm = findAlgorithm(values.algorithm, 'allreduce')
console.log(`# ${algorithm.title}, default settings; median [least..most] of ${runs} runs, ms`)
console.log('| P | one rank | all ranks | proof |')
console.log('| --- | --- | --- | --- |')
for (const size of [64, 1024, 10_000]) {
  const one = timed(() => void buildPart(algorithm, size, {}, 1))
  // A whole schedule has P parts of P chunks each: beyond a thousand ranks it is of no use to anybody.
  const isSmall = size <= 1024
  const all = isSmall ? timed(() => void buildSchedule(algorithm, size)) : '-'
  const schedule = isSmall ? buildSchedule(algorithm, size) : undefined
  const proof = schedule ? timed(() => void verifySchedule(schedule)) : '-'
  console.log(`| ${size} | ${one} | ${all} | ${proof} |`)
}
