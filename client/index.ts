/** Papilio in a browser. On Node the package leads to client/node.ts, which has the same interface. */
import type { JoinedGroup, JoinOptions } from './rtc/join.ts'
import { joinFromTab } from './tab.ts'

export * from './exports.ts'

/**
 * Joins a room and resolves when the group is ready: all members are linked and agree who they are.
 *
 * ```ts
 * const group = await join({ room: 'k7f-2q9', name: 'Ada', size: 7 })
 * const { data } = await group.allreduce(new Float32Array([1, 2, 3]), { op: 'mean' })
 * ```
 */
export async function join(options: JoinOptions = {}): Promise<JoinedGroup> {
  return joinFromTab(options)
}
