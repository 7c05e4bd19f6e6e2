/** TensorFlow.js is the application's own: it is loaded when it is needed, and from where the application has it. */
import { UnsupportedError } from '../../shared/base/errors.ts'

export type Tf = typeof import('@tensorflow/tfjs-core')

/** @throws {UnsupportedError} @tensorflow/tfjs-core is not installed. */
export async function loadTf(): Promise<Tf> {
  try {
    return await import('@tensorflow/tfjs-core')
  } catch {
    throw new UnsupportedError(
      'tfjs',
      'Install @tensorflow/tfjs (or @tensorflow/tfjs-core) to average its models.',
    )
  }
}
