/** One peer under test; runs in a process and in a tab alike. */
import type { JoinedGroup, JoinOptions } from '../../client/rtc/join.ts'
import { EpochError, PapilioError } from '../../shared/base/errors.ts'
import type { Result } from '../../shared/collective/types.ts'
import type {
  Command,
  Ended,
  Fault,
  Holdings,
  JoinCommand,
  News,
  OpSpec,
  Outcome,
  Pace,
  Said,
} from './messages.ts'

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

/** Longer than any recovery takes, of two losses one after the other on a machine that has other things to do. */
const timeoutMs = 45_000
/** Between ops without end: other programs want the machine too. */
const pauseMs = 20
const epochsBack = 20

const now = () => performance.timeOrigin + performance.now()
const textOf = (error: unknown) =>
  error instanceof PapilioError ? `${error.code}: ${error.message}` : String(error)

/** What a member brings in at an element: its bit, times a factor that tells elements apart. Exact in float32 and int32. */
const factorOf = (element: number) => 1 + (element % 7)

export function createMember(host: MemberHost): MemberEnd {
  let session: Session | undefined
  let id = -1
  const enter = async (command: JoinCommand) => {
    const said = { ...host, say: (news: News) => host.say({ ...news, session: command.session }) }
    const entering = createSession(said, command)
    session = entering
    id = command.session
    await entering.join()
  }
  const perform = async (command: Command): Promise<void> => {
    if (command.type === 'look') host.say({ type: 'holds', holdings: host.holdings() })
    else if (command.type === 'join') await enter(command)
    else if (command.type === 'work') await session?.work(command.ops, command.pace, command.faults)
    else if (command.session === id) await session?.leave()
  }
  return {
    accept: (command) =>
      void perform(command).catch((error: unknown) =>
        host.say({ type: 'failed', message: textOf(error), session: id }),
      ),
  }
}

/** From joining a room to leaving it. */
interface Session {
  join(): Promise<void>
  work(ops: readonly OpSpec[], pace: Pace, faults: readonly Fault[]): Promise<void>
  leave(): Promise<void>
}

function createSession(
  host: Omit<MemberHost, 'say'> & { say(news: News): void },
  { url, room, size, index, name }: JoinCommand,
): Session {
  const leaving = new AbortController()
  let group: JoinedGroup | undefined
  let faults: readonly Fault[] = []
  let isOver = false
  /** Of the op that runs; undefined between ops. */
  let running: number | undefined

  const trace = (line: string) => host.say({ type: 'trace', line, at: now() })
  const end = () => {
    if (isOver) return
    isOver = true
    host.say({ type: 'left' })
  }
  const strike = (fault: Fault) => {
    if (isOver) return
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
  const watch = (joined: JoinedGroup) => {
    let members = joined.members.length
    joined.on('view', (view) => {
      const blocked = (view.blocked ?? []).map(({ a, b, reason }) => `${a} ${b} ${reason}`)
      trace(`view ${view.epoch}: ${view.members.map((member) => member.name)} ${blocked}`)
      if (view.members.length < members && running !== undefined) recovering()
      members = view.members.length
    })
    joined.on('link', ({ peerId, state, error }) =>
      trace(`link to ${peerId} ${state} ${error?.message ?? ''}`),
    )
    joined.on('waiting', ({ op, step, peers }) =>
      trace(`op ${op} waits in step ${step} for ${peers.map((peer) => peer.name)}`),
    )
    joined.on('state', (state) => {
      trace(state)
      if (state === 'left') end()
    })
  }

  const call = async (op: number, spec: OpSpec, epoch?: number): Promise<Ended> => {
    if (!group) return { error: 'not in a group' }
    const { algorithm, settings, count, dtype } = spec
    const onProgress = ({ fraction }: { fraction: number }) => reached(op, fraction)
    const ask = { algorithm, settings, consistency: 'fast' as const, timeoutMs, onProgress }
    const options = epoch === undefined ? ask : { ...ask, epoch }
    const bit = 2 ** index
    const input = Array.from({ length: count }, (_, element) => bit * factorOf(element))
    const data = dtype === 'f32' ? Float32Array.from(input) : Int32Array.from(input)
    running = op
    try {
      return check(await group.allreduce<Float32Array | Int32Array>(data, options), data, bit)
    } catch (error) {
      if (error instanceof EpochError && epoch !== undefined) throw error
      return { error: textOf(error) }
    } finally {
      running = undefined
    }
  }
  const tell = (outcome: Outcome) => {
    if (!isOver) host.say({ type: 'outcome', outcome })
  }

  const workThrough = async (ops: readonly OpSpec[], pace: Pace) => {
    for (let op = 0; !isOver && (pace === 'endless' || op < ops.length); op++) {
      reached(op, 0)
      const result = await call(op, ops[op % ops.length]!)
      tell({ op, at: now(), result })
      reached(op, 1)
    }
    if (!isOver) host.say({ type: 'done' })
  }

  const workByEpochs = async (ops: readonly OpSpec[]) => {
    const ended = new Map<number, number>()
    let epoch = group?.epoch ?? 0
    while (!isOver) {
      const op = ended.get(epoch) ?? 0
      try {
        const result = await call(op, ops[(epoch * 7 + op) % ops.length]!, epoch)
        ended.set(epoch, op + 1)
        tell({ op, epoch, at: now(), result })
        if (group) epoch = group.epoch
        for (const old of ended.keys()) if (old < epoch - epochsBack) ended.delete(old)
      } catch (error) {
        if (!(error instanceof EpochError)) throw error
        // The others may still owe each other an op of the epoch before.
        epoch = error.epoch
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }

  return {
    async join() {
      const patience = { timeoutMs: 30_000, signal: leaving.signal }
      try {
        group = await host.join({ url, room, create: true, size, name, ...patience })
      } catch (error) {
        isOver = true
        if (!leaving.signal.aborted) throw error
        host.say({ type: 'left' })
        return
      }
      watch(group)
      host.say({ type: 'joined', at: now() })
    },
    work(ops, pace, given) {
      faults = given
      return pace === 'epochs' ? workByEpochs(ops) : workThrough(ops, pace)
    },
    async leave() {
      if (group) await group.leave()
      else leaving.abort()
    },
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
    contributors: report.contributors.map(({ name }) => Number.parseInt(name, 10)),
    ...(bits === undefined ? {} : { bits }),
    epoch: report.epoch,
    faults,
  }
}
