/** What all formats of a benchmark share. Data lines can be told from the rest, and are written as soon as they are known. */
import type { DType } from '../wire/dtype.ts'
import type { OperatorName } from '../wire/operator.ts'
import type { BenchEvent, Row } from './events.ts'
import type { Baseline } from './plan.ts'

export interface BenchFormat {
  /** Lines to write now. */
  tell(event: BenchEvent): readonly string[]
  /** The last lines; `errors` say why it ended early, if it did. */
  finish(errors: readonly string[]): readonly string[]
}

/** What a format must know of the run beside its events. */
export interface About {
  readonly version: string
  /** Smallest average bus bandwidth that is good enough, GB/s. */
  readonly minBandwidth?: number | undefined
}

/** As nccl-tests calls them, where it has them. */
const typeNames: Readonly<Record<DType, string>> = {
  i8: 'int8',
  u8: 'uint8',
  u8c: 'uint8c',
  i16: 'int16',
  u16: 'uint16',
  i32: 'int32',
  u32: 'uint32',
  i64: 'int64',
  u64: 'uint64',
  f16: 'half',
  bf16: 'bfloat16',
  f32: 'float',
  f64: 'double',
}

export const typeName = (dtype: DType): string => typeNames[dtype]

export const operatorName = (op: OperatorName | undefined): string =>
  op === undefined ? 'none' : op === 'mean' ? 'avg' : op

/** By either name. */
export function typeNamed(text: string): DType | undefined {
  return (Object.keys(typeNames) as DType[]).find((dtype) => dtype === text || typeNames[dtype] === text)
}

/** What has run, as `--algo` takes it: without r, which has a column of its own, the root, which is part of the call, and the usual group. */
export function algorithmText({ algorithm, settings, baseline }: Row): string {
  const shown = Object.entries(settings).filter(
    ([name, value]) => name !== 'r' && name !== 'root' && value !== 'cyclic',
  )
  const text =
    shown.length === 0 ? algorithm : `${algorithm}:${shown.map((pair) => pair.join('=')).join(',')}`
  return baseline === 'raw' ? `raw(${text})` : text
}

/** How far what was measured is from the prediction, as a share of that: above 0 it took longer. */
export function modelError({ predictedSeconds, outOfPlace }: Row): number | undefined {
  return predictedSeconds === undefined ? undefined : outOfPlace.seconds / predictedSeconds - 1
}

export const ratioNames: readonly Baseline[] = ['raw', 'star', 'send-to-all']

/** A failed check is one below 90 % of what was asked for, as in nccl-tests. */
export const isFastEnough = (busbw: number, minBandwidth: number | undefined): boolean =>
  minBandwidth === undefined || busbw / 1e9 >= 0.9 * minBandwidth
