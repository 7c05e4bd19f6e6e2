/** What people set on the page, and its form in the address: `#v=1&size=1048576&type=f32&...`. */
import { algorithms } from '../../../shared/schedule/registry.ts'
import type { Settings } from '../../../shared/schedule/types.ts'
import {
  isOffered,
  maxBytes,
  maxRepeats,
  type RunSpec,
  shownOperators,
  shownTypes,
  type Variant,
} from '../../session/runSpec.ts'

export const inspectorTabs = ['r', 'sizes', 'algorithms', 'links', 'log'] as const
export type InspectorTab = (typeof inspectorTabs)[number]

export interface LabSettings {
  readonly bytes: number
  readonly dtype: RunSpec['dtype']
  readonly op: RunSpec['op']
  /** `auto`, an algorithm's name, or with settings: `butterfly:group=xor`. */
  readonly algorithm: string
  readonly r: number | 'auto'
  readonly consistency: RunSpec['consistency']
  readonly repeats: number
  readonly data: RunSpec['data']
  readonly tab: InspectorTab
}

export const defaultSettings: LabSettings = {
  bytes: 1024 * 1024,
  dtype: 'f32',
  op: 'sum',
  algorithm: 'butterfly',
  r: 'auto',
  consistency: 'fast',
  repeats: 1,
  data: 'whole',
  tab: 'r',
}

/** Raised when a key changes its meaning; hashes of other versions are ignored. */
const hashVersion = '1'

function oneOf<Value extends string>(values: readonly Value[], text: string | null, fallback: Value): Value {
  return values.find((value) => value === text) ?? fallback
}

function natural(text: string | null, max: number): number | undefined {
  if (text === null || !/^\d{1,12}$/.test(text)) return undefined
  const value = Number(text)
  return value <= max ? value : undefined
}

/** Reads the hash of an address; what is missing or makes no sense takes its default. */
export function readHash(hash: string): LabSettings {
  const given = new URLSearchParams(hash.replace(/^#/, ''))
  if (given.get('v') !== hashVersion) return defaultSettings
  const algorithm = given.get('algo') ?? ''
  const dtype = oneOf(shownTypes, given.get('type'), defaultSettings.dtype)
  const op = oneOf(shownOperators, given.get('op'), defaultSettings.op)
  return {
    bytes: natural(given.get('size'), maxBytes) ?? defaultSettings.bytes,
    dtype,
    op: isOffered(dtype, op) ? op : defaultSettings.op,
    algorithm: isAlgorithmKey(algorithm) ? algorithm : defaultSettings.algorithm,
    r: natural(given.get('r'), 32) ?? 'auto',
    consistency: oneOf(['fast', 'identical'], given.get('bits'), defaultSettings.consistency),
    repeats: Math.max(1, natural(given.get('n'), maxRepeats) ?? defaultSettings.repeats),
    data: oneOf(['whole', 'real'], given.get('data'), defaultSettings.data),
    tab: oneOf(inspectorTabs, given.get('tab'), defaultSettings.tab),
  }
}

export function writeHash(settings: LabSettings): string {
  const { bytes, dtype, op, algorithm, r, consistency, repeats, data, tab } = settings
  const entries = {
    v: hashVersion,
    size: bytes,
    type: dtype,
    op,
    algo: algorithm,
    r,
    bits: consistency,
    n: repeats,
    data,
    tab,
  }
  // A colon and an equals sign may stand in a fragment as they are.
  return `#${Object.entries(entries)
    .map(([key, value]) => `${key}=${value}`)
    .join('&')}`
}

export function isAlgorithmKey(key: string): boolean {
  return /^[a-zA-Z0-9-]{1,40}(:[a-zA-Z]{1,20}=[a-zA-Z0-9-]{1,20}(,[a-zA-Z]{1,20}=[a-zA-Z0-9-]{1,20})*)?$/.test(
    key,
  )
}

/** `butterfly:group=xor` as a name and settings. */
export function readAlgorithmKey(key: string): { algorithm: string; settings: Settings } {
  const [algorithm = '', list = ''] = key.split(':')
  const pairs = list === '' ? [] : list.split(',').map((pair) => pair.split('='))
  return {
    algorithm,
    settings: Object.fromEntries(
      pairs.map(([name = '', value = '']) => [name, /^\d+$/.test(value) ? Number(value) : value]),
    ),
  }
}

export function writeAlgorithmKey(algorithm: string, settings: Settings): string {
  const pairs = Object.entries(settings).map(([name, value]) => `${name}=${value}`)
  return pairs.length === 0 ? algorithm : `${algorithm}:${pairs.join(',')}`
}

/** Numbers of steps that can be removed from the algorithm; none when it has no r. */
export function rValues(key: string, size: number): number[] {
  const { algorithm } = readAlgorithmKey(key)
  const found = algorithms.find(({ name, collective }) => collective === 'allreduce' && name === algorithm)
  const parameter = found?.parameters.find(({ name }) => name === 'r')
  return parameter?.values(size).map(Number) ?? []
}

export function variantOf({ algorithm: key, r }: LabSettings, size: number): Variant {
  const { algorithm, settings } = readAlgorithmKey(key)
  const values = rValues(key, size)
  return {
    algorithm,
    ...(Object.keys(settings).length > 0 ? { settings } : {}),
    ...(values.length > 0 ? { r: r === 'auto' ? r : Math.min(r, Math.max(...values)) } : {}),
  }
}

function specWith(settings: LabSettings, repeats: number, variants: Variant[]): RunSpec {
  const { bytes, dtype, op, consistency, data } = settings
  return { bytes, dtype, op, consistency, data, repeats, warmup: repeats > 1 ? 1 : 0, variants }
}

export function specOf(settings: LabSettings, size: number): RunSpec {
  return specWith(settings, settings.repeats, [variantOf(settings, size)])
}

/** Fewest repeats of a sweep: below, a median says little. */
export const sweepRepeats = 5

/** The algorithm whose r the page lists and sweeps: the one that is set, or else the paper's. */
export function sweptAlgorithm(key: string, size: number): string {
  return rValues(key, size).length > 0 ? key : 'butterfly'
}

/** Every r. Each must be allowed to run, so it takes `fast`. */
export function sweepOf(settings: LabSettings, size: number): RunSpec {
  const key = sweptAlgorithm(settings.algorithm, size)
  const variants = rValues(key, size).map((r) => variantOf({ ...settings, algorithm: key, r }, size))
  return {
    ...specWith(settings, Math.max(sweepRepeats, settings.repeats), variants),
    consistency: 'fast',
  }
}
