import { expect, test } from 'vitest'
import { parseConfig, readOptions } from '../../server/config.ts'
import { settings } from '../../server/settings.ts'
import { ArgumentError } from '../../shared/base/errors.ts'

const read = (env: Record<string, string>, flags: Record<string, string> = {}) =>
  parseConfig(readOptions(env, flags))

test('nothing set gives the defaults', () => {
  expect(read({})).toMatchObject({
    port: 3000,
    maxPeersPerRoom: 128,
    graceSeconds: 10,
    origins: ['*'],
    iceServers: [],
  })
  expect(read({ PORT: '', HOST: '' })).toEqual(read({}))
})

test('variables are read, and flags win', () => {
  expect(read({ PORT: '8080', MAX_ROOMS: '5' }, { port: '9090' })).toMatchObject({ port: 9090, maxRooms: 5 })
  expect(
    read({
      HOST: '::1',
      GRACE_SECONDS: '2.5',
      TRUST_PROXY: 'yes',
      ORIGINS: 'https://a.example, https://b.example',
      ICE_SERVERS: '[{"urls": "stun:stun.school.example:3478"}]',
      TURN_URLS: 'turn:turn.school.example?transport=udp,turns:turn.school.example:443',
      TURN_SECRET: 'north-star-bright',
    }),
  ).toMatchObject({
    host: '::1',
    graceSeconds: 2.5,
    trustProxy: true,
    origins: ['https://a.example', 'https://b.example'],
    iceServers: [{ urls: 'stun:stun.school.example:3478' }],
    turnUrls: ['turn:turn.school.example?transport=udp', 'turns:turn.school.example:443'],
  })
})

test.each([
  [{ PORT: 'http' }, 'PORT (--port) must be a whole number from 0 to 65535 (0: any free port), not "http".'],
  [{ PORT: '70000' }, 'PORT (--port) must be a whole number from 0 to 65535 (0: any free port), not 70000.'],
  [{ PORT: '-1' }, /PORT .* not "-1"/],
  [{ PORT: '0x10' }, /PORT .* not "0x10"/],
  [{ MAX_PEERS_PER_ROOM: '129' }, /from 1 to 128, not 129/],
  [{ LOG_LEVEL: 'loud' }, /LOG_LEVEL .* one of fatal, error/],
  [{ TRUST_PROXY: 'maybe' }, /TRUST_PROXY .* true or false, not "maybe"/],
  [{ ORIGINS: 'lab.example' }, /ORIGINS .* such as https:\/\/lab\.example/],
  [{ ICE_SERVERS: '{' }, /^ICE_SERVERS must be a JSON list of .*URLs\.$/],
  [{ ICE_SERVERS: '[{"urls": "http://x"}]' }, /^ICE_SERVERS must be/],
  [{ TURN_URLS: 'stun:x', TURN_SECRET: 'long enough' }, /TURN_URLS .* turn: or turns: URLs/],
  [{ TURN_URLS: 'turn:x' }, 'TURN_SECRET is missing: TURN needs both TURN_URLS and TURN_SECRET.'],
  [{ TURN_SECRET: 'long enough' }, /TURN_URLS is missing/],
])('%j is refused in one sentence', (env, sentence) => {
  expect(() => read(env as Record<string, string>)).toThrow(ArgumentError)
  expect(() => read(env as Record<string, string>)).toThrow(sentence)
})

test('a secret is never printed', () => {
  for (const [env, value] of [
    ['TURN_SECRET', 'short'],
    ['PAPILIO_SECRET', 'also short'],
    ['ICE_SERVERS', '[{"urls": "bad", "credential": "hidden"}]'],
  ] as const) {
    expect(() => read({ [env]: value })).toThrow(new RegExp(`^${env} must be (?!.*(short\\b|hidden))`))
  }
})

test('an option that does not exist is named', () => {
  expect(() => parseConfig({ prot: 1 } as never)).toThrow('There is no server setting called prot.')
})

test('no two settings share a name', () => {
  const names = Object.values(settings).flatMap((setting) =>
    'flag' in setting ? [setting.env, setting.flag] : [setting.env],
  )
  expect(new Set(names).size).toBe(names.length)
})
