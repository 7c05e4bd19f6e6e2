/** Secrets by Web Cryptography, which browsers and Node have alike. */
import { UnsupportedError } from '../../shared/base/errors.ts'
import type { KeyPair, Secrets } from '../../shared/federated/secrets.ts'

const curve = { name: 'X25519' }
/** What getRandomValues gives at once. */
const maxRandomBytes = 65_536

export const webSecrets: Secrets = {
  randomBytes(count) {
    const bytes = new Uint8Array(count)
    for (let at = 0; at < count; at += maxRandomBytes)
      crypto.getRandomValues(bytes.subarray(at, Math.min(count, at + maxRandomBytes)))
    return bytes
  },
  createKeyPair,
}

/** @throws {UnsupportedError} no X25519 here: an old browser, or a page that was not loaded over https or from localhost. */
async function createKeyPair(): Promise<KeyPair> {
  const subtle: SubtleCrypto | undefined = crypto.subtle
  if (!subtle)
    throw new UnsupportedError('secure aggregation', 'Web Cryptography needs a page from https or localhost.')
  const { publicKey, privateKey } = await generate(subtle)
  return {
    publicKey: new Uint8Array(await subtle.exportKey('raw', publicKey)),
    async stream(theirs, info, bytes) {
      const other = await subtle.importKey('raw', new Uint8Array(theirs), curve, false, [])
      const shared = await subtle.deriveBits({ ...curve, public: other }, privateKey, 256)
      const secret = await subtle.importKey('raw', shared, 'HKDF', false, ['deriveKey'])
      const hkdf = {
        name: 'HKDF',
        hash: 'SHA-256',
        salt: new Uint8Array(0),
        info: new TextEncoder().encode(info),
      }
      const key = await subtle.deriveKey(hkdf, secret, { name: 'AES-CTR', length: 128 }, false, ['encrypt'])
      // A key for one stream only, so that the counter may begin at 0.
      const counter = { name: 'AES-CTR', counter: new Uint8Array(16), length: 64 }
      return new Uint8Array(await subtle.encrypt(counter, key, new Uint8Array(bytes)))
    },
  }
}

async function generate(subtle: SubtleCrypto): Promise<CryptoKeyPair> {
  try {
    return (await subtle.generateKey(curve, false, ['deriveBits'])) as CryptoKeyPair
  } catch (cause) {
    throw new UnsupportedError(
      'secure aggregation',
      `This browser has no X25519 (${String(cause)}). Update it.`,
    )
  }
}
