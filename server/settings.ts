/** What an operator can set: environment variable, flag, meaning and default. docs/deploy.md lists it. */
import { limits } from '../shared/signaling/limits.ts'

export interface Setting {
  readonly env: string
  /** Absent for secrets: command lines are visible to every user of the host. */
  readonly flag?: string
  readonly read: (text: string) => unknown
  /** Completes the sentence "PORT must be ...". */
  readonly must: string
  readonly help: string
}

const text = (value: string) => value
const list = (value: string) =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean)
const number = (value: string) => (/^\d+(\.\d+)?$/.test(value.trim()) ? Number(value) : value)
const json = (value: string): unknown => {
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}
const yes = (value: string) =>
  ({ '1': true, true: true, yes: true, '0': false, false: false, no: false })[value] ?? value

export const settings = {
  port: {
    env: 'PORT',
    flag: 'port',
    read: number,
    must: 'a whole number from 0 to 65535 (0: any free port)',
    help: 'TCP port of the page and of signalling (3000)',
  },
  host: {
    env: 'HOST',
    flag: 'host',
    read: text,
    must: 'an address of this machine',
    help: 'address to listen on (all)',
  },
  logLevel: {
    env: 'LOG_LEVEL',
    flag: 'log-level',
    read: text,
    must: 'one of fatal, error, warn, info, debug, trace, silent',
    help: 'how much is logged (info; warn on a terminal)',
  },
  pageDir: {
    env: 'PAGE_DIR',
    flag: 'page-dir',
    read: text,
    must: 'a folder',
    help: 'where the built page is (dist/page)',
  },
  maxRooms: {
    env: 'MAX_ROOMS',
    flag: 'max-rooms',
    read: number,
    must: 'a whole number from 1 to 100000',
    help: 'rooms at the same time (1000)',
  },
  maxPeersPerRoom: {
    env: 'MAX_PEERS_PER_ROOM',
    flag: 'max-peers-per-room',
    read: number,
    must: `a whole number from 1 to ${limits.peersPerRoom}`,
    help: `members of one room (${limits.peersPerRoom})`,
  },
  maxConnections: {
    env: 'MAX_CONNECTIONS',
    flag: 'max-connections',
    read: number,
    must: 'a whole number from 1 to 100000',
    help: 'connections at the same time (5000)',
  },
  joinsPerMinute: {
    env: 'JOINS_PER_MINUTE',
    flag: 'joins-per-minute',
    read: number,
    must: 'a whole number from 1 to 1000000',
    help: 'joins per minute from one address (600: a school is one address)',
  },
  eventBytesPer10s: {
    env: 'EVENT_BYTES_PER_10S',
    flag: 'event-bytes-per-10s',
    read: number,
    must: 'a whole number from 10000 to 1000000000',
    help: 'signalling bytes of one connection in 10 s, each event counted with 256 more (4000000)',
  },
  graceSeconds: {
    env: 'GRACE_SECONDS',
    flag: 'grace-seconds',
    read: number,
    must: 'a number of seconds from 0.1 to 3600',
    help: 'how long a member without a connection keeps its place (10)',
  },
  emptySeconds: {
    env: 'EMPTY_SECONDS',
    flag: 'empty-seconds',
    read: number,
    must: 'a number of seconds from 0.1 to 86400',
    help: 'how long an empty room is kept (120)',
  },
  aliveSeconds: {
    env: 'ALIVE_SECONDS',
    flag: 'alive-seconds',
    read: number,
    must: 'a number of seconds from 0.1 to 60',
    help: 'how long the holder of a seat that another page asks for may take to answer (0.7)',
  },
  accusedSeconds: {
    env: 'ACCUSED_SECONDS',
    flag: 'accused-seconds',
    read: number,
    must: 'a number of seconds from 0.1 to 60',
    help: 'how long a member that others cannot reach may take to answer (3)',
  },
  drainSeconds: {
    env: 'DRAIN_SECONDS',
    flag: 'drain-seconds',
    read: number,
    must: 'a number of seconds from 0 to 8',
    help: 'how long /readyz says 503 before a stop (0)',
  },
  origins: {
    env: 'ORIGINS',
    flag: 'origins',
    read: list,
    must: 'a comma-separated list of origins such as https://lab.example, or *',
    help: 'pages of other origins that may use the server (*)',
  },
  trustProxy: {
    env: 'TRUST_PROXY',
    flag: 'trust-proxy',
    read: yes,
    must: 'true or false',
    help: 'take addresses from X-Forwarded-For: only behind your own proxy (false)',
  },
  stunPort: {
    env: 'STUN_PORT',
    flag: 'stun-port',
    read: number,
    must: 'a whole number from 0 to 65535 (0: no STUN)',
    help: 'UDP port of the STUN responder (the number of the TCP port)',
  },
  iceServers: {
    env: 'ICE_SERVERS',
    read: json,
    must: 'a JSON list of {"urls", "username"?, "credential"?} with stun: or turn: URLs',
    help: 'more ICE servers for the peers, as JSON (none)',
  },
  turnUrls: {
    env: 'TURN_URLS',
    flag: 'turn-urls',
    read: list,
    must: 'a comma-separated list of turn: or turns: URLs',
    help: 'TURN servers that share TURN_SECRET (none)',
  },
  turnSecret: {
    env: 'TURN_SECRET',
    read: text,
    must: 'at least 8 characters long',
    help: 'shared secret for time-limited TURN credentials',
  },
  turnSeconds: {
    env: 'TURN_SECONDS',
    flag: 'turn-seconds',
    read: number,
    must: 'a whole number of seconds from 60 to 2592000',
    help: 'how long TURN credentials are valid (43200)',
  },
  secret: {
    env: 'PAPILIO_SECRET',
    read: text,
    must: 'at least 16 characters long',
    help: 'keeps the rights of hosts over a restart (made up at each start)',
  },
} as const satisfies Readonly<Record<string, Setting>>
