import '@tensorflow/tfjs-backend-cpu'
import '@tensorflow/tfjs-backend-wasm'
// Brings the gradients of all kernels with it.
import '@tensorflow/tfjs-layers'
import * as tf from '@tensorflow/tfjs-core'
import { describe, expect, it } from 'vitest'
import { registerWasmKernels } from '../../../client/learn/wasmKernels.ts'

tf.enableProdMode()

describe('the gradient of a filter on WebAssembly', () => {
  it('is that of the plain backend', async () => {
    registerWasmKernels()
    const gradient = async (backend: string, pad: 'valid' | 'same', size: number) => {
      await tf.setBackend(backend)
      const x = tf.randomNormal<tf.Rank.R4>([2, 7, 6, 3], 0, 1, 'float32', 1)
      const filter = tf.randomNormal<tf.Rank.R4>([size, size, 3, 4], 0, 1, 'float32', 2)
      const loss = (w: tf.Tensor4D) => tf.sum(tf.square(tf.conv2d(x, w, 1, pad))) as tf.Scalar
      return tf
        .grad(loss as (w: tf.Tensor) => tf.Scalar)(filter)
        .data()
    }
    for (const pad of ['valid', 'same'] as const)
      for (const size of [2, 3]) {
        const [plain, wasm] = [await gradient('cpu', pad, size), await gradient('wasm', pad, size)]
        expect(wasm.length).toBe(size * size * 12)
        for (const [i, value] of wasm.entries()) expect(Math.abs(value - plain[i]!)).toBeLessThan(1e-3)
      }
  })
})
