import { ScheduleError } from '../base/errors.ts'
import { collectives } from './collectives.ts'
import type { How, RankSchedule, Schedule, Settings, Step } from './types.ts'

/** The JSON form, documented in docs/schedule-format.md. A reader refuses another version. */
export const FORMAT = 'papilio-schedule'
export const VERSION = 1

/** More is refused before anything is read: a schedule of this many entries is no longer data but an attack. */
const MOST_RANKS = 65_536
const MOST_ENTRIES = 2 ** 25

/** The JSON form: `JSON.stringify` prints it. */
export function serializeSchedule(schedule: Schedule) {
  return { format: FORMAT, version: VERSION, ...schedule }
}

const hows: readonly How[] = ['store', 'append', 'prepend']

/**
 * Reads the JSON form, already parsed by `JSON.parse`. Checks the form; whether the schedule is right is for
 * `verifySchedule` to say. Fields that are not part of the form are left out.
 * @throws ScheduleError naming the field, with rank and step where there are any, else -1.
 */
export function parseSchedule(json: unknown): Schedule {
  const root = record(json, 'the schedule', nowhere)
  if (root.format !== FORMAT) fail(`format must be "${FORMAT}"`, nowhere)
  if (root.version !== VERSION) fail(`version must be ${VERSION}, not ${String(root.version)}`, nowhere)
  const size = integer(root.size, 'size', 1, MOST_RANKS, nowhere)
  const steps = integer(root.steps, 'steps', 0, MOST_ENTRIES, nowhere)
  const chunks = integer(root.chunks, 'chunks', 1, MOST_ENTRIES, nowhere)
  const budget = { left: MOST_ENTRIES }
  const parts = list(root.ranks, 'ranks', budget, nowhere)
  if (parts.length !== size) fail(`ranks must have ${size} entries, not ${parts.length}`, nowhere)
  const ranks = parts.map((part, rank) => parsePart(part, { size, steps, chunks, rank, budget }))
  return {
    collective: oneOf(root.collective, 'collective', collectives, nowhere),
    algorithm: text(root.algorithm, 'algorithm'),
    settings: parseSettings(root.settings),
    size,
    steps,
    chunks,
    ...(root.cuts === undefined ? {} : { cuts: parseCuts(list(root.cuts, 'cuts', budget, nowhere), chunks) }),
    ...(root.root === undefined ? {} : { root: integer(root.root, 'root', 0, size - 1, nowhere) }),
    ranks,
  }
}

interface Place {
  readonly rank: number
  readonly step: number
}

interface Budget {
  left: number
}

interface PartContext {
  readonly size: number
  readonly steps: number
  readonly chunks: number
  readonly rank: number
  readonly budget: Budget
}

const nowhere: Place = { rank: -1, step: -1 }

function parsePart(value: unknown, { size, steps, chunks, rank, budget }: PartContext): RankSchedule {
  const before = { rank, step: -1 }
  const part = record(value, 'a part', before)
  integer(part.rank, 'rank', rank, rank, before)
  const slots = list(part.slots, 'slots', budget, before).map((chunk) =>
    integer(chunk, 'a chunk in slots', 0, chunks - 1, before),
  )
  const parseSlots = (value: unknown, name: string, place: Place) =>
    list(value, name, budget, place).map((slot) => integer(slot, name, 0, slots.length - 1, place))
  const parseStep = (value: unknown, index: number): Step => {
    const place = { rank, step: index }
    const step = record(value, 'a step', place)
    const peer = (value: unknown, name: string) => integer(value, name, 0, size - 1, place)
    return {
      sends: list(step.sends, 'sends', budget, place).map((value) => {
        const send = record(value, 'a send', place)
        return { to: peer(send.to, 'to'), slots: parseSlots(send.slots, 'slots of a send', place) }
      }),
      receives: list(step.receives, 'receives', budget, place).map((value) => {
        const receive = record(value, 'a receive', place)
        return {
          from: peer(receive.from, 'from'),
          slots: parseSlots(receive.slots, 'slots of a receive', place),
          how: oneOf(receive.how, 'how', hows, place),
        }
      }),
      locals: list(step.locals, 'locals', budget, place).map((value) => {
        const local = record(value, 'a local', place)
        return {
          from: integer(local.from, 'from of a local', 0, slots.length - 1, place),
          slot: integer(local.slot, 'slot of a local', 0, slots.length - 1, place),
          how: oneOf(local.how, 'how', hows, place),
        }
      }),
    }
  }
  const input = parseSlots(part.input, 'input', before)
  const parsed = list(part.steps, 'steps', budget, before).map(parseStep)
  if (parsed.length !== steps) fail(`the part must have ${steps} steps, not ${parsed.length}`, before)
  return {
    rank,
    slots,
    input,
    steps: parsed,
    output: parseSlots(part.output, 'output', { rank, step: steps }),
  }
}

function parseCuts(values: readonly unknown[], chunks: number): number[] {
  if (values.length !== chunks + 1)
    fail(`cuts must have ${chunks + 1} entries, not ${values.length}`, nowhere)
  let last = 0
  return values.map((cut, at) => {
    if (typeof cut !== 'number' || !(cut >= last && cut <= 1)) fail(`cuts must ascend from 0 to 1`, nowhere)
    if ((at === 0 && cut !== 0) || (at === chunks && cut !== 1))
      fail(`cuts must begin with 0 and end with 1`, nowhere)
    last = cut
    return cut
  })
}

function parseSettings(value: unknown): Settings {
  const settings: Record<string, number | string> = {}
  for (const [name, setting] of Object.entries(record(value, 'settings', nowhere))) {
    if (typeof setting !== 'number' && typeof setting !== 'string')
      fail(`setting ${name} must be a number or a string`, nowhere)
    settings[name] = setting
  }
  return settings
}

function record(value: unknown, name: string, place: Place): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    fail(`${name} must be an object`, place)
  return value as Readonly<Record<string, unknown>>
}

function list(value: unknown, name: string, budget: Budget, place: Place): readonly unknown[] {
  if (!Array.isArray(value)) fail(`${name} must be a list`, place)
  budget.left -= value.length
  if (budget.left < 0) fail(`more than ${MOST_ENTRIES} entries`, place)
  return value
}

function text(value: unknown, name: string): string {
  if (typeof value !== 'string' || value.length > 100)
    fail(`${name} must be a string of at most 100 characters`, nowhere)
  return value
}

function integer(value: unknown, name: string, least: number, most: number, place: Place): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most)
    fail(`${name} must be a whole number ${least} .. ${most}`, place)
  return value
}

function oneOf<T extends string>(value: unknown, name: string, allowed: readonly T[], place: Place): T {
  const found = allowed.find((candidate) => candidate === value)
  if (found === undefined) fail(`${name} must be one of ${allowed.join(', ')}`, place)
  return found
}

function fail(issue: string, place: Place): never {
  const step = place.step < 0 ? '' : `, step ${place.step}`
  const where = place.rank < 0 ? '' : ` (rank ${place.rank}${step})`
  throw new ScheduleError(`Not a schedule: ${issue}${where}`, place)
}
