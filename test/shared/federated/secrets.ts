/** Secrets that a test can repeat: the streams of a pair are those of a generator seeded by both public keys. */
import { createPrng } from '../../../shared/base/prng.ts'
import type { Secrets } from '../../../shared/federated/secrets.ts'

export function createTestSecrets(seed: number): Secrets {
  const random = createPrng(seed)
  const bytes = (count: number, next: () => number) =>
    Uint8Array.from({ length: count }, () => Math.floor(256 * next()))
  return {
    randomBytes: (count) => bytes(count, random.next),
    async createKeyPair() {
      const publicKey = bytes(32, random.next)
      return {
        publicKey,
        async stream(theirs, info, count) {
          const keys = [publicKey, theirs].map((key) => new DataView(key.slice().buffer).getUint32(0))
          const characters = [...info].reduce((sum, char) => Math.imul(sum, 31) + char.charCodeAt(0), 7)
          return bytes(count, createPrng((keys[0]! ^ keys[1]! ^ characters) >>> 0).next)
        },
      }
    },
  }
}
