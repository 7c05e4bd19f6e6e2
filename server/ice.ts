/** The ICE servers that a peer is told: the operator's own, and TURN with credentials that end by themselves. */
import { createHmac } from 'node:crypto'
import type { IceServer } from '../shared/signaling/events.ts'
import type { ServerConfig } from './config.ts'

/**
 * The shared-secret scheme of coturn (`use-auth-secret`): the user name begins with the time at which it ends, the
 * password is base64(HMAC-SHA1(secret, user name)).
 */
export function iceServersFor(config: ServerConfig, peerId: string, now: Date): readonly IceServer[] {
  const own = config.iceServers.map(({ urls, username, credential }) => ({
    urls,
    ...(username !== undefined && { username }),
    ...(credential !== undefined && { credential }),
  }))
  if (config.turnSecret === undefined) return own
  const username = `${Math.floor(now.getTime() / 1000) + config.turnSeconds}:${peerId}`
  const credential = createHmac('sha1', config.turnSecret).update(username).digest('base64')
  return [...own, { urls: config.turnUrls, username, credential }]
}
