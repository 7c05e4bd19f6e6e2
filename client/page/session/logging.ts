/** From what a peer tells to the event log. */
import { PapilioError } from '../../../shared/base/errors.ts'
import type { Group } from '../../../shared/collective/types.ts'
import type { RunMember } from '../../session/runs.ts'
import type { EventLog } from './eventLog.ts'

/** Logs what the group tells of members, links and its model, from what is there already on. The returned functions end that. */
export function logGroup(group: Group, log: EventLog, onView: () => void): (() => void)[] {
  const logView = () => {
    log.append({ kind: 'group', state: group.state, epoch: group.epoch, members: group.roster })
    onView()
  }
  const logLink = ({ peerId, state, path, error }: ReturnType<Group['links']>[number]) =>
    log.append({ kind: 'link', peerId, state, path, ...(error ? { error: noticeOf(error) } : {}) })
  const off = [
    group.on('view', logView),
    group.on('state', logView),
    group.on('model', (model) => log.append({ kind: 'model', model })),
    group.on('link', logLink),
  ]
  logView()
  for (const status of group.links()) logLink(status)
  if (group.model.version > 0) log.append({ kind: 'model', model: group.model })
  return off
}

export function logRuns(member: RunMember, log: EventLog): void {
  member.on('present', (event) => log.append({ kind: 'present', ...event }))
  member.on('refused', (event) => log.append({ kind: 'request-refused', ...event }))
  member.on('started', (start) => log.append({ kind: 'run-started', start }))
  member.on('measuring', () => log.append({ kind: 'measuring' }))
  member.on('measured', ({ error }) => log.append({ kind: 'measured', ...(error ? { error } : {}) }))
  member.on('call', ({ runId, index, total, ...call }) =>
    log.append({ kind: 'call', runId, index, total, call }),
  )
  member.on('progress', (event) => log.append({ kind: 'progress', ...event }))
  member.on('peerProgress', (event) => log.append({ kind: 'peer-progress', ...event }))
  member.on('waiting', (event) => log.append({ kind: 'waiting', ...event }))
  member.on('report', (event) => log.append({ kind: 'report', ...event }))
  member.on('result', (event) => log.append({ kind: 'result', ...event }))
  member.on('spread', (event) => log.append({ kind: 'spread', ...event }))
  member.on('failed', (event) => log.append({ kind: 'run-failed', ...event }))
  member.on('finished', (event) => log.append({ kind: 'run-finished', ...event }))
}

export function noticeOf(error: unknown): { code: string; message: string } {
  if (error instanceof PapilioError) return { code: error.code, message: error.message }
  return { code: 'INTERNAL', message: error instanceof Error ? error.message : String(error) }
}
