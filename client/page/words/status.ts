/** Each state of the page as icon, word, sentence and next action. */
import { linksOf } from '../../../shared/schedule/links.ts'
import { isRoomCode } from '../../../shared/signaling/events.ts'
import { survivorsOf } from '../../session/outcome.ts'
import { list } from '../format.ts'
import { type AppState, absent, appStateOf, relayed, unlinked } from '../session/appState.ts'
import type { LabState } from '../session/labState.ts'
import { plural } from '../stage/format.ts'
import { problemOf } from './problems.ts'

export type StatusIcon = 'here' | 'wait' | 'link' | 'ok' | 'run' | 'warn' | 'bad'

/** What a button beside the sentence does. */
export type StatusAction = 'reload' | 'create-room' | 'new-room' | 'dismiss'

export interface Status {
  readonly state: AppState
  readonly icon: StatusIcon
  readonly word: string
  readonly sentence: string
  readonly action?: StatusAction
}

/** After this many seconds a wait says what it may be waiting for, after `remedySeconds` what to do. */
export const explainSeconds = 5
export const remedySeconds = 15

const words: Readonly<Record<AppState, { icon: StatusIcon; word: string }>> = {
  empty: { icon: 'here', word: 'Alone' },
  waiting: { icon: 'wait', word: 'Waiting' },
  connecting: { icon: 'link', word: 'Connecting' },
  ready: { icon: 'ok', word: 'Ready' },
  running: { icon: 'run', word: 'Running' },
  degraded: { icon: 'warn', word: 'Ready, but slow' },
  failed: { icon: 'bad', word: 'Failed' },
  reconnecting: { icon: 'warn', word: 'Reconnecting' },
  'version-mismatch': { icon: 'bad', word: 'Other version' },
  'room-full': { icon: 'bad', word: 'Room full' },
  'room-locked': { icon: 'bad', word: 'Room locked' },
  'room-unknown': { icon: 'bad', word: 'Unknown room' },
  'room-closed': { icon: 'bad', word: 'Room closed' },
  'not-found': { icon: 'bad', word: 'Not found' },
  unsupported: { icon: 'bad', word: 'Not supported' },
}

/** @param seconds since the page is in this state. */
export function statusOf(state: LabState, seconds: number): Status {
  const appState = appStateOf(state)
  const { icon, word } = words[appState]
  const isReduced = appState === 'degraded' && state.run?.phase === 'running'
  const shown = isReduced ? 'Running with fewer' : word
  return { state: appState, icon, word: shown, ...sentenceOf(state, appState, seconds) }
}

function sentenceOf(
  state: LabState,
  appState: AppState,
  seconds: number,
): { sentence: string; action?: StatusAction } {
  const here = state.members.length
  switch (appState) {
    case 'empty':
      return { sentence: 'You are the first here. Add peers below, or open the link on other devices.' }
    case 'waiting': {
      const missing = (state.expected ?? here) - here
      const late =
        seconds > remedySeconds
          ? ' Some may not come: you can run with those who are here once they are linked.'
          : ''
      return { sentence: `${here} of ${here + missing} here, waiting for ${missing} more.${late}` }
    }
    case 'connecting':
      return { sentence: connectingSentence(state, seconds) }
    case 'ready':
      return { sentence: `${here} peers, everyone linked with everyone, all links measured.` }
    case 'running':
      return { sentence: runningSentence(state) }
    case 'degraded':
      return {
        sentence: state.run?.phase === 'running' ? reducedSentence(state) : degradedSentence(state),
      }
    case 'reconnecting':
      return {
        sentence: `The server is gone; trying again. The ${plural(here, 'peer')} here can still run, nobody new can join.`,
      }
    case 'failed':
      if (state.place === 'refused') return { sentence: outside, action: 'reload' }
      return { sentence: `${problemOf(state.notice?.code ?? '').title}.`, action: 'dismiss' }
    case 'room-unknown':
      return { sentence: outside, action: isRoomCode(state.room ?? '') ? 'create-room' : 'new-room' }
    case 'room-full':
    case 'room-locked':
    case 'room-closed':
    case 'not-found':
      return { sentence: outside, action: 'new-room' }
    case 'version-mismatch':
      return { sentence: outside, action: 'reload' }
    case 'unsupported':
      return { sentence: outside }
  }
}

/** Why is in the banner. */
const outside = 'This page is in no room.'

function connectingSentence(state: LabState, seconds: number): string {
  if (state.place !== 'joined')
    return seconds > explainSeconds
      ? 'Asking the server for a place in the room. It has not answered yet: is it running?'
      : 'Asking the server for a place in the room.'
  const waitingFor = unlinked(state).map((member) => member.name)
  if (waitingFor.length > 0) {
    const rank = state.members.findIndex(({ peerId }) => peerId === state.self?.peerId)
    const links = linksOf(state.members.length, rank).length
    const count = `${links - waitingFor.length} of ${plural(links, 'link')} open, waiting for ${list(waitingFor)}.`
    if (seconds > remedySeconds) return `${count} ${problemOf('ICE_FAILED').remedies[0]}`
    return seconds > 3 ? `${count} If your computer asks about the local network, choose Allow.` : count
  }
  const silent = absent(state).map((member) => member.name)
  if (state.groupState !== 'ready') return 'All links are open. The peers agree on their ranks.'
  if (silent.length > 0)
    return seconds > explainSeconds
      ? `${list(silent)}: linked, but not taking part in the runs of this page.`
      : `Waiting for ${list(silent)} to get ready.`
  return 'Measuring the links.'
}

function runningSentence({ run, self }: LabState): string {
  const call = run?.call
  if (!run || !call) return 'The peers prepare their vectors.'
  const { waiting, progress } = run
  if (waiting) {
    const names = waiting.peers.map((peer) => `${peer.name} (rank ${peer.rank})`)
    return `Waiting for ${list(names)} in step ${waiting.step + 1} for ${waiting.seconds.toFixed(1)} s.`
  }
  const { variants, repeats } = run.start.spec
  const step = progress
    ? `Step ${Math.min(progress.steps, progress.step + 1)} of ${progress.steps}`
    : 'Starting'
  const variant = variants.length > 1 ? `, variant ${call.variant + 1} of ${variants.length}` : ''
  const repeat = call.isWarmup ? ', warm-up' : repeats > 1 ? `, repeat ${call.repeat + 1} of ${repeats}` : ''
  const asker = run.members.find((member) => member.peerId === run.start.by)
  const by = asker && asker.peerId !== self?.peerId ? `, asked for by ${asker.name}` : ''
  return `${step}${variant}${repeat}${by}.`
}

function reducedSentence(state: LabState): string {
  const { run } = state
  if (!run) return ''
  const names = run.lost.map(({ name }) => name)
  const where = run.progress || run.waiting ? runningSentence(state) : 'They begin the call anew.'
  return `${list(names)} left; ${plural(survivorsOf(run).length, 'peer')} go on. ${where}`
}

function degradedSentence(state: LabState): string {
  const names = relayed(state).map(({ rank, member }) => `${member.name} (rank ${rank})`)
  return `Runs work, but ${list(names)} can only be reached through a relay, which is slower.`
}
