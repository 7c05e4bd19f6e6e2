import { expect, test } from 'vitest'
import { parseConfig } from '../../server/config.ts'
import { iceServersFor } from '../../server/ice.ts'

const now = new Date('2030-01-01T00:00:00Z')

test('by default there are none: the STUN responder of the server is enough', () => {
  expect(iceServersFor(parseConfig({}), 'p1', now)).toEqual([])
})

test('servers of the operator, and TURN with a user name that ends and its HMAC-SHA1', () => {
  const config = parseConfig({
    iceServers: [{ urls: 'stun:stun.example' }],
    turnUrls: ['turn:turn.example'],
    turnSecret: 'north-star-bright',
    turnSeconds: 3600,
  })
  // echo -n 1893459600:p1 | openssl dgst -sha1 -hmac north-star-bright -binary | base64
  expect(iceServersFor(config, 'p1', now)).toEqual([
    { urls: 'stun:stun.example' },
    { urls: ['turn:turn.example'], username: '1893459600:p1', credential: 'AI7JTl73Gl5QEG964440ooqv7zk=' },
  ])
})
