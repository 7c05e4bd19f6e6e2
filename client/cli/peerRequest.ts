/** What `papilio peer` is asked: its flags, read once and refused in words. */
import { ArgumentError } from '../../shared/base/errors.ts'
import { isRoomCode } from '../../shared/signaling/events.ts'
import { limits } from '../../shared/signaling/limits.ts'
import { roomOf } from '../session/routes.ts'
import { readFlags } from './flags.ts'

const flags = {
  room: ['code of the room, or its whole link. Default: a new room, whose link is printed', undefined],
  url: ['address of the server [http://localhost:3000]', undefined],
  peers: ['number of peers [1]', 'n'],
  name: ['shown to the others; the server makes it unique, or makes one up', undefined],
  size: ['wait until the room has so many members, those of others included', undefined],
  timeout: ['seconds until all must be ready, or the command ends with 3 [60]', undefined],
  runs: ['end after so many runs. Default: when stopped', undefined],
  processes: ['processes to spread the peers over [one for 32 peers]', undefined],
} as const

const switches = {
  create: ['make the room when there is none with this code', undefined],
  once: ['end after one run: --runs 1', undefined],
  json: ['print one line of JSON for each event of each peer', undefined],
  help: ['this text', 'h'],
} as const

export interface PeerRequest {
  readonly url: URL
  /** Undefined: a new one. */
  readonly room: string | undefined
  readonly create: boolean
  readonly peers: number
  readonly name: string | undefined
  /** Members to wait for. */
  readonly size: number
  readonly timeoutSeconds: number
  /** Runs after which to end; Infinity: never. */
  readonly runs: number
  readonly processes: number
  readonly json: boolean
}

/** What is combined and checked in a process keeps its other peers waiting: no more than this share one. */
const peersPerProcess = 32
const defaultUrl = 'http://localhost:3000'

/** Undefined: help is asked for. @throws ArgumentError for a flag that is unknown or has a value that it does not take. */
export function readPeerRequest(argv: readonly string[]): PeerRequest | undefined {
  const option = (type: 'string' | 'boolean', short: string | undefined) => ({
    type,
    ...(short && { short }),
  })
  const values = readFlags(argv, {
    ...Object.fromEntries(Object.entries(flags).map(([name, [, short]]) => [name, option('string', short)])),
    ...Object.fromEntries(
      Object.entries(switches).map(([name, [, short]]) => [name, option('boolean', short)]),
    ),
  })
  if (values.help) return undefined
  const text = (name: keyof typeof flags) => values[name] as string | undefined
  const whole = (name: keyof typeof flags, most: number) => {
    const typed = text(name)
    if (typed === undefined) return undefined
    const value = Number(typed)
    if (!/^\d+$/.test(typed) || value < 1 || value > most)
      throw new ArgumentError(name, `--${name} is a whole number from 1 to ${most}, not "${typed}"`)
    return value
  }
  const peers = whole('peers', limits.peersPerRoom) ?? 1
  const size = whole('size', limits.peersPerRoom) ?? peers
  if (size < peers)
    throw new ArgumentError('size', `--size ${size} is fewer than the ${peers} peers of --peers alone`)
  const runs = whole('runs', 1_000_000)
  if (runs !== undefined && values.once) throw new ArgumentError('runs', 'Give --runs or --once, not both')
  const name = text('name')
  if (name !== undefined && (name.trim() === '' || name.trim().length > limits.nameLength))
    throw new ArgumentError('name', `--name has 1 to ${limits.nameLength} characters`)
  const { url, room } = placeOf(text('room'), text('url'))
  if (values.create && room === undefined)
    throw new ArgumentError('create', '--create needs --room: without a room a new one is made anyway')
  return {
    url,
    room,
    create: values.create === true || room === undefined,
    peers,
    name,
    size,
    timeoutSeconds: secondsOf(text('timeout')),
    runs: values.once ? 1 : (runs ?? Number.POSITIVE_INFINITY),
    processes: Math.min(whole('processes', 64) ?? Math.ceil(peers / peersPerProcess), peers),
    json: values.json === true,
  }
}

function secondsOf(typed: string | undefined): number {
  const value = typed === undefined ? 60 : Number(typed)
  if (!(value > 0) || value > 86_400)
    throw new ArgumentError('timeout', `--timeout is a number of seconds up to 86400, not "${typed}"`)
  return value
}

/** A link has both the server and the room. */
function placeOf(
  room: string | undefined,
  address: string | undefined,
): { url: URL; room: string | undefined } {
  const given = address === undefined ? undefined : urlOf('url', address)
  if (room === undefined || !room.includes('/'))
    return { url: given ?? new URL(defaultUrl), room: codeOf(room) }
  const link = urlOf('room', room)
  const code = roomOf(link.pathname)
  if (code === undefined)
    throw new ArgumentError('room', `--room is a code such as k7f-2q9 or the link of a room, not "${room}"`)
  const url = new URL(link.origin)
  if (given && given.origin !== url.origin)
    throw new ArgumentError('url', `--url ${given.origin} and the link of --room are of different servers`)
  return { url, room: codeOf(code) }
}

function urlOf(flag: string, typed: string): URL {
  const url = URL.canParse(typed) ? new URL(typed) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw new ArgumentError(flag, `--${flag} is an address such as http://192.168.0.5:3000, not "${typed}"`)
}

/** As people write it on a board: in capitals, perhaps. */
function codeOf(typed: string | undefined): string | undefined {
  const code = typed?.trim().toLowerCase()
  if (code === undefined || isRoomCode(code)) return code
  throw new ArgumentError('room', `--room is letters and digits, with hyphens, not "${typed}"`)
}

export function peerHelp(): string {
  const row = ([name, [help, short]]: readonly [string, readonly [string, string | undefined]], value = '') =>
    [`${short ? `-${short}, ` : '    '}--${name}${value}`, help] as const
  const rows = [
    ...Object.entries(flags).map((entry) => row(entry, ` ${entry[0].toUpperCase()}`)),
    ...Object.entries(switches).map((entry) => row(entry)),
  ]
  const width = Math.max(...rows.map(([flag]) => flag.length))
  return [
    'Usage: papilio peer [options]',
    '',
    'Peers without a page: they take seats in a room, follow the runs that its pages start, check the results, and can lead.',
    'Ctrl-C leaves. Ends with 0 when all went well, 1 after a wrong result, 2 for a wrong flag, 3 when there is no server or the',
    'group was not ready in time, 4 for another version, 5 when the room is full, locked, closed or unknown, 6 when a run failed',
    'because peers were lost, 130 when it was stopped before --runs were done.',
    '',
    ...rows.map(([flag, help]) => `  ${flag.padEnd(width)}  ${help}`),
  ].join('\n')
}
