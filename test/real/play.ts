/** Plays a scenario with real peers and a real server, and judges it. */
import type { Fault, Outcome, Said } from './messages.ts'
import type { Peer, PeerSource } from './peers.ts'
import type { RealScenario } from './realScenario.ts'
import type { ServerProcess } from './serverProcess.ts'
import { violationsOf } from './verdict.ts'

/** No scenario needs longer: an op ends at its own time-out before. */
const hangSeconds = 120
/** A peer that ends the group properly needs no longer. */
const leaveSeconds = 5

export interface RealVerdict {
  readonly violations: readonly string[]
  /** Seconds from the end of a peer in an op to the result of the last survivor. */
  readonly recoveries: readonly { readonly kind: string; readonly seconds: number }[]
}

export interface Stage {
  readonly peers: PeerSource
  readonly server: ServerProcess
  readonly trace?: ((line: string) => void) | undefined
}

interface Actor {
  readonly index: number
  readonly session: number
  readonly peer: Peer
  readonly outcomes: Outcome[]
  struck: { fault: Fault; at: number } | undefined
  state: 'starting' | 'joined' | 'done' | 'left' | 'gone'
  isLate: boolean
  complaint: string | undefined
}

/** Of which nobody hears again. */
const fatal = new Set(['kill', 'close', 'crash', 'return'])
let rooms = 0
let sessions = 0

export async function play(scenario: RealScenario, stage: Stage): Promise<RealVerdict> {
  const { peers, server } = stage
  const { size, ops, faults } = scenario
  const room = `real-${process.pid}-${rooms++}`
  const begin = Date.now()
  const actors: Actor[] = []
  const pending: Promise<unknown>[] = []
  let changed = () => {}
  let isOver = false

  const trace = (at: number, who: string, what: string) =>
    stage.trace?.(`${((at - begin) / 1000).toFixed(3)} ${who} ${what}`)

  const enter = async (isLate: boolean): Promise<void> => {
    const peer = await peers.take()
    const index = actors.length
    const session = sessions++
    const actor: Actor = {
      index,
      session,
      peer,
      outcomes: [],
      struck: undefined,
      state: 'starting',
      isLate,
      complaint: undefined,
    }
    actors.push(actor)
    const forget = [
      peer.heard.on('said', (said) => hear(actor, said)),
      peer.heard.on('gone', () => {
        actor.state = 'gone'
        trace(Date.now(), `peer ${index}`, 'is gone')
        changed()
      }),
    ]
    cleanups.push(() => {
      for (const off of forget) off()
    })
    peer.post({
      type: 'join',
      url: server.url,
      room,
      size: isLate ? 1 : size,
      session,
      index,
      name: String(index),
    })
  }
  const cleanups: (() => void)[] = []

  /** What a tab has said before it ended may be heard after it. */
  const become = (actor: Actor, state: Actor['state']) => {
    if (!actor.peer.isGone) actor.state = state
  }
  const hear = (actor: Actor, said: Said) => {
    const who = `peer ${actor.index}`
    if (said.session !== actor.session) return
    if (said.type === 'trace') return trace(said.at, who, said.line)
    trace('at' in said ? said.at : Date.now(), who, JSON.stringify(said))
    if (said.type === 'joined') {
      become(actor, 'joined')
      if (actor.isLate) work(actor)
    } else if (said.type === 'outcome') actor.outcomes.push(said.outcome)
    else if (said.type === 'struck') strike(actor, said.fault, said.at)
    else if (said.type === 'done' || said.type === 'left') become(actor, said.type)
    else if (said.type === 'failed') {
      actor.complaint = said.message
      become(actor, 'left')
    }
    changed()
  }
  const strike = (actor: Actor, fault: Fault, at: number) => {
    const { kind, seconds } = fault
    actor.struck ??= { fault, at }
    if (kind === 'server') {
      pending.push(server.restart(seconds))
      return
    }
    actor.peer.strike(kind)
    const after = (action: () => void) =>
      pending.push(
        new Promise<void>((resolve) =>
          setTimeout(() => {
            action()
            resolve()
          }, seconds * 1000),
        ),
      )
    if (kind === 'stop' || kind === 'freeze' || kind === 'pause') after(() => actor.peer.resume())
    if (kind === 'return')
      after(() => {
        if (!isOver) pending.push(enter(true))
      })
  }
  const work = (actor: Actor) =>
    actor.peer.post({
      type: 'work',
      ops,
      pace: actor.isLate ? 'endless' : 'once',
      faults: actor.isLate ? [] : faults.filter(({ peer }) => peer === actor.index),
    })
  /** Resolves with whether it came true in time. */
  const until = (isTrue: () => boolean, seconds: number) =>
    new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => resolve(false), seconds * 1000)
      changed = () => {
        if (!isTrue()) return
        clearTimeout(timer)
        resolve(true)
      }
      changed()
    })

  const violations: string[] = []
  await server.isUp()
  await Promise.all(Array.from({ length: size }, () => enter(false)))
  const first = [...actors]
  if (await until(() => first.every(({ state }) => state !== 'starting'), hangSeconds / 2)) {
    for (const actor of first) work(actor)
    const isEnded = ({ state }: Actor) => state === 'done' || state === 'left' || state === 'gone'
    if (!(await until(() => first.every(isEnded), hangSeconds)))
      violations.push(`a hang: peers ${first.filter((actor) => !isEnded(actor)).map(({ index }) => index)}`)
  } else violations.push('the group did not form')
  isOver = true
  while (pending.length > 0) await Promise.all(pending.splice(0))

  const survivors = first.filter(({ state }) => state !== 'left' && state !== 'gone')
  violations.push(...violationsOf(survivors, ops.length))
  for (const actor of first) {
    // Others may put out who stood still, or whose links were cut; nobody else.
    const isStruck = actor.struck !== undefined && actor.struck.fault.kind !== 'server'
    const cuts = faults.some(({ kind }) => kind === 'cut')
    if ((actor.state === 'left' || actor.state === 'gone') && !isStruck && !cuts)
      violations.push(`peer ${actor.index} is out, although nothing has happened to it`)
    if (actor.complaint) violations.push(`peer ${actor.index}: ${actor.complaint}`)
  }
  const recoveries = first.flatMap(({ struck }) => {
    if (!struck || !fatal.has(struck.fault.kind)) return []
    const { op } = struck.fault.moment
    const results = survivors.flatMap(({ outcomes }) => outcomes.filter((outcome) => outcome.op >= op))
    // The op that ran when it happened is the first that ended afterwards.
    const ends = results.filter(({ at }) => at >= struck.at)
    const ran = Math.min(...ends.map((outcome) => outcome.op))
    const last = Math.max(...ends.flatMap((outcome) => (outcome.op === ran ? [outcome.at] : [])))
    return Number.isFinite(last) ? [{ kind: struck.fault.kind, seconds: (last - struck.at) / 1000 }] : []
  })

  const living = actors.filter(({ peer }) => !peer.isGone)
  for (const actor of living)
    if (actor.state !== 'left') actor.peer.post({ type: 'leave', session: actor.session })
  await until(() => living.every(({ state }) => state === 'left' || state === 'gone'), leaveSeconds)
  for (const cleanup of cleanups) cleanup()
  await Promise.all(
    living.map(({ peer, state }) => {
      if (state === 'left') return peers.give(peer)
      if (peer.isGone) return undefined
      violations.push('a peer did not leave')
      return peer.end()
    }),
  )
  return { violations: [...new Set(violations)], recoveries }
}
