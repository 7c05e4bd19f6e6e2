/** The digits as a file of the server: where it is, and what must be in it. The package is pinned, so its bytes are known. */
import { ProtocolError } from '../../shared/base/errors.ts'
import { createHasher } from '../../shared/wire/hash.ts'
import type { DataSet } from './dataSet.ts'
import { decodeDigits } from './digits.ts'

const known = { bytes: 2_025_149, hash: 'e471201bde9dc68c' }

/** Path below the root of the server; named after its content, so that it can be kept for ever. */
export const digitsPath = `assets/digits-${known.hash}.bin`

/** @throws {ProtocolError} it is another file, or not whole. */
export function readDigitsFile(bytes: Uint8Array): DataSet {
  assertDigits(bytes)
  return decodeDigits(bytes)
}

export function assertDigits(bytes: Uint8Array): void {
  if (bytes.length !== known.bytes)
    throw new ProtocolError(`the digits have ${bytes.length} bytes and not ${known.bytes}`)
  const hash = createHasher().add(bytes).digest()
  if (hash !== known.hash)
    throw new ProtocolError(`the digits have the fingerprint ${hash} and not ${known.hash}`)
}
