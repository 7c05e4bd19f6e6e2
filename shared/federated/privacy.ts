/**
 * Differential privacy of a peer's whole update: clipped to a norm and covered with Gaussian noise before anything leaves the peer.
 *
 * One round is the Gaussian mechanism with sensitivity `clip` (a peer's update is there, or zeros in its place) and deviation noise * clip. Its
 * Renyi divergence of order a is a / (2 noise^2) (Mironov 2017, "Renyi Differential Privacy", Corollary 3); rounds add up (Proposition 1); and order a
 * with divergence e gives (epsilon, delta) with
 *
 *   epsilon = e + log((a - 1) / a) - (log(delta) + log(a)) / (a - 1)
 *
 * (Canonne, Kamath and Steinke 2020, "The Discrete Gaussian for Differential Privacy", Proposition 12). epsilonOf takes the best order.
 */
import { ArgumentError } from '../base/errors.ts'
import type { Secrets } from './secrets.ts'

export interface Privacy {
  /** Largest Euclidean norm of an update; a longer one is shortened to it. */
  readonly clip: number
  /** Deviation of the noise on every element, as a multiple of `clip`. */
  readonly noise: number
  /** What epsilon is stated for. Default 1e-5. */
  readonly delta?: number
}

export const defaultDelta = 1e-5

const orders = [
  ...Array.from({ length: 90 }, (_, i) => 1.1 + i / 10),
  ...Array.from({ length: 53 }, (_, i) => 11 + i),
  ...[72, 96, 128, 192, 256, 512, 1024, 4096, 16_384],
]

/**
 * Epsilon of a peer that has sent `rounds` updates with this noise. With secure aggregation nobody sees less than a sum: then
 * the noise of `honest` peers counts together, as if each had added sqrt(honest) times as much; default 1: only its own.
 */
export function epsilonOf({
  noise,
  rounds,
  delta = defaultDelta,
  honest = 1,
}: {
  readonly noise: number
  readonly rounds: number
  readonly delta?: number
  readonly honest?: number
}): number {
  if (rounds === 0) return 0
  if (!(noise > 0)) return Number.POSITIVE_INFINITY
  const variance = noise * noise * honest
  const candidates = orders.map((order) => {
    const divergence = (rounds * order) / (2 * variance)
    return divergence + Math.log((order - 1) / order) - (Math.log(delta) + Math.log(order)) / (order - 1)
  })
  return Math.max(0, Math.min(...candidates))
}

export function assertPrivacy({ clip, noise, delta = defaultDelta }: Privacy): void {
  if (!(clip > 0) || !Number.isFinite(clip)) throw new ArgumentError('privacy.clip', 'Pass a positive norm.')
  if (!(noise >= 0) || !Number.isFinite(noise))
    throw new ArgumentError('privacy.noise', 'Pass 0 or more, such as 1.')
  if (!(delta > 0 && delta < 1))
    throw new ArgumentError('privacy.delta', 'Pass a number between 0 and 1, such as 1e-5.')
}

/** Shortens a vector to at most `norm`, in place. */
export function clipTo(vector: Float32Array, norm: number): void {
  let square = 0
  for (const value of vector) square += value * value
  const length = Math.sqrt(square)
  if (length > norm) for (let i = 0; i < vector.length; i++) vector[i] = vector[i]! * (norm / length)
}

/** Clips and adds noise, in place. */
export function makePrivate(
  update: Float32Array,
  { clip, noise }: Privacy,
  secrets: Pick<Secrets, 'randomBytes'>,
): void {
  clipTo(update, clip)
  if (noise === 0) return
  const normals = gaussians(update.length, secrets)
  for (let i = 0; i < update.length; i++) update[i] = update[i]! + noise * clip * normals[i]!
}

/** Normal deviates by Box and Muller, each pair from two uniform numbers of 53 bits. */
export function gaussians(count: number, { randomBytes }: Pick<Secrets, 'randomBytes'>): Float64Array {
  const out = new Float64Array(count + (count % 2))
  const words = new Uint32Array(randomBytes(8 * out.length).slice().buffer)
  // In (0, 1]: its logarithm is finite.
  const uniform = (i: number) => ((words[2 * i]! >>> 5) * 2 ** 26 + (words[2 * i + 1]! >>> 6) + 1) / 2 ** 53
  for (let i = 0; i < out.length; i += 2) {
    const radius = Math.sqrt(-2 * Math.log(uniform(i)))
    const angle = 2 * Math.PI * uniform(i + 1)
    out[i] = radius * Math.cos(angle)
    out[i + 1] = radius * Math.sin(angle)
  }
  return out.subarray(0, count)
}
