/** What happens to headless peers, in words. Of what all of them see, the first one speaks for all. */
import { bytesText, labelOf, timeText } from '../../shared/cost/explain.ts'
import type { Output } from './output.ts'
import { isRight, type PeerEvent, type RunVerdict } from './peerEvents.ts'

/** Results go to standard output, what is on the way to standard error. `isFirst`: told by the peer that speaks for all. */
export function createNarrator(out: Output): (event: PeerEvent, isFirst: boolean) => void {
  let runs = 0
  return (event, isFirst) => {
    switch (event.event) {
      case 'joined':
        if (isFirst) out.line(`Room ${event.room}: ${event.link}`)
        out.error(`${event.name} has joined.`)
        return
      case 'returning':
        out.error(`${event.name} was put out and comes back: ${event.message}`)
        return
      case 'left':
        if (event.message !== undefined) out.error(`${event.name} has lost its place: ${event.message}`)
        return
    }
    if (!isFirst) return
    switch (event.event) {
      case 'ready':
        out.line(event.size === 1 ? 'Ready, alone in the room.' : `Ready: ${event.size} members.`)
        return
      case 'waiting':
        out.error(event.text)
        return
      case 'server':
        out.error(
          event.state === 'connected'
            ? 'The server is back.'
            : 'The connection to the server is lost: the group goes on, nobody new can join.',
        )
        return
      case 'started': {
        const { op, bytes, dtype } = event.spec
        out.error(`${event.by ?? 'Somebody'} starts a run: ${op} of ${bytesText(bytes)} of ${dtype}.`)
        return
      }
      case 'run':
        runs++
        for (const line of runLines(event)) out.line(`Run ${runs}: ${line}`)
    }
  }
}

/** One line for each variant that was measured, and one for what went wrong. */
export function runLines(verdict: RunVerdict): string[] {
  const { outcomes, error, lost, phase } = verdict
  const lines = outcomes.map(
    ({ algorithm, settings, told, askedFor, correct, wrong, identical, times, predictedSeconds }) => {
      const what = labelOf({ algorithm, settings })
      const time = `${timeText(times.median)}, predicted ${timeText(predictedSeconds)}`
      if (wrong > 0) return `${what}: WRONG: ${wrong} elements on ${told - correct} of ${told} ranks.`
      const bits = identical === false ? 'are right, with bits that differ' : 'agree'
      return `${what}: ${told} of ${askedFor} ${bits}; ${time}.`
    },
  )
  if (!isRight(verdict) && outcomes.every(({ wrong }) => wrong === 0))
    lines.push('WRONG: the ranks had to have the same bits and do not.')
  if (lost.length > 0) lines.push(`${lost.join(', ')} left meanwhile.`)
  if (error) lines.push(`${phase}: ${error.message}`)
  return lines
}
