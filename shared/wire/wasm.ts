/**
 * Just enough of an assembler for loops over vectors (WebAssembly core specification, 5 Binary Format; SIMD opcodes of
 * WebAssembly 2.0), and the one memory that they all work in. An instruction is its bytes; an expression leaves one value on the stack.
 */

export type Code = readonly number[]

const opcodes = {
  'v128.and': 0x4e,
  'v128.or': 0x50,
  'v128.xor': 0x51,
  'v128.bitselect': 0x52,
  'i8x16.add': 0x6e,
  'i8x16.add_sat_u': 0x70,
  'i8x16.min_s': 0x76,
  'i8x16.min_u': 0x77,
  'i8x16.max_s': 0x78,
  'i8x16.max_u': 0x79,
  'i8x16.narrow_i16x8_s': 0x65,
  'i16x8.add': 0x8e,
  'i16x8.mul': 0x95,
  'i16x8.min_s': 0x96,
  'i16x8.min_u': 0x97,
  'i16x8.max_s': 0x98,
  'i16x8.max_u': 0x99,
  'i16x8.narrow_i32x4_s': 0x85,
  'i16x8.narrow_i32x4_u': 0x86,
  'i16x8.extend_low_i8x16_s': 0x87,
  'i16x8.extend_high_i8x16_s': 0x88,
  'i32x4.lt_s': 0x39,
  'i32x4.ge_s': 0x3f,
  'i32x4.extend_low_i16x8_s': 0xa7,
  'i32x4.extend_high_i16x8_s': 0xa8,
  'i32x4.extend_low_i16x8_u': 0xa9,
  'i32x4.extend_high_i16x8_u': 0xaa,
  'i32x4.shl': 0xab,
  'i32x4.shr_u': 0xad,
  'i32x4.add': 0xae,
  'i32x4.mul': 0xb5,
  'i32x4.min_s': 0xb6,
  'i32x4.min_u': 0xb7,
  'i32x4.max_s': 0xb8,
  'i32x4.max_u': 0xb9,
  'i32x4.trunc_sat_f32x4_s': 0xf8,
  'i64x2.shl': 0xcb,
  'i64x2.add': 0xce,
  'i64x2.mul': 0xd5,
  'i64x2.eq': 0xd6,
  'i64x2.gt_s': 0xd9,
  'f32x4.ne': 0x42,
  'f32x4.abs': 0xe0,
  'f32x4.nearest': 0x6a,
  'f32x4.add': 0xe4,
  'f32x4.mul': 0xe6,
  'f32x4.min': 0xe8,
  'f32x4.max': 0xe9,
  'f32x4.convert_i32x4_s': 0xfa,
  'f64x2.add': 0xf0,
  'f64x2.mul': 0xf2,
  'f64x2.min': 0xf4,
  'f64x2.max': 0xf5,
} as const
export type Opcode = keyof typeof opcodes

/** LEB128 without sign. */
function unsigned(value: number): Code {
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

const v128 = 0x7b
const i32 = 0x7f
const simd = (opcode: number) => [0xfd, ...unsigned(opcode)]

/** Local 0 of a loop is the number of its turns, local 1 the turn; four vectors follow. */
const turnsLocal = 0
const turnLocal = 1
export const locals = { left: 2, right: 3, a: 4, b: 5 } as const

export const get = (local: number): Code => [0x20, ...unsigned(local)]
export const set = (local: number, value: Code): Code => [...value, 0x21, ...unsigned(local)]
const i32Const = (value: number): Code => [0x41, ...signed(value)]

export const vector = (opcode: Opcode, ...operands: Code[]): Code => [
  ...operands.flat(),
  ...simd(opcodes[opcode]),
]
export const shift = (opcode: Opcode, operand: Code, count: number): Code =>
  vector(opcode, operand, i32Const(count))
/** Four lanes of the same 32 bits. */
export const splat = (bits: number): Code => [...i32Const(bits | 0), ...simd(0x11)]

/** Byte 2^power * turn of the memory. */
export const address = (power: number): Code => [...get(turnLocal), ...i32Const(power), 0x74]
const aligned = (power: number, offset: number) => [power, ...unsigned(offset)]
export const load = (at: Code, offset: number): Code => [...at, ...simd(0x00), ...aligned(4, offset)]
/** Four lanes of the 32 bits there. */
export const loadSplat = (at: Code, offset: number): Code => [...at, ...simd(0x09), ...aligned(2, offset)]
export const store = (at: Code, offset: number, value: Code): Code => [
  ...at,
  ...value,
  ...simd(0x0b),
  ...aligned(4, offset),
]

const section = (id: number, content: Code): Code => [id, ...unsigned(content.length), ...content]
const list = (items: readonly Code[]): Code => [...unsigned(items.length), ...items.flat()]

/** A module that imports its memory (m.m) and exports `k`: (turns) => for (turn = 0; turn < turns; turn++) body */
function assemble(body: Code): Uint8Array<ArrayBuffer> {
  const name = (letter: string) => [1, letter.charCodeAt(0)]
  const code = [
    ...[2, 1, i32, Object.keys(locals).length, v128],
    // block, loop: leave when turn >= turns
    ...[0x02, 0x40, 0x03, 0x40],
    ...[...get(turnLocal), ...get(turnsLocal), 0x4f, 0x0d, 1],
    ...body,
    ...[...get(turnLocal), ...i32Const(1), 0x6a, 0x21, ...unsigned(turnLocal), 0x0c, 0],
    ...[0x0b, 0x0b, 0x0b],
  ]
  return Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, list([[0x60, 1, i32, 0]])),
    ...section(2, list([[...name('m'), ...name('m'), 2, 0, 0]])),
    ...section(3, list([[0]])),
    ...section(7, list([[...name('k'), 0, 0]])),
    ...section(10, list([[...unsigned(code.length), ...code]])),
  ])
}

export type Loop = (turns: number) => void

const pageBytes = 65536
/** The memory has two areas of so many bytes; what is in them is of no use after a call. */
export const areaBytes = pageBytes

let memory: WebAssembly.Memory | undefined

export function workMemory(): ArrayBuffer {
  memory ??= new WebAssembly.Memory({ initial: (2 * areaBytes) / pageBytes })
  return memory.buffer
}

/** Undefined where the runtime has no WebAssembly SIMD, or a page's policy forbids WebAssembly. */
export function compileLoop(body: Code): Loop | undefined {
  try {
    workMemory()
    const module = new WebAssembly.Module(assemble(body))
    return new WebAssembly.Instance(module, { m: { m: memory! } }).exports.k as Loop
  } catch {
    return undefined
  }
}
