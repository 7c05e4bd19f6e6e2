/** What `papilio learn` is asked: its flags, read once and refused in words. */

import { ArgumentError } from '../../shared/base/errors.ts'
import { createLesson, type Lesson, maxHands } from '../learn/lesson.ts'
import { readFlags } from './flags.ts'

const flags = {
  peers: 'how many learn together in this process. Default 5',
  rounds: 'train apart, then average: so often. Default 30 for digits, 12 for iris',
  data: 'digits (10 000 handwritten ones, default) or iris (150 flowers, a second)',
  model: 'mlp (default) or cnn',
  split:
    'label (default): each peer has a few classes only; iid: all alike; or a number between, 0 (iid) .. 1 (label)',
  epochs: 'over the own samples in each round. Default 0.25 for digits, 1 for iris',
  'learning-rate': 'of the first round; falls in half a cosine. Default 0.2',
  momentum: 'of the average, 0 .. 0.99. Default 0.6 for digits, 0.5 for iris',
  batch: 'samples of a batch. Default 16 for digits, 8 for iris',
  seed: 'a whole number; equal seeds give equal models on links that are not measured (--transport memory)',
  kill: 'the last peer goes away in the middle of this round',
  late: 'one more peer joins after this round',
  transport: 'webrtc (default): real links on this machine; memory: none',
  url: 'a server that runs elsewhere, such as http://192.168.0.5:3000',
  room: 'join this room of that server and follow the next lesson of it; with --start begin one',
  backend: 'of TensorFlow.js: wasm (default) or cpu',
} as const

const switches = {
  central: 'also train one model on all samples together, to compare',
  start: 'with --room: begin the lesson',
  json: 'print one JSON document; progress goes to standard error either way',
  help: 'this text',
} as const

type Flag = keyof typeof flags

export interface LearnRequest {
  readonly help: boolean
  readonly json: boolean
  readonly central: boolean
  readonly start: boolean
  readonly peers: number
  readonly lesson: Lesson
  readonly kill: number | undefined
  readonly late: number | undefined
  readonly transport: 'webrtc' | 'memory'
  readonly url: string | undefined
  readonly room: string | undefined
  readonly backend: 'wasm' | 'cpu'
}

/** @throws {ArgumentError} a flag is unknown or has a value that it does not take. */
export function readLearnRequest(argv: readonly string[]): LearnRequest {
  const values = readFlags(argv, {
    ...Object.fromEntries(Object.keys(flags).map((name) => [name, { type: 'string' as const }])),
    ...Object.fromEntries(Object.keys(switches).map((name) => [name, { type: 'boolean' as const }])),
  })
  const text = (name: Flag) => values[name] as string | undefined
  const number = (name: Flag) => {
    const given = text(name)
    if (given === undefined) return undefined
    const value = given.trim() === '' ? Number.NaN : Number(given)
    if (Number.isNaN(value)) throw wrong(`--${name} takes a number, not ${given}`)
    return value
  }
  const whole = (name: Flag, least: number, most: number) => {
    const value = number(name)
    if (value === undefined || (Number.isInteger(value) && value >= least && value <= most)) return value
    throw wrong(`--${name} takes a whole number from ${least} to ${most}, not ${value}`)
  }
  const oneOf = <Value extends string>(name: Flag, known: readonly Value[]): Value => {
    const given = text(name) ?? known[0]!
    const found = known.find((each) => each === given)
    if (found === undefined) throw wrong(`--${name} takes ${known.join(' or ')}, not ${given}`)
    return found
  }
  const peers = whole('peers', 1, maxHands) ?? 5
  const lesson = createLesson({
    peers,
    data: oneOf('data', ['digits', 'iris']),
    model: oneOf('model', ['mlp', 'cnn']),
    ...given('rounds', number('rounds')),
    ...given('epochs', number('epochs')),
    ...given('learningRate', number('learning-rate')),
    ...given('momentum', number('momentum')),
    ...given('batchSize', number('batch')),
    ...given('skew', skewOf(text('split'))),
    ...given('seed', number('seed')),
  })
  const room = text('room')
  if (room === undefined && (values.start || text('url') !== undefined))
    throw wrong('--url and --start go with --room')
  const kill = whole('kill', 1, lesson.rounds)
  if (kill !== undefined && peers < 2) throw wrong('--kill needs at least two peers')
  const late = whole('late', 1, lesson.rounds - 1)
  if (late !== undefined && room !== undefined) throw wrong('--late does not go with --room: join it later')
  return {
    help: values.help === true,
    json: values.json === true,
    central: values.central === true,
    start: values.start === true,
    peers,
    lesson,
    kill,
    late,
    transport: oneOf('transport', ['webrtc', 'memory']),
    url: text('url'),
    room,
    backend: oneOf('backend', ['wasm', 'cpu']),
  }
}

const wrong = (message: string) => new ArgumentError('argv', message)

function given<Key extends keyof Lesson>(
  key: Key,
  value: Lesson[Key] | undefined,
): Partial<Pick<Lesson, Key>> {
  return value === undefined ? {} : ({ [key]: value } as unknown as Pick<Lesson, Key>)
}

function skewOf(split: string | undefined): number | undefined {
  if (split === undefined || split === 'label') return 1
  if (split === 'iid') return 0
  const value = split.trim() === '' ? Number.NaN : Number(split)
  if (value >= 0 && value <= 1) return value
  throw wrong(`--split takes iid, label or a number from 0 to 1, not ${split}`)
}

export function learnHelp(): string {
  const named = Object.entries({ ...flags, ...switches })
  const width = Math.max(...named.map(([name]) => name.length))
  return [
    'Usage: papilio learn [options]',
    '',
    'Peers on Node train one model together, each on samples of its own: as the page does at /learn, and with it.',
    '',
    ...named.map(([name, help]) => `  --${name.padEnd(width)}  ${help}`),
    '',
    'Exit status: 0 done; 1 the run failed, or the peers hold different models; 2 wrong use; 3 no server or no group; 5 no such room.',
  ].join('\n')
}
