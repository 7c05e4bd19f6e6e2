/** Models that learn in seconds on a processor. */
import { initializers, layers, type Sequential, sequential } from '@tensorflow/tfjs-layers'
import type { DataSet } from './dataSet.ts'

/** mlp: one hidden layer. cnn: two convolutions with pooling. */
export type ModelKind = 'mlp' | 'cnn'

/** A model from the samples of a data set to one logit for each class; equal seeds give equal weights. */
export function buildModel(
  kind: ModelKind,
  { shape, classes }: Pick<DataSet, 'shape' | 'classes'>,
  seed: number,
): Sequential {
  const inputShape = [...shape]
  const isPicture = shape.length > 1
  let next = seed
  // To TensorFlow.js a seed of 0 is none; a fraction is the seed of no other layer.
  const nextSeed = () => next++ || 0.5
  const relu = () => ({
    activation: 'relu' as const,
    kernelInitializer: initializers.heNormal({ seed: nextSeed() }),
  })
  const units = isPicture ? 64 : 16
  const output = () =>
    layers.dense({
      units: classes.length,
      kernelInitializer: initializers.glorotUniform({ seed: nextSeed() }),
    })
  if (kind === 'mlp')
    return sequential({
      layers: [
        ...(isPicture ? [layers.flatten({ inputShape })] : []),
        layers.dense({ units, ...relu(), ...(!isPicture && { inputShape }) }),
        output(),
      ],
    })
  return sequential({
    layers: [
      layers.conv2d({ inputShape, filters: 8, kernelSize: 3, ...relu() }),
      layers.maxPooling2d({ poolSize: 2 }),
      layers.conv2d({ filters: 16, kernelSize: 3, ...relu() }),
      layers.maxPooling2d({ poolSize: 2 }),
      layers.flatten(),
      output(),
    ],
  })
}
