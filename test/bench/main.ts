/** `npm run bench -- table | lab | report | plan | choose | regret | plane | heap | block | kernels | learn`: measurements that print tables; never part of the tests. */
import { parseArgs } from 'node:util'
import { findAlgorithm } from '../../shared/schedule/registry.ts'
import { measureBlocks } from './block.ts'
import { choose } from './choose.ts'
import { measureHeap } from './heap.ts'
import { kernels } from './kernels.ts'
import { labFlags, labHelp, parseLab } from './lab/options.ts'
import { reportFiles } from './lab/report.ts'
import { measureLab } from './lab/run.ts'
import { learn, learnParts } from './learn.ts'
import { timePlans } from './plan.ts'
import { measurePlane } from './plane.ts'
import { regret } from './regret.ts'
import { listRows, measureRow } from './table.ts'

const help = `Usage: npm run bench -- ...
  --lab NETWORK [...]                    allreduces in the lab, all candidates side by side; --lab help says more
  table ROW [PART] [--out FILE | --from FILE]   one row of docs/benchmarks.md; --from judges what --out has written
  report FILES                           the tables of what --out has written
  plan [--algorithm NAME] [--runs N]     how long it takes to make, prove, choose
  choose [-p SIZES] [--measured]         the choice on simulated networks
  regret [-p PEERS] [--runs N]           the choice in real tabs
  plane [-p SIZES] [--runs N] [--browser]   against the same channels driven raw
  heap [-p PEERS] [--browser]            memory over 1000 allreduces of 1 MiB
  block [-p PEERS] [--runs N] [--worker]   how long 64 MiB block the thread of a page
  kernels                                loops against WebAssembly SIMD
  learn split|poison|cost [-p PEERS] [--runs SEEDS]   federated training
Rows of the table:
${listRows()}`

function usage(exitCode: number): never {
  const print = exitCode === 0 ? console.log : console.error
  print(help)
  process.exit(exitCode)
}

function parse() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        runs: { type: 'string', default: '5' },
        algorithm: { type: 'string', default: 'butterfly' },
        peers: { type: 'string', short: 'p' },
        measured: { type: 'boolean', default: false },
        browser: { type: 'boolean', default: false },
        worker: { type: 'boolean', default: false },
        from: { type: 'string' },
        ...labFlags,
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
const sizes = values.peers?.split(',').map(Number)
const isWhole = (value: number) => Number.isSafeInteger(value) && value >= 1
if (!isWhole(runs) || sizes?.some((size) => !isWhole(size))) usage(2)

const inLab = async () => {
  if (values.lab === 'help') return console.log(labHelp)
  await measureLab(parseLab(values, { sizes, rounds: runs, isBrowser: values.browser }))
}
const measurements: Readonly<Record<string, () => unknown>> = {
  lab: inLab,
  table: () =>
    measureRow(positionals[1] ?? '', positionals[2], {
      runs,
      sizes,
      isBrowser: values.browser,
      out: values.out,
      from: values.from,
    }),
  report: () => reportFiles(positionals.slice(1)),
  plan: () => timePlans(findAlgorithm(values.algorithm, 'allreduce'), runs),
  choose: () => choose(sizes, values.measured),
  regret: () => regret({ size: sizes?.[0] ?? 7, rounds: runs }),
  plane: () => measurePlane({ sizes, runs, isBrowser: values.browser }),
  block: () => measureBlocks(sizes?.[0] ?? 2, runs, values.worker),
  heap: () => measureHeap({ size: sizes?.[0] ?? 3, ops: 1000, isBrowser: values.browser }),
  kernels,
  learn: () => {
    const part = learnParts.find((name) => name === positionals[1]) ?? usage(2)
    return learn(part, sizes?.[0] ?? 7, runs)
  },
}
const name = positionals[0] ?? (values.lab === undefined ? '' : 'lab')
const measure = measurements[name] ?? usage(2)
try {
  await measure()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
process.exit(process.exitCode ?? 0)
