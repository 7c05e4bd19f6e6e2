/**
 * Handwritten digits (MNIST) as compact bytes, in which runs of empty pixels are counted:
 *
 * | at | bytes | what |
 * | --- | --- | --- |
 * | 0 | 4 | "PAPD" |
 * | 4 | 4 | number of images n, little-endian |
 * | 8 | n | labels, 0 to 9 |
 * | 8 + n | | pixels of all images in rows, 1 .. 255 as such; 0 and a length 1 .. 255 for a run of zeros |
 */
import { ProtocolError } from '../../shared/base/errors.ts'
import type { DataSet } from './dataSet.ts'

const magic = 0x44504150
const side = 28
const pixels = side * side
const maxImages = 70_000
const headerBytes = 8

/** `digits[d]`: the images of digit d one after the other, pixels 0 .. 1, as the package `mnist` has them. Images come out dealt by turns. */
export function encodeDigits(digits: readonly (readonly number[])[]): Uint8Array {
  const counts = digits.map((raw) => Math.floor(raw.length / pixels))
  const labels: number[] = []
  const body: number[] = []
  let run = 0
  const endRun = () => {
    if (run > 0) body.push(0, run)
    run = 0
  }
  const put = (value: number) => {
    if (value > 0) {
      endRun()
      body.push(value)
    } else if (++run === 255) endRun()
  }
  for (let image = 0; image < Math.max(0, ...counts); image++)
    for (const [digit, raw] of digits.entries()) {
      if (image >= counts[digit]!) continue
      labels.push(digit)
      for (let i = 0; i < pixels; i++) put(Math.round(255 * raw[image * pixels + i]!))
    }
  endRun()
  const bytes = new Uint8Array(headerBytes + labels.length + body.length)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, magic, true)
  view.setUint32(4, labels.length, true)
  bytes.set(labels, headerBytes)
  bytes.set(body, headerBytes + labels.length)
  return bytes
}

/** @throws {ProtocolError} the bytes are something else, or not whole. */
export function decodeDigits(bytes: Uint8Array): DataSet {
  const refuse = (why: string): never => {
    throw new ProtocolError(`the digits cannot be read: ${why}`)
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (bytes.length < headerBytes || view.getUint32(0, true) !== magic) refuse('they do not begin with PAPD')
  const count = view.getUint32(4, true)
  if (count > maxImages || headerBytes + count > bytes.length) refuse('their number is wrong')
  const labels = bytes.slice(headerBytes, headerBytes + count)
  if (labels.some((label) => label > 9)) refuse('a label is not a digit')
  const inputs = new Float32Array(count * pixels)
  let at = 0
  for (let i = headerBytes + count; i < bytes.length; i++) {
    const value = bytes[i]!
    if (value === 0) at += bytes[++i] ?? 0
    else if (at < inputs.length) inputs[at++] = value / 255
    else at++
  }
  if (at !== inputs.length) refuse('their pixels are not whole')
  return { classes: [...'0123456789'], shape: [side, side, 1], count, inputs, labels }
}
