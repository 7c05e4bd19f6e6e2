/** A line of the event log in words; undefined for events that nobody wants to read one by one. */
import type { Waiting } from '../../../shared/collective/types.ts'
import { list } from '../format.ts'
import type { LabEvent } from '../session/events.ts'
import type { LabState } from '../session/labState.ts'
import { formatBytes, formatSeconds, plural } from '../stage/format.ts'

export interface Line {
  readonly text: string
  readonly tone: 'plain' | 'good' | 'bad'
}

const plain = (text: string): Line => ({ text, tone: 'plain' })
const good = (text: string): Line => ({ text, tone: 'good' })
const bad = (text: string): Line => ({ text, tone: 'bad' })

/** @param before the state before the event, for names and for what has changed. */
export function describeEvent(event: LabEvent, before: LabState): Line | undefined {
  const nameOf = (peerId: string) =>
    [...before.members, ...(before.run?.members ?? [])].find((member) => member.peerId === peerId)?.name ??
    'a peer'
  switch (event.kind) {
    case 'joining':
      return plain(event.room === undefined ? 'Asking for a new room' : `Joining room ${event.room}`)
    case 'joined':
      return good(`In room ${event.room} as ${event.name}`)
    case 'returning':
      return bad(`${event.message} Taking the seat again`)
    case 'refused':
      return bad(`${event.code}: ${event.message}`)
    case 'signal':
      return event.isConnected ? good('The server is back') : bad('The server is gone; trying again')
    case 'group':
      return describeGroup(event, before)
    case 'link':
      return describeLink(event, before, nameOf)
    case 'model':
      return event.model.version > 0 ? plain('Links measured, model agreed') : undefined
    case 'measuring':
      return plain('Measuring all links again')
    case 'measured':
      return event.error ? bad(event.error.message) : undefined
    case 'adding':
      return plain(`Calling ${plural(event.count, 'more peer')}`)
    case 'add-failed':
      return bad(`A peer could not be added: ${event.message}`)
    case 'removing':
      return plain(`Sending ${nameOf(event.peerId)} away`)
    case 'tabs':
      return event.opened < event.asked
        ? bad(`The browser opened ${event.opened} of ${plural(event.asked, 'tab')}`)
        : plain(`Opened ${plural(event.opened, 'tab')}`)
    default:
      return describeRun(event, before, nameOf)
  }
}

function describeGroup(event: Extract<LabEvent, { kind: 'group' }>, before: LabState): Line | undefined {
  const here = new Set(event.members.map((member) => member.peerId))
  const was = new Set(before.members.map((member) => member.peerId))
  const came = event.members.filter((member) => !was.has(member.peerId)).map((member) => member.name)
  const left = before.members.filter((member) => !here.has(member.peerId)).map((member) => member.name)
  const changes = [
    ...(came.length > 0 ? [`${list(came)} joined`] : []),
    ...(left.length > 0 ? [`${list(left)} left`] : []),
  ]
  if (changes.length > 0) return plain(changes.join('; '))
  if (event.state === before.groupState && event.epoch === before.epoch) return undefined
  if (event.state === 'ready')
    return good(`Epoch ${event.epoch}: ${plural(event.members.length, 'peer')} ready`)
  return event.state === 'left' ? plain('Left the room') : undefined
}

function describeLink(
  event: Extract<LabEvent, { kind: 'link' }>,
  before: LabState,
  nameOf: (peerId: string) => string,
): Line | undefined {
  // The path of an open link becomes known a moment later: no news.
  if (event.state === before.links.get(event.peerId)?.state) return undefined
  if (event.state === 'open')
    return plain(`Link to ${nameOf(event.peerId)} open${event.path === 'unknown' ? '' : `, ${event.path}`}`)
  if (event.state === 'closed')
    return plain(
      event.error
        ? event.error.message.replaceAll(event.peerId, nameOf(event.peerId))
        : `Link to ${nameOf(event.peerId)} closed`,
    )
  return undefined
}

function waitText({ peers, step }: Waiting): string {
  return `Waiting for ${list(peers.map((peer) => `${peer.name} (rank ${peer.rank})`))} in step ${step + 1}`
}

function describeRun(
  event: LabEvent,
  before: LabState,
  nameOf: (peerId: string) => string,
): Line | undefined {
  switch (event.kind) {
    case 'request-refused':
      return bad(event.reason)
    case 'run-started': {
      const { spec, by } = event.start
      const what = spec.variants
        .map(({ algorithm, r }) => (r === undefined ? algorithm : `${algorithm} r = ${r}`))
        .join(', ')
      return plain(`${nameOf(by)} runs ${spec.op} of ${formatBytes(spec.bytes)} ${spec.dtype}: ${what}`)
    }
    case 'progress': {
      const { step, steps } = event.progress
      return step > 0 && step !== before.run?.progress?.step
        ? plain(`Step ${step} of ${steps} done`)
        : undefined
    }
    case 'waiting': {
      const text = waitText(event.waiting)
      // It is told again while it lasts; that it lasts is in the status line.
      const isKnown = before.run?.waiting && waitText(before.run.waiting) === text
      return isKnown ? undefined : bad(text)
    }
    case 'report': {
      const { algorithm, seconds, predictedSeconds } = event.report
      return good(
        `${algorithm} done in ${formatSeconds(seconds)}, predicted ${formatSeconds(predictedSeconds)}`,
      )
    }
    case 'result': {
      const { rank, wrong } = event.result
      return wrong > 0 ? bad(`Rank ${rank} found ${plural(wrong, 'wrong element')}`) : undefined
    }
    case 'spread': {
      const { ulps, elements } = event.spread
      return plain(`Ranks differ by up to ${plural(ulps, 'ulp')} in ${plural(elements, 'element')}`)
    }
    case 'run-failed':
      return bad(`${nameOf(event.peerId)}: ${event.error.message}`)
    case 'run-finished':
      return event.error ? bad(`Run ended: ${event.error.message}`) : good('Run finished')
    default:
      return undefined
  }
}
