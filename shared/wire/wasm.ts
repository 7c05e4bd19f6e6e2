/**
 * Just enough of an assembler for modules of vector kernels (WebAssembly core specification, 5 Binary Format; SIMD opcodes of
 * WebAssembly 2.0). An instruction is its bytes; an expression leaves one value on the stack.
 */

export type Code = readonly number[]

/** LEB128 without sign. */
export function unsigned(value: number): Code {
  const bytes: number[] = []
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 128) return [...bytes, rest]
    bytes.push((rest & 127) | 128)
  }
}

/** LEB128 with sign. */
function signed(value: number): Code {
  const bytes: number[] = []
  for (let rest = value; ; rest >>= 7) {
    if (rest >= -64 && rest < 64) return [...bytes, rest & 127]
    bytes.push((rest & 127) | 128)
  }
}

const simd = (opcode: number) => [0xfd, ...unsigned(opcode)]

const v128 = 0x7b
const i32 = 0x7f

/** Local 0 of every function is the number of bytes, local 1 where in them the loop is; the rest are vectors. */
const endLocal = 0
const atLocal = 1
export const vectorLocals = { left: 2, right: 3, a: 4, b: 5 } as const

export const get = (local: number): Code => [0x20, ...unsigned(local)]
export const set = (local: number): Code => [0x21, ...unsigned(local)]
const tee = (local: number): Code => [0x22, ...unsigned(local)]
const i32Const = (value: number): Code => [0x41, ...signed(value)]

/** Vector instruction `opcode` on the operands. */
export const vector = (opcode: number, ...operands: Code[]): Code => [...operands.flat(), ...simd(opcode)]
/** The same with a constant count, as shifts have it. */
export const shift = (opcode: number, operand: Code, count: number): Code => [
  ...operand,
  ...i32Const(count),
  ...simd(opcode),
]
/** Four lanes of the same 32 bits. */
export const splat = (bits: number): Code => [...i32Const(bits | 0), ...simd(0x11)]

const memory = (opcode: number, offset: number) => [...simd(opcode), 4, ...unsigned(offset)]

const unrolled = 4

/** for (at = 0; at < end; at += 64) store(at, body(load(at), load(at + rightAt))), four vectors a time */
function kernelCode(body: Code, rightAt: number): Code {
  const one = (offset: number) => [
    ...get(atLocal),
    ...memory(0x00, offset),
    ...set(vectorLocals.left),
    ...get(atLocal),
    ...memory(0x00, rightAt + offset),
    ...set(vectorLocals.right),
    ...get(atLocal),
    ...body,
    ...memory(0x0b, offset),
  ]
  const code = [
    // Locals: one i32, then vectors.
    ...[2, 1, i32, Object.keys(vectorLocals).length, v128],
    ...[0x03, 0x40],
    ...Array.from({ length: unrolled }, (_, i) => one(16 * i)).flat(),
    ...get(atLocal),
    ...i32Const(16 * unrolled),
    0x6a,
    ...tee(atLocal),
    ...get(endLocal),
    // at < end: once more.
    ...[0x49, 0x0d, 0, 0x0b, 0x0b],
  ]
  return [...unsigned(code.length), ...code]
}

const section = (id: number, content: Code): Code => [id, ...unsigned(content.length), ...content]
const list = (items: readonly Code[]): Code => [...unsigned(items.length), ...items.flat()]

/**
 * A module that imports its memory (m.m) and exports one function `k` of the number of bytes: the left operand at 0, the right one at
 * `rightAt`, the result in place of the left one.
 */
export function assemble(body: Code, rightAt: number): Uint8Array<ArrayBuffer> {
  const name = (letter: string) => [1, letter.charCodeAt(0)]
  return Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, list([[0x60, 1, i32, 0]])),
    ...section(2, list([[...name('m'), ...name('m'), 2, 0, 0]])),
    ...section(3, list([[0]])),
    ...section(7, list([[...name('k'), 0, 0]])),
    ...section(10, list([kernelCode(body, rightAt)])),
  ])
}
