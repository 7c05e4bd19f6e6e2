/** The configuration of the server: ranges, defaults, and where it is read from. */
import { fileURLToPath } from 'node:url'
import * as v from 'valibot'
import { ArgumentError } from '../shared/base/errors.ts'
import { limits } from '../shared/signaling/limits.ts'
import { type Setting, settings } from './settings.ts'

/** A setting without a row in the table, or a row without a setting, does not compile. */
const table: Readonly<Record<keyof ServerConfig, Setting>> = settings

const whole = (min: number, max: number) => v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max))
const seconds = (min: number, max: number) => v.pipe(v.number(), v.minValue(min), v.maxValue(max))
const iceUrl = v.pipe(v.string(), v.regex(/^(stun|stuns|turn|turns):[^\s]+$/))
const turnUrl = v.pipe(v.string(), v.regex(/^turns?:[^\s]+$/))

const configSchema = v.strictObject({
  port: v.optional(whole(0, 65_535), 3000),
  host: v.optional(v.pipe(v.string(), v.minLength(1))),
  logLevel: v.optional(v.picklist(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']), 'silent'),
  pageDir: v.optional(v.string(), fileURLToPath(new URL('../dist/page', import.meta.url))),
  maxRooms: v.optional(whole(1, 100_000), 1000),
  maxPeersPerRoom: v.optional(whole(1, limits.peersPerRoom), limits.peersPerRoom),
  maxConnections: v.optional(whole(1, 100_000), 5000),
  joinsPerMinute: v.optional(whole(1, 1_000_000), 600),
  eventBytesPer10s: v.optional(whole(10_000, 1_000_000_000), 4_000_000),
  graceSeconds: v.optional(seconds(0.1, 3600), 10),
  emptySeconds: v.optional(seconds(0.1, 86_400), 120),
  aliveSeconds: v.optional(seconds(0.1, 60), 0.7),
  accusedSeconds: v.optional(seconds(0.1, 60), 3),
  drainSeconds: v.optional(seconds(0, 8), 0),
  origins: v.optional(v.array(v.pipe(v.string(), v.regex(/^(\*|https?:\/\/[^\s/]+)$/))), ['*']),
  trustProxy: v.optional(v.boolean(), false),
  stunPort: v.optional(whole(0, 65_535)),
  iceServers: v.optional(
    v.array(
      v.object({
        urls: v.union([iceUrl, v.array(iceUrl)]),
        username: v.optional(v.string()),
        credential: v.optional(v.string()),
      }),
    ),
    [],
  ),
  turnUrls: v.optional(v.array(turnUrl), []),
  turnSecret: v.optional(v.pipe(v.string(), v.minLength(8))),
  turnSeconds: v.optional(whole(60, 30 * 86_400), 12 * 3600),
  secret: v.optional(v.pipe(v.string(), v.minLength(16))),
})

export type ServerOptions = v.InferInput<typeof configSchema>
export type ServerConfig = v.InferOutput<typeof configSchema>

/** The configuration of an embedding program or of `readOptions`, with the defaults filled in. */
export function parseConfig(options: ServerOptions): ServerConfig {
  const result = v.safeParse(configSchema, options)
  if (!result.success) {
    const key = String(result.issues[0].path?.[0]?.key)
    const setting = table[key as keyof ServerConfig]
    if (!setting) throw new ArgumentError(key, `There is no server setting called ${key}.`)
    const shown =
      setting.flag === undefined ? '' : `, not ${JSON.stringify(options[key as keyof ServerOptions])}`
    throw new ArgumentError(key, `${nameOf(setting)} must be ${setting.must}${shown}.`)
  }
  const { turnUrls, turnSecret } = result.output
  if (turnUrls.length > 0 !== (turnSecret !== undefined)) {
    const missing = turnSecret === undefined ? 'TURN_SECRET' : 'TURN_URLS'
    throw new ArgumentError(missing, `${missing} is missing: TURN needs both TURN_URLS and TURN_SECRET.`)
  }
  return result.output
}

/** Reads environment variables and flags (which win); an empty variable counts as not set. */
export function readOptions(
  env: Readonly<Record<string, string | undefined>>,
  flags: Readonly<Record<string, string | boolean | undefined>> = {},
): ServerOptions {
  const options: Record<string, unknown> = {}
  for (const [key, { env: variable, flag, read }] of Object.entries(table)) {
    const value = (flag === undefined ? undefined : flags[flag]) ?? env[variable]
    if (value !== undefined && value !== '') options[key] = typeof value === 'string' ? read(value) : value
  }
  // Checked by parseConfig, which is where the types become true.
  return options as ServerOptions
}

function nameOf({ env, flag }: Setting): string {
  return flag === undefined ? env : `${env} (--${flag})`
}
