/** The process of a peer under test: commands come and answers go through the channel to the process that started it. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { joinWith } from '../../client/rtc/join.ts'
import { loadNodeWebrtc } from '../../client/rtc/nodeWebrtc.ts'
import { recordConnections } from './connections.ts'
import { createMember } from './member.ts'
import type { Command, FaultKind, Said } from './messages.ts'

const signals: Partial<Record<FaultKind, NodeJS.Signals>> = {
  kill: 'SIGKILL',
  return: 'SIGKILL',
  stop: 'SIGSTOP',
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
const connections = recordConnections(await loadNodeWebrtc())
const say = (said: Said) => process.send?.(said)

const member = createMember({
  join: (options) =>
    joinWith(options, {
      webrtc: connections.webrtc,
      url: '',
      kind: 'node',
      seats: () => undefined,
      onEnd: () => () => {},
    }),
  say,
  strike({ kind }) {
    const signal = signals[kind]
    if (signal) process.kill(process.pid, signal)
  },
  holdings() {
    collect()
    const { heapUsed, arrayBuffers, rss } = process.memoryUsage()
    return {
      heapBytes: heapUsed + arrayBuffers,
      residentBytes: rss,
      handles: process.getActiveResourcesInfo().length,
      connections: connections.count(),
    }
  },
  cut: connections.cut,
})

process.on('message', (command) => member.accept(command as Command))
// Nobody is left to talk to.
process.on('disconnect', () => process.exit(1))
say({ type: 'ready' })
