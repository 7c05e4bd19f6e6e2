/**
 * A STUN responder on UDP. Browsers hide the addresses of a host behind names that only multicast DNS resolves; where a
 * network blocks multicast, the address that this responder reports is the only one that connects two tabs.
 */
import { createSocket } from 'node:dgram'
import { isIPv6 } from 'node:net'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import { answerBinding } from './stunMessage.ts'

export interface StunResponder {
  readonly port: number
  close(): Promise<void>
}

/** Resolves with undefined, and says so in the log, when the port cannot be had: the rest of the server works without. */
export function startStun(
  at: { address: string; port: number },
  { log, metrics }: { log: Log; metrics: Metrics },
): Promise<StunResponder | undefined> {
  const socket = createSocket(isIPv6(at.address) ? 'udp6' : 'udp4')
  socket.on('message', (message, sender) => {
    const answer = answerBinding(message, sender)
    metrics.stun.inc({ result: answer ? 'answered' : 'ignored' })
    // A datagram that cannot be sent is a lost one, and clients repeat their requests.
    if (answer) socket.send(answer, sender.port, sender.address, () => {})
  })
  return new Promise((resolve) => {
    socket.once('error', (error: NodeJS.ErrnoException) => {
      log.warn({ port: at.port, code: error.code }, 'no STUN: the UDP port cannot be used')
      socket.close()
      resolve(undefined)
    })
    socket.bind(at.port, at.address, () => {
      socket.removeAllListeners('error')
      socket.on('error', (error) => log.error({ err: error }, 'STUN socket failed'))
      resolve({
        port: socket.address().port,
        close: () => new Promise((closed) => void socket.close(() => closed())),
      })
    })
  })
}
