/**
 * What federated training comes to, on handwritten digits: peers of two classes each against central training and against themselves alone;
 * peers that send poison; and what secure aggregation costs. Trained for real, by peers in this process.
 */
import '@tensorflow/tfjs-backend-cpu'
import '@tensorflow/tfjs-backend-wasm'
import * as tf from '@tensorflow/tfjs-core'
import { webSecrets } from '../../client/federated/secrets.ts'
import { type DataSet, splitAmong, splitForTest } from '../../client/learn/dataSet.ts'
import { decodeDigits } from '../../client/learn/digits.ts'
import { buildModel } from '../../client/learn/models.ts'
import { digitsFromPackage } from '../../client/learn/packages.ts'
import { createLearner, evaluate } from '../../client/learn/trainer.ts'
import { createMemoryGroup, type MemoryGroupOptions } from '../../shared/collective/memoryGroup.ts'
import { createRounds } from '../../shared/federated/rounds.ts'
import type { RoundOptions, Trainer } from '../../shared/federated/roundTypes.ts'

const testCount = 2000
const batchSize = 16
/** A tenth of an epoch each: 20 epochs in all, as many as central training gets. */
const budget: RoundOptions = {
  rounds: 200,
  epochs: 0.1,
  learningRate: { kind: 'cosine', from: 0.3, to: 0.01, rounds: 200 },
  optimizer: { kind: 'momentum', momentum: 0.9 },
}
const poisoners = 2
const scale = -10

const pause = async () => {}
const percent = (value: number) => (100 * value).toFixed(1)
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

function spread(values: readonly number[], show: (value: number) => string): string {
  return `${show(mean(values))} [${show(Math.min(...values))}..${show(Math.max(...values))}]`
}

/** Trains with the same number of samples as the rounds of `peers` peers together, and asks for the accuracy on `test`. */
async function alone(train: DataSet, test: DataSet, seed: number, learningRate: number): Promise<number> {
  const model = buildModel('mlp', train, seed)
  const learner = createLearner({ model, data: train, seed, batchSize, pause })
  const task = { epochs: 1, proximal: 0, reference: {}, signal: new AbortController().signal }
  const epochs = Math.round(budget.rounds * 0.1)
  for (let round = 0; round < epochs; round++) {
    const rate = learningRate * (1 - round / epochs)
    await learner.train({ ...task, round, learningRate: rate })
  }
  const { accuracy } = await evaluate(model, test, pause)
  model.dispose()
  return accuracy
}

/** Sends `scale` times its honest update, as an attacker would who does not want to be seen training. */
function poison(trainer: Trainer): Trainer {
  return {
    ...trainer,
    async train(task) {
      const result = await trainer.train(task)
      const trained = await trainer.read()
      const wrong = Object.entries(trained).map(([name, tensor]) => {
        const values = 'data' in tensor ? tensor.data : tensor
        const before = task.reference[name]!
        return [
          name,
          Float32Array.from(values, (value, i) => before[i]! + scale * (value - before[i]!)),
        ] as const
      })
      await trainer.write(Object.fromEntries(wrong))
      return result
    },
  }
}

async function together(
  hands: readonly DataSet[],
  test: DataSet,
  seed: number,
  bad: number,
  options: Partial<RoundOptions>,
) {
  const groups = await createMemoryGroup(hands.length, { measure: false })
  const models = hands.map((hand) => buildModel('mlp', hand, seed))
  await Promise.all(
    groups.map((group, rank) => {
      const learner = createLearner({
        model: models[rank]!,
        data: hands[rank]!,
        seed: seed + rank,
        batchSize,
        pause,
      })
      const rounds = createRounds(group, rank < bad ? poison(learner) : learner, { ...budget, ...options })
      return rounds.run()
    }),
  )
  const { accuracy } = await evaluate(models[0]!, test, pause)
  for (const model of models) model.dispose()
  return accuracy
}

export const learnParts = ['split', 'poison', 'cost'] as const

export async function learn(part: (typeof learnParts)[number], peers: number, seeds: number): Promise<void> {
  if (part === 'cost') return cost(peers)
  await tf.setBackend('wasm')
  const digits = decodeDigits(await digitsFromPackage())
  const found = new Map<string, number[]>()
  const note = (name: string, accuracy: number) => found.set(name, [...(found.get(name) ?? []), accuracy])
  for (let seed = 1; seed <= seeds; seed++) {
    const data = splitForTest(digits, testCount, seed)
    await (part === 'split' ? compareSplit(data, peers, seed, note) : comparePoison(data, peers, seed, note))
  }
  const trained = digits.count - testCount
  console.log(
    `# ${trained} digits for training, ${testCount} for the test; mean [least..most] of ${seeds} seeds, %`,
  )
  console.log(
    part === 'split'
      ? `# ${peers} peers with two classes each; ${budget.rounds} rounds of a tenth of an epoch, all others 20 epochs`
      : `# ${peers} peers with all classes, ${poisoners} of them send their update times ${scale}; ${short.rounds} rounds of an epoch`,
  )
  console.log('| trained | accuracy |\n| --- | --- |')
  for (const [name, values] of found) console.log(`| ${name} | ${spread(values, percent)} |`)
}

type Data = { readonly train: DataSet; readonly test: DataSet }
type Note = (name: string, accuracy: number) => void

async function compareSplit({ train, test }: Data, peers: number, seed: number, note: Note) {
  const hands = splitAmong(train, { peers, skew: 1, seed })
  note('central', await alone(train, test, seed, 0.1))
  note('averaged', await together(hands, test, seed, 0, {}))
  note('each peer alone', mean(await inTurn(hands, (hand) => alone(hand, test, seed, 0.1))))
}

const short = { rounds: 10, epochs: 1, learningRate: 0.1, optimizer: { kind: 'average' } } as const

async function comparePoison({ train, test }: Data, peers: number, seed: number, note: Note) {
  const hands = splitAmong(train, { peers, skew: 0, seed })
  note('mean, nobody sends poison', await together(hands, test, seed, 0, short))
  note('mean', await together(hands, test, seed, poisoners, short))
  for (const kind of ['median', 'trimmed-mean', 'centred-clipping'] as const)
    note(kind, await together(hands, test, seed, poisoners, { ...short, aggregate: { kind } }))
}

async function inTurn<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (const item of items) results.push(await work(item))
  return results
}

const modelSize = 1_000_000
const uplink = 20e6 / 8
const costRuns = 5

/**
 * Rounds of a model of 1 M parameters without training. The links of a peer have an uplink of 20 Mbit/s between them, and a round trip of 10 ms. All
 * peers compute on this machine, one after the other: the work of a round weighs `peers` times as much here as it does on machines of their own.
 */
async function cost(peers: number): Promise<void> {
  const ways: Readonly<Record<string, Partial<RoundOptions>>> = {
    mean: {},
    'mean, bf16': { wire: 'bf16' },
    'mean, q8': { wire: 'q8' },
    secure: { aggregate: 'secure', secrets: webSecrets },
    median: { aggregate: { kind: 'median' } },
  }
  const network: MemoryGroupOptions = { bandwidth: uplink / (peers - 1), latency: 0.005 }
  const seconds = new Map<string, number[]>()
  const bytes = new Map<string, number>()
  for (const [name, options] of Object.entries(ways)) {
    const groups = await createMemoryGroup(peers, network)
    const reports = await Promise.all(
      groups.map((group, rank) =>
        createRounds(group, idleTrainer(rank), { rounds: costRuns + 1, ...options }).run(),
      ),
    )
    // The first round warms up.
    const rounds = reports.map((report) => report.rounds.slice(1))
    seconds.set(
      name,
      rounds[0]!.map((_, i) => Math.max(...rounds.map((own) => own[i]!.seconds.exchange))),
    )
    bytes.set(name, Math.max(...rounds.flat().map((report) => report.bytesSent)))
  }
  const plain = seconds.get('mean')!
  console.log(
    `\n# ${modelSize} parameters, ${peers} peers, uplinks of 20 Mbit/s; one round without training, ${costRuns} rounds`,
  )
  console.log(
    '| aggregation | s | times mean | bytes sent by a peer / model in f32 |\n| --- | --- | --- | --- |',
  )
  for (const [name, times] of seconds) {
    const ratio = (mean(times) / mean(plain)).toFixed(2)
    console.log(
      `| ${name} | ${spread(times, (value) => value.toFixed(2))} | ${ratio} | ${(bytes.get(name)! / (4 * modelSize)).toFixed(3)} |`,
    )
  }
}

function idleTrainer(rank: number): Trainer {
  const weights = new Float32Array(modelSize)
  return {
    read: () => ({ weights }),
    write: (tensors) => weights.set(tensors.weights!),
    async train() {
      for (let i = 0; i < modelSize; i++) weights[i]! += Math.sin(i + rank) / 100
      return { samples: 100 + rank }
    },
  }
}
