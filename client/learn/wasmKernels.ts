/**
 * What the WebAssembly backend of TensorFlow.js 4.22 lacks for training a convolution: the gradient of its filters. For every place of the filter it
 * is a product of two matrices, all pixels under that place by all outputs:
 *
 *   dW[i, j] = sum over images and outputs (y, x) of input[y + i, x + j]^T dOutput[y, x]
 */
import * as tf from '@tensorflow/tfjs-core'
import { UnsupportedError } from '../../shared/base/errors.ts'

interface Attributes {
  readonly strides: number | readonly number[]
  readonly pad: unknown
  readonly dataFormat: string
  readonly filterShape: readonly [height: number, width: number, inputs: number, outputs: number]
}

/** To be called once after the backend `wasm` was imported. Strides of 1 in NHWC, without padding or with `same`. */
export function registerWasmKernels(): void {
  if (tf.getKernel('Conv2DBackpropFilter', 'wasm')) return
  tf.registerKernel({
    kernelName: 'Conv2DBackpropFilter',
    backendName: 'wasm',
    kernelFunc: ({ inputs, attrs }) => {
      const { x, dy } = inputs as { x: tf.TensorInfo; dy: tf.TensorInfo }
      return filterGradient(x as tf.Tensor4D, dy as tf.Tensor4D, attrs as unknown as Attributes)
    },
  })
}

function filterGradient(
  x: tf.Tensor4D,
  dy: tf.Tensor4D,
  { strides, pad, dataFormat, filterShape }: Attributes,
) {
  const steps = typeof strides === 'number' ? [strides] : strides
  if (steps.some((step) => step !== 1) || dataFormat !== 'NHWC' || (pad !== 'valid' && pad !== 'same'))
    throw new UnsupportedError(
      'convolution',
      'On WebAssembly, train convolutions of stride 1 with padding valid or same.',
    )
  const [height, width, channels, outputs] = filterShape
  return tf.tidy(() => {
    const [images, rows, columns] = dy.shape
    const around = (size: number): [number, number] =>
      pad === 'same' ? [(size - 1) >> 1, size >> 1] : [0, 0]
    const padded = tf.pad(x, [[0, 0], around(height), around(width), [0, 0]])
    const pixels = images * rows * columns
    const flatOutputs = tf.reshape(dy, [pixels, outputs])
    const places = Array.from({ length: height * width }, (_, place) => {
      const window = tf.slice(
        padded,
        [0, Math.floor(place / width), place % width, 0],
        [images, rows, columns, channels],
      )
      return tf.matMul(tf.reshape(window, [pixels, channels]), flatOutputs, true, false)
    })
    return tf.reshape(tf.stack(places), [...filterShape])
  })
}
