/** Papilio on Node: the same interface as in a browser, with WebRTC from the optional package node-datachannel. */
import { type JoinedGroup, type JoinOptions, joinWith } from './rtc/join.ts'
import { loadNodeWebrtc } from './rtc/nodeWebrtc.ts'

export * from './exports.ts'

/**
 * Joins a room and resolves when the group is ready: all members are linked and agree who they are. The process can end
 * by itself once the group was left.
 *
 * @throws {UnsupportedError} node-datachannel is not installed.
 */
export async function join(options: JoinOptions = {}): Promise<JoinedGroup> {
  return joinWith(options, {
    webrtc: await loadNodeWebrtc(),
    url: 'http://localhost:3000',
    kind: 'node',
    seats: () => undefined,
    onEnd: () => () => {},
  })
}
