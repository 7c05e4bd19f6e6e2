/**
 * 64-bit fingerprints of bytes, equal on every platform: two lanes of 32-bit multiply and mix (the finalizer of MurmurHash3), with different
 * constants. They find replicas that have drifted; they are no protection against somebody who wants a collision.
 */

const mix = (hash: number) => {
  let h = hash
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return h ^ (h >>> 16)
}

export interface Hasher {
  /** Takes the bytes of an array; arrays one after the other are not the same as their concatenation. */
  add(array: ArrayBufferView): Hasher
  /** 16 hexadecimal digits. */
  digest(): string
}

export function createHasher(): Hasher {
  let a = 0x9747b28c
  let b = 0x3c6ef372
  const word = (value: number) => {
    a = (Math.imul((a ^ value) | 0, 0xcc9e2d51) + 0x1b873593) | 0
    a ^= a >>> 15
    b = (Math.imul((b + value) | 0, 0x9e3779b1) ^ (b >>> 13)) | 0
  }
  const hasher: Hasher = {
    add(array) {
      const { buffer, byteOffset, byteLength } = array
      word(byteLength)
      if (byteOffset % 4 === 0)
        for (const value of new Int32Array(buffer, byteOffset, byteLength >> 2)) word(value)
      else {
        const view = new DataView(buffer, byteOffset, byteLength)
        for (let at = 0; at + 4 <= byteLength; at += 4) word(view.getInt32(at, true))
      }
      const tail = new Uint8Array(buffer, byteOffset + (byteLength & ~3), byteLength & 3)
      for (const value of tail) word(value)
      return hasher
    },
    digest: () => [mix(a ^ b), mix(b)].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join(''),
  }
  return hasher
}

const encoder = new TextEncoder()

export function hashText(text: string): string {
  return createHasher().add(encoder.encode(text)).digest()
}
