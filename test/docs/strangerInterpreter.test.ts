/** docs/schedule-format.md is enough: an interpreter that knows nothing else runs what `papilio plan` prints. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from './markdown.ts'
import { interpret, type Part, type Schedule } from './strangerInterpreter.ts'

type Plan = Schedule & {
  readonly algorithm: string
  readonly settings: Readonly<Record<string, string | number>>
  readonly verification: Readonly<Record<'once' | 'ordered' | 'rankFold' | 'identical', boolean>>
}
type Algorithm = { name: string; collective: string; parameters: { name: string }[] }

/**
 * Runs the command with each list of arguments, one after the other in one process: most of its time is the start.
 * The query makes the module a new one, so it runs again.
 */
const again = `
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
const { main, runs } = JSON.parse(readFileSync(0, 'utf8'))
const write = process.stdout.write.bind(process.stdout)
const answers = []
process.stdout.setMaxListeners(0)
process.stdout.write = (text) => { answers[answers.length - 1] += text; return true }
for (const [i, args] of runs.entries()) {
  process.argv = [process.argv[0], main, 'plan', ...args]
  answers.push('')
  await import(pathToFileURL(main) + '?run=' + i)
  if (process.exitCode) throw new Error('plan ' + args.join(' '))
}
write(JSON.stringify(answers))
`

const main = join(root, 'client/cli/main.ts')
const node = (args: readonly string[], input = ''): string =>
  execFileSync(process.execPath, ['--import', 'tsx', ...args], {
    cwd: root,
    input,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })

const sizes = [1, 2, 3, 5, 7, 8, 12]
const algorithms: Algorithm[] = JSON.parse(node([main, 'plan', '--list', '--json']))

/** Every algorithm for every size, with the first and the last rank as root. */
const plain = algorithms.flatMap(({ name, collective, parameters }) =>
  sizes.flatMap((size) => {
    const roots = parameters.some((parameter) => parameter.name === 'root') ? [0, size - 1] : []
    const args = ['--size', `${size}`, '--collective', collective, '--algorithm', name]
    return roots.length === 0 ? [args] : [...new Set(roots)].map((rank) => [...args, '--root', `${rank}`])
  }),
)

/** Settings other than the default. */
const special = [
  '--size 3 --algorithm butterfly --r 1',
  '--size 7 --algorithm butterfly --r 2',
  '--size 8 --algorithm butterfly --r 3 --group xor',
  '--size 12 --algorithm butterfly --r 4',
  '--size 12 --algorithm butterfly --group 3x4',
  '--size 12 --algorithm subgroup --order 4',
  '--size 7 --algorithm subgroup --order 1',
  '--size 12 --algorithm ports --ports 2 --r 1',
  '--size 7 --algorithm ports --ports 6',
  '--size 12 --algorithm window --window 1',
  '--size 5 --algorithm segmented-ring --segments 8',
  '--size 12 --algorithm bruck --ports 3',
  '--size 7 --algorithm dissemination --ports 2',
  '--size 5 --algorithm chain --root 1 --pieces 1',
  '--size 7 --algorithm double-tree --pieces 2',
  '--size 8 --algorithm ahc --groups 5+2+1 --inner ring --outer star',
  '--size 7 --algorithm hybrid --r 1',
  '--size 7 --collective reduce --algorithm chain --root 3 --pieces 4',
  '--size 7 --collective broadcast --algorithm scatter-allgather --root 3',
  '--size 7 --collective gather --algorithm binomial --root 3',
  '--size 7 --collective scatter --algorithm binomial --root 3',
  '--size 12 --collective alltoall --algorithm bruck --ports 2',
  '--size 12 --collective barrier --algorithm dissemination --ports 3',
].map((line) => line.split(' '))

const ofOneRank = [...plain, ...special].filter((args) => args[1] === '7')

const [plans, parts] = (() => {
  const whole = [...plain, ...special].map((args) => [...args, '--json', '--verify'])
  const alone = ofOneRank.map((args) => [...args, '--json', '--rank', '4'])
  const input = JSON.stringify({ main, runs: [...whole, ...alone] })
  const answers: string[] = JSON.parse(node(['--input-type=module', '-e', again], input))
  const parsed = <T>(texts: string[]) => texts.map((text): T => JSON.parse(text))
  return [parsed<Plan>(answers.slice(0, whole.length)), parsed<{ part: Part }>(answers.slice(whole.length))]
})()

const titleOf = ({ collective, algorithm, settings, size }: Plan) =>
  `${collective} ${algorithm} of ${size} ranks ${JSON.stringify(settings)}`

/** Does the rank have the chunk? By the table of the document. */
type Has = (plan: Schedule, chunk: number, rank: number) => boolean
const ownerOf = ({ size, chunks }: Schedule, chunk: number) => Math.floor((chunk * size) / chunks)
const all: Has = () => true
const owner: Has = (plan, chunk, rank) => ownerOf(plan, chunk) === rank
const rootOnly: Has = (plan, _, rank) => rank === (plan.root ?? 0)
const target: Has = ({ size, chunks }, chunk, rank) =>
  Math.floor(chunk / (chunks / size ** 2)) % size === rank

const collectives: Record<string, { start: Has; end: Has; reduces: boolean }> = {
  allreduce: { start: all, end: all, reduces: true },
  reduceScatter: { start: all, end: owner, reduces: true },
  reduce: { start: all, end: rootOnly, reduces: true },
  barrier: { start: all, end: all, reduces: true },
  allgather: { start: owner, end: all, reduces: false },
  gather: { start: owner, end: rootOnly, reduces: false },
  broadcast: { start: rootOnly, end: all, reduces: false },
  scatter: { start: rootOnly, end: owner, reduces: false },
  alltoall: { start: owner, end: target, reduces: false },
}

/** What goes in and what must come out, for a vector of n elements. */
function caseOf<T>(
  plan: Plan,
  n: number,
  value: (rank: number, element: number) => T,
  add: (a: T, b: T) => T,
) {
  const { start, end, reduces } = collectives[plan.collective] ?? expect.fail(plan.collective)
  const ranks = Array.from({ length: plan.size }, (_, rank) => rank)
  const bound = (c: number) => Math.floor(plan.cuts ? (plan.cuts[c] ?? 0) * n + 0.5 : (c * n) / plan.chunks)
  const chunkOf = Array.from({ length: plan.chunks }, (_, c) =>
    Array<number>(bound(c + 1) - bound(c)).fill(c),
  ).flat()
  const elements = (has: Has, rank: number) =>
    [...chunkOf.entries()].filter(([, chunk]) => has(plan, chunk, rank))
  const result = ([i, chunk]: [number, number]) => {
    const sources = reduces ? ranks : ranks.filter((rank) => start(plan, chunk, rank))
    return sources.map((rank) => value(rank, i)).reduce(add)
  }
  return {
    inputs: ranks.map((rank) => elements(start, rank).map(([i]) => value(rank, i))),
    outputs: ranks.map((rank) => elements(end, rank).map(result)),
  }
}

const sum = (a: number, b: number) => a + b
const or = (a: number, b: number) => a | b
const inBrackets = (a: string, b: string) => `(${a}${b})`
const inAnyOrder = (a: string, b: string) => `(${[a, b].sort().join('')})`
const letter = (rank: number) => String.fromCharCode(97 + rank)
const lettersOf = (text: string) => text.replace(/[()]/g, '')
const sorted = (text: string) => [...text].sort().join('')
const distinct = (text: string) => [...new Set(text)].join('')

describe('from docs/schedule-format.md alone', () => {
  it('knows every collective that the command has', () => {
    expect([...new Set(algorithms.map(({ collective }) => collective))].sort()).toEqual(
      Object.keys(collectives).sort(),
    )
  })

  for (const collective of Object.keys(collectives)) {
    const ours = plans.filter((plan) => plan.collective === collective)
    const reduces = collectives[collective]?.reduces

    it(`${collective}: right numbers`, () => {
      for (const plan of ours) {
        const once = plan.algorithm !== 'dissemination'
        const add = once ? sum : or
        // A contribution that is missing or counted twice shows in the sum, one that is missing in the bits.
        const value = (rank: number, i: number) => (once ? 3 ** rank * (i + 1) : (1 << rank) | (i << 12))
        const lengths = collective === 'barrier' ? [0] : [0, 1, plan.size - 1, plan.size + 1, 100]
        for (const n of lengths) {
          const { inputs, outputs } = caseOf(plan, n, value, add)
          expect(interpret(plan, inputs, add), `${titleOf(plan)}, ${n} elements`).toEqual(outputs)
        }
      }
    })

    it(`${collective}: operands in the order that the verification tells`, () => {
      for (const plan of ours) {
        const { inputs, outputs } = caseOf(plan, 2 * plan.chunks, letter, inBrackets)
        const results = interpret(plan, inputs, inBrackets)
        const canonical = interpret(plan, inputs, inAnyOrder)
        const texts = results.flat().map(lettersOf)
        const wanted = outputs.flat().map(lettersOf)
        expect(texts.map(distinct).map(sorted), titleOf(plan)).toEqual(wanted)
        const agree = canonical.every((mine) => mine.every((text, i) => text === (canonical[0] ?? [])[i]))
        expect(plan.verification, titleOf(plan)).toEqual({
          once: texts.every((text) => distinct(text) === text),
          ordered: texts.every((text) => sorted(text) === text && distinct(text) === text),
          rankFold: results.flat().every((text, i) => text === outputs.flat()[i]),
          identical: collective === 'allreduce' || collective === 'barrier' ? agree : true,
        })
        if (!reduces) expect(results, titleOf(plan)).toEqual(outputs)
      }
    })
  }

  it('the part of one rank is the same alone', () => {
    const whole = plans.filter(({ size }) => size === 7)
    expect(parts.map(({ part }) => part)).toEqual(whole.map(({ ranks }) => ranks[4]))
  })

  it('refuses what it does not know', () => {
    const [plan = expect.fail('no plan')] = plans
    expect(() => interpret({ ...plan, version: 2 }, [[1]], sum)).toThrow('cannot read papilio-schedule 2')
    expect(() => interpret({ ...plan, format: 'other' }, [[1]], sum)).toThrow('cannot read other 1')
  })
})
