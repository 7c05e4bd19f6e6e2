/** One peer under test; runs in a process and in a tab alike. */
import type { JoinedGroup, JoinOptions } from '../../client/rtc/join.ts'
import { PapilioError } from '../../shared/base/errors.ts'
import type { Result } from '../../shared/collective/types.ts'
import type { Command, Ended, Fault, Holdings, JoinCommand, OpSpec, Said } from './messages.ts'

export interface MemberHost {
  join(options: JoinOptions): Promise<JoinedGroup>
  say(said: Said): void
  /** What this place does by itself to the peer, such as to end its own process; of the rest whoever directs it takes care. */
  strike(fault: Fault): void
  holdings(): Holdings
  /** Closes one of the open connections as if its network had gone. */
  cut(choice: number): void
}

export interface MemberEnd {
  accept(command: Command): void
}

/** Longer than any recovery takes. */
const timeoutMs = 25_000

const now = () => performance.timeOrigin + performance.now()
const textOf = (error: unknown) =>
  error instanceof PapilioError ? `${error.code}: ${error.message}` : String(error)

/** What a member brings in at an element: its bit, times a factor that tells elements apart. Exact in float32 and int32. */
const factorOf = (element: number) => 1 + (element % 7)

export function createMember(host: MemberHost): MemberEnd {
  let group: JoinedGroup | undefined
  let ownIndex = -1
  let faults: readonly Fault[] = []
  let isWanted = false
  /** Of the op that runs; undefined between ops. */
  let running: number | undefined

  const trace = (line: string) => host.say({ type: 'trace', line, at: now() })
  const strike = (fault: Fault) => {
    faults = faults.filter((other) => other !== fault)
    host.say({ type: 'struck', fault, at: now() })
    if (fault.kind === 'cut') host.cut(fault.peer)
    else if (fault.kind === 'leave') void group?.leave()
    else host.strike(fault)
  }
  const reached = (op: number, fraction: number) => {
    for (const fault of faults) {
      const { moment } = fault
      if (moment.recoverySeconds === undefined && moment.op === op && fraction >= moment.fraction)
        strike(fault)
    }
  }
  const recovering = () => {
    const due = faults.filter(({ moment }) => moment.recoverySeconds !== undefined)
    faults = faults.filter((fault) => !due.includes(fault))
    for (const fault of due) setTimeout(() => strike(fault), fault.moment.recoverySeconds! * 1000)
  }

  const join = async ({ url, room, size, index }: JoinCommand) => {
    ownIndex = index
    isWanted = true
    const joined = await host.join({ url, room, create: true, size, name: String(index), timeoutMs: 30_000 })
    group = joined
    let members = joined.members.length
    joined.on('view', (view) => {
      trace(
        `view ${view.epoch}: ${view.members.map(({ name }) => name)} ${JSON.stringify(view.blocked ?? '')}`,
      )
      if (view.members.length < members && running !== undefined) recovering()
      members = view.members.length
    })
    joined.on('link', ({ peerId, state, error }) =>
      trace(`link to ${peerId} ${state} ${error?.message ?? ''}`),
    )
    joined.on('waiting', ({ op, step, peers }) =>
      trace(`op ${op} waits in step ${step} for ${peers.map(({ name }) => name)}`),
    )
    joined.on('state', (state) => {
      trace(state)
      if (state !== 'left') return
      isWanted = false
      group = undefined
      host.say({ type: 'left' })
    })
    host.say({ type: 'joined', at: now() })
  }

  const call = async (op: number, spec: OpSpec, index: number): Promise<Ended> => {
    if (!group) return { error: 'not in a group' }
    const { algorithm, settings, count, dtype } = spec
    const ask = { algorithm, settings, consistency: 'fast' as const, timeoutMs, onProgress: progress(op) }
    const bit = 2 ** index
    const input = Array.from({ length: count }, (_, element) => bit * factorOf(element))
    try {
      if (dtype === 'f32') {
        const data = Float32Array.from(input)
        return check(await group.allreduce(data, ask), data, bit)
      }
      const data = Int32Array.from(input)
      return check(await group.allreduce(data, ask), data, bit)
    } catch (error) {
      return { error: textOf(error) }
    }
  }
  const progress =
    (op: number) =>
    ({ fraction }: { fraction: number }) =>
      reached(op, fraction)

  const work = async (ops: readonly OpSpec[], isEndless: boolean) => {
    for (let op = 0; isWanted && (isEndless || op < ops.length); op++) {
      reached(op, 0)
      running = op
      const result = await call(op, ops[op % ops.length]!, ownIndex)
      running = undefined
      if (isWanted) host.say({ type: 'outcome', outcome: { op, at: now(), result } })
      reached(op, 1)
    }
    if (isWanted) host.say({ type: 'done' })
  }

  const perform = async (command: Command) => {
    switch (command.type) {
      case 'join':
        return join(command)
      case 'work':
        faults = command.faults
        return work(command.ops, command.isEndless)
      case 'leave':
        isWanted = false
        return group ? group.leave() : host.say({ type: 'left' })
      case 'look':
        return host.say({ type: 'holds', holdings: host.holdings() })
    }
  }
  return {
    accept: (command) =>
      void perform(command).catch((error: unknown) => host.say({ type: 'failed', message: textOf(error) })),
  }
}

function check(
  { data, report }: Result<Float32Array | Int32Array>,
  input: Float32Array | Int32Array,
  bit: number,
): Ended {
  const faults: string[] = []
  if (input.some((value, element) => value !== bit * factorOf(element))) faults.push('its input was touched')
  const bits = data[0]
  if (bits !== undefined && data.some((value, element) => value !== bits * factorOf(element)))
    faults.push('elements do not agree on whose data are in the sum')
  return {
    contributors: report.contributors.map(({ name }) => Number(name)),
    ...(bits === undefined ? {} : { bits }),
    epoch: report.epoch,
    faults,
  }
}
