/** A model small enough to compute by hand: y = w x, trained by gradient descent on a peer's own points. */
import type { LocalTask, Trainer } from '../../../shared/federated/roundTypes.ts'
import type { NamedTensors, Values } from '../../../shared/federated/tensors.ts'

export interface Line extends Trainer {
  readonly weight: Float32Array
  /** Tasks that the engine gave, in order. */
  readonly tasks: Pick<LocalTask, 'round' | 'epochs' | 'learningRate' | 'proximal'>[]
}

/** One step of the gradient of the mean of (w x - y)^2 / 2 and mu (w - reference)^2 / 2, in 32 bits. */
export function descend(
  weight: Float32Array,
  points: readonly (readonly [number, number])[],
  task: Pick<LocalTask, 'epochs' | 'learningRate' | 'proximal'>,
  reference: Values,
): void {
  for (let epoch = 0; epoch < task.epochs; epoch++) {
    const slope = points.reduce((sum, [x, y]) => sum + x * (weight[0]! * x - y), 0) / points.length
    weight[0] = weight[0]! - task.learningRate * (slope + task.proximal * (weight[0]! - reference[0]!))
  }
}

export function createLine(
  start: number,
  points: readonly (readonly [number, number])[],
  wait: () => Promise<void> = async () => {},
): Line {
  const weight = new Float32Array([start])
  const seen = new Int32Array(1)
  const tasks: Line['tasks'] = []
  return {
    weight,
    tasks,
    read: (): NamedTensors => ({ w: weight.slice(), seen: seen.slice() }),
    write(tensors) {
      weight.set(tensors.w!)
      seen.set(tensors.seen!)
    },
    async train({ round, epochs, learningRate, proximal, reference }) {
      tasks.push({ round, epochs, learningRate, proximal })
      await wait()
      descend(weight, points, { epochs, learningRate, proximal }, reference.w!)
      seen[0]! += points.length
      return { samples: points.length, metrics: { loss: points.length, accuracy: 0.5 } }
    },
  }
}
