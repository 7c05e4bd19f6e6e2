/** What is said of a run when it has lost somebody or ended otherwise than it should. */
import { survivorsOf } from '../../session/outcome.ts'
import { list } from '../format.ts'
import { plural } from '../stage/format.ts'
import { loseMembers, type RunState } from './runState.ts'

export interface Refusal {
  readonly code: string
  readonly message: string
}

export interface Notice extends Refusal {
  /** failure: what was asked for was not done. remark: it was, or somebody wanted it so. */
  readonly tone: 'failure' | 'remark'
}

/** Members of the run that goes on have left: said at once, not when it ends. */
export function foldLoss(
  run: RunState | undefined,
  here: ReadonlySet<string>,
): { run?: RunState; notice?: Notice } {
  if (run?.phase !== 'running') return {}
  const next = loseMembers(run, (peerId) => here.has(peerId))
  if (next === run) return {}
  const message = `${lostNames(next)} left during the run. The ${plural(survivorsOf(next).length, 'peer')} still here go on with it.`
  return { run: next, notice: { code: 'PEER_LOST', message, tone: 'remark' } }
}

function lostNames({ members, lost }: RunState): string {
  return list(lost.map((member) => `${member.name} (rank ${members.indexOf(member)})`))
}

/** What the end of a run leaves to say; nothing when all went well. */
export function noticeOfEnd(run: RunState): { notice?: Notice } {
  if (run.error) {
    const { code, message } = run.error
    if (run.phase === 'stopped') return { notice: { code: 'STOPPED', message, tone: 'remark' } }
    return { notice: { code, message, tone: 'failure' } }
  }
  const results = [...run.results.values()].flatMap((byPeer) => [...byPeer.values()])
  const wrong = results.reduce((sum, result) => sum + result.wrong, 0)
  if (wrong > 0)
    return { notice: { code: 'VERIFY_FAILED', message: `${wrong} elements are wrong.`, tone: 'failure' } }
  if (results.length === 0 || run.lost.length === 0) return {}
  const isIn = new Set(results[0]?.contributors)
  const [one, vectors] = run.lost.length === 1 ? ['its', 'vector'] : ['their', 'vectors']
  // Who left when one of the others had the result already is in it.
  const how = run.lost.every(({ peerId }) => isIn.has(peerId)) ? 'with' : 'without'
  const message = `${lostNames(run)} left during the run. The ${plural(survivorsOf(run).length, 'peer')} still here finished it together, ${how} ${one} ${vectors}.`
  return { notice: { code: 'PEER_LOST', message, tone: 'remark' } }
}
