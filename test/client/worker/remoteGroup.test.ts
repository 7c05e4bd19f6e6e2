/** Groups behind ports, as in workers, but in one process: whatever passes a port is cloned, channels excepted. */
import { afterEach, describe, expect, it } from 'vitest'
import type { ChannelSource, Connector, ConnectorEvents } from '../../../client/rtc/connector.ts'
import { hostGroup } from '../../../client/worker/host.ts'
import type { GroupWorker, Port, ToPage, ToWorker } from '../../../client/worker/messages.ts'
import { createRemoteGroup } from '../../../client/worker/remoteGroup.ts'
import { Emitter } from '../../../shared/base/emitter.ts'
import { AbortedError, LinkError, MismatchError, PapilioError } from '../../../shared/base/errors.ts'
import { whenTogether } from '../../../shared/collective/memoryGroup.ts'
import type { Group } from '../../../shared/collective/types.ts'
import type { Member, Membership, View } from '../../../shared/membership/types.ts'
import type { LinkStatus } from '../../../shared/transport/types.ts'
import { createFeedback } from '../../../shared/wire/feedback.ts'

/** As `postMessage` does it. */
function passed<T extends object>(message: T, transfer: Transferable[]): T {
  if ('channel' in message) return message
  return structuredClone(message, { transfer: transfer as ArrayBuffer[] })
}

interface Side {
  readonly connector: FakeConnector
  channel?: FakeChannel
}

class FakeChannel {
  binaryType = ''
  bufferedAmount = 0
  bufferedAmountLowThreshold = 0
  readyState = 'open'
  onopen: (() => void) | null = null
  onclose: (() => void) | null = null
  onmessage: ((event: { data: ArrayBuffer }) => void) | null = null
  onbufferedamountlow: (() => void) | null = null
  other: FakeChannel | undefined
  isMute = false

  send(message: Uint8Array): void {
    if (this.isMute) return
    const data = message.slice().buffer
    queueMicrotask(() => this.other?.onmessage?.({ data }))
  }
}

/** Two connectors that want each other have a channel at once. */
class FakeConnector extends Emitter<ConnectorEvents> implements Connector {
  readonly selfId: string
  readonly #all: Map<string, FakeConnector>
  readonly wanted = new Set<string>()
  readonly channels: FakeChannel[] = []
  readonly #open = new Map<string, LinkStatus>()
  isClosed = false

  constructor(selfId: string, all: Map<string, FakeConnector>) {
    super()
    this.selfId = selfId
    this.#all = all
    all.set(selfId, this)
  }

  want(peerIds: readonly string[]): void {
    for (const peerId of [...this.wanted]) if (!peerIds.includes(peerId)) this.cut(peerId)
    for (const peerId of peerIds) {
      if (this.wanted.has(peerId)) continue
      this.wanted.add(peerId)
      const other = this.#all.get(peerId)
      if (!other?.wanted.has(this.selfId)) continue
      const sides: [Side, Side] = [{ connector: this }, { connector: other }]
      for (const side of sides) side.channel = new FakeChannel()
      sides[0].channel!.other = sides[1].channel!
      sides[1].channel!.other = sides[0].channel!
      sides[0].connector.#made(sides[1].connector.selfId, sides[0].channel!)
      sides[1].connector.#made(sides[0].connector.selfId, sides[1].channel!)
      setTimeout(() => {
        for (const { channel } of sides) channel!.onopen?.()
      })
    }
  }

  #made(peerId: string, channel: FakeChannel): void {
    this.channels.push(channel)
    this.emit('channel', { peerId, attempt: 1, channel: channel as unknown as RTCDataChannel })
  }

  cut(peerId: string): void {
    if (!this.wanted.delete(peerId)) return
    this.#open.delete(peerId)
    const error = new LinkError('CHANNEL_CLOSED', `Link to ${peerId} cut.`, { peerId })
    this.emit('status', { peerId, state: 'closed', path: 'direct', error })
    this.emit('close', { peerId, error })
    this.#all.get(peerId)?.cut(this.selfId)
  }

  opened(peerId: string, attempt: number): void {
    const status: LinkStatus = { peerId, state: 'open', path: 'direct' }
    this.#open.set(peerId, status)
    this.emit('status', status)
    this.emit('open', { peerId, attempt, maxMessageBytes: 262_144 })
  }
  closed(): void {}
  broken(): void {}
  accept(): void {}
  statuses() {
    return [...this.#open.values()]
  }
  close(): void {
    this.isClosed = true
    this.want([])
  }
}

interface Room {
  readonly groups: Group[]
  readonly connectors: FakeConnector[]
  readonly stopped: string[]
  fail(at: number, message: string): void
}

async function openRoom(size: number, silenceSeconds?: number): Promise<Room> {
  const all = new Map<string, FakeConnector>()
  const views = new Emitter<{ view: View }>()
  const stopped: string[] = []
  const failing: ((error: Error) => void)[] = []
  let view: View = {
    epoch: 1,
    members: Array.from(
      { length: size },
      (_, at): Member => ({ peerId: `p${at}`, name: `P${at}`, kind: 'tab' }),
    ),
  }
  const remove = (peerId: string) => {
    if (!view.members.some((member) => member.peerId === peerId)) return
    view = { epoch: view.epoch + 1, members: view.members.filter((member) => member.peerId !== peerId) }
    views.emit('view', view)
  }
  const connectors = view.members.map(({ peerId }) => new FakeConnector(peerId, all))
  const groups = await Promise.all(
    connectors.map((connector) => {
      const membership: Membership = {
        selfId: connector.selfId,
        view: () => view,
        onView: (listener) => views.on('view', listener),
        // Whoever is out already has no say.
        reportLost: (peerId) => {
          if (view.members.some((member) => member.peerId === connector.selfId)) remove(peerId)
        },
        leave: async () => remove(connector.selfId),
      }
      const worker = workerOf(connector, stopped, failing)
      return createRemoteGroup(worker, { connector, membership, silenceSeconds })
    }),
  )
  await whenTogether(groups)
  return { groups, connectors, stopped, fail: (at, message) => failing[at]!(new Error(message)) }
}

function workerOf(
  source: ChannelSource,
  stopped: string[],
  failing: ((error: Error) => void)[],
): GroupWorker {
  const at = failing.length
  failing.push(() => {})
  let listener = (_message: ToPage) => {}
  const port: Port = {
    onmessage: null,
    postMessage(message: ToPage, transfer) {
      const clone = passed(message, transfer)
      setTimeout(() => listener(clone))
    },
  }
  hostGroup(port)
  return {
    post(message: ToWorker, transfer) {
      const clone = passed(message, transfer)
      setTimeout(() => port.onmessage?.({ data: clone } as MessageEvent))
    },
    onMessage(given) {
      listener = given
    },
    onError(given) {
      failing[at] = given
    },
    stop: () => stopped.push(source.selfId),
  }
}

let room: Room
afterEach(async () => {
  await Promise.all(room.groups.map((group) => group.leave().catch(() => undefined)))
})

describe('a group behind a port', () => {
  it('is the same group', async () => {
    room = await openRoom(3)
    const { groups } = room
    expect(groups.map(({ rank, size, epoch, state }) => [rank, size, epoch, state])).toEqual(
      [0, 1, 2].map((rank) => [rank, 3, 1, 'ready']),
    )
    expect(groups[0]!.members.map(({ name }) => name)).toEqual(['P0', 'P1', 'P2'])
    expect(groups[0]!.links()).toHaveLength(2)
    const models = await Promise.all(groups.map((group) => group.measure()))
    expect(groups[1]!.model).toEqual(models[0])
    expect(groups[0]!.predict({ count: 10 }).chosen.seconds).toBeGreaterThan(0)
    const reports: number[] = []
    groups[0]!.on('report', ({ op }) => reports.push(op))
    const results = await Promise.all(
      groups.map((group, rank) => group.allreduce(new Float32Array([rank, 1]), { op: 'mean' })),
    )
    for (const { data } of results) expect([...data]).toEqual([1, 1])
    expect(reports).toEqual([results[0]!.report.op])
    await Promise.all(groups.map((group) => group.barrier()))
  })

  it('keeps the order of calls, whatever their size, and leaves inputs alone', async () => {
    room = await openRoom(2)
    const { groups } = room
    const large = new Float32Array(1_500_000).fill(1)
    const into = new Float32Array(large.length)
    const fractions: number[] = []
    const ops = await Promise.all(
      groups.map(async (group, rank) => {
        const calls = [
          group.allreduce(large, {
            onProgress: ({ fraction }) => rank === 0 && fractions.push(fraction),
            ...(rank === 0 && { into }),
          }),
          group.allreduce(new Float32Array(3)),
        ]
        return (await Promise.all(calls)).map(({ data, report }) => ({ data, op: report.op }))
      }),
    )
    expect(ops[0]![0]!.data).toBe(into)
    expect(into.every((value) => value === 2)).toBe(true)
    expect(large.every((value) => value === 1)).toBe(true)
    for (const [first, second] of ops) expect(second!.op).toBe(first!.op + 1)
    expect(fractions.at(-1)).toBe(1)
  })

  it('takes folds of the caller from their modules, in the order of the calls', async () => {
    room = await openRoom(2)
    const { groups } = room
    const code = "export default { name: 'longer', commutative: true, combine: (a, b) => Math.hypot(a, b) }"
    const module = `data:text/javascript,${encodeURIComponent(code)}`
    const fold = { name: 'longer', commutative: true, combine: Math.hypot, module }
    for (let round = 0; round < 2; round++) {
      const results = await Promise.all(
        groups.map(async (group, rank) => {
          const calls = [
            group.allreduce(Float64Array.of(3 + rank), { op: fold }),
            group.reduce(Float64Array.of(rank), { op: fold, root: 1 }),
            group.allreduce(Int32Array.of(rank)),
          ]
          return Promise.all(calls)
        }),
      )
      for (const [folded, , sum] of results) expect([folded!.data![0], sum!.data![0]]).toEqual([5, 1])
      expect(results[1]![1]!.data![0]).toBe(1)
      const ops = results.map((each) => each.map(({ report }) => report.op))
      expect(ops[0]).toEqual(ops[1])
    }
    for (const wrong of ['data:text/javascript,export default 7', 'data:text/javascript,no script'])
      for (const group of groups) {
        const call = group.allreduce(Float64Array.of(1), { op: { ...fold, module: wrong } })
        await expect(call).rejects.toMatchObject({ code: 'UNSUPPORTED', feature: 'fold in a worker' })
      }
  })

  it('ends with errors of the same classes and fields', async () => {
    room = await openRoom(2)
    const [a, b] = room.groups as [Group, Group]
    const different = [a.allreduce(new Float32Array(4)), b.allreduce(new Float32Array(5))]
    const errors = await Promise.all(different.map((call) => call.catch((reason: unknown) => reason)))
    for (const error of errors) {
      expect(error).toBeInstanceOf(MismatchError)
      expect(error).toBeInstanceOf(PapilioError)
      expect(error).toMatchObject({ code: 'MISMATCH', field: 'count', name: 'MismatchError' })
    }
    const stop = new AbortController()
    const aborted = a.allreduce(new Float32Array(4), { signal: stop.signal })
    stop.abort('enough')
    const error = await aborted.catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(AbortedError)
    expect(error).toMatchObject({ cause: 'enough' })
    await expect(b.allreduce(new Float32Array(4))).rejects.toMatchObject({ code: 'ABORTED' })
    const into = new Float32Array(3)
    const [refused] = await Promise.allSettled([
      a.allreduce(new Float32Array(4), { into }),
      b.allreduce(new Float32Array(4)),
    ])
    expect(refused).toMatchObject({ reason: { code: 'INVALID_ARGUMENT', argument: 'into' } })
    const fold = { combine: () => {}, identity: 0, commutative: true }
    await expect(a.allreduce(new Float32Array(4), { op: fold as never })).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      message: expect.stringContaining('worker: false'),
    })
    const large = [a, b].map((group) => group.allreduce(new Float32Array(300_000)))
    const behind = a.allreduce(new Float32Array(4), { op: fold as never })
    await expect(behind).rejects.toMatchObject({ code: 'UNSUPPORTED' })
    await Promise.all(large)
    expect(() => a.tell('x'.repeat(70_000))).toThrow(/at most 65536 bytes/)
  })

  it('keeps the error feedback of a handle from call to call', async () => {
    room = await openRoom(2)
    const feedbacks = room.groups.map(() => createFeedback())
    const value = 1 + 2 ** -9
    let sum = 0
    for (let call = 0; call < 8; call++) {
      const results = await Promise.all(
        room.groups.map((group, rank) =>
          group.allreduce(new Float32Array(64).fill(value), { wire: 'bf16', feedback: feedbacks[rank]! }),
        ),
      )
      sum += results[0]!.data[0]!
    }
    // Without feedback each call would lose the same again.
    expect(Math.abs(sum - 8 * 2 * value)).toBeLessThan(2 ** -6)
  })

  it('loses a member that is silent for as long as was asked for', async () => {
    room = await openRoom(2, 0.1)
    const [group] = room.groups as [Group]
    const alone = new Promise<void>((resolve) =>
      group.on('view', ({ members }) => members.length === 1 && resolve()),
    )
    const begin = performance.now()
    for (const channel of room.connectors[1]!.channels) channel.isMute = true
    await alone
    // Long before it would be by itself.
    expect(performance.now() - begin).toBeLessThan(4000)
    expect(group.members.map(({ name }) => name)).toEqual(['P0'])
  })

  it('tells, hears, notices losses, and ends with its worker', async () => {
    room = await openRoom(3)
    const { groups, connectors, stopped } = room
    const heard = new Promise((resolve) => groups[1]!.on('message', resolve))
    groups[0]!.tell({ hello: [1] })
    expect(await heard).toEqual({ from: groups[0]!.members[0], data: { hello: [1] } })
    connectors[0]!.cut('p2')
    await whenTogether(groups.slice(0, 2))
    const results = await Promise.all(groups.slice(0, 2).map((group) => group.allreduce(new Int32Array([1]))))
    for (const { data } of results) expect([...data]).toEqual([2])
    room.fail(1, 'no memory')
    expect(groups[1]!.state).toBe('left')
    expect(connectors[1]!.isClosed).toBe(true)
    await groups[0]!.leave()
    expect(groups[0]!.state).toBe('left')
    expect(stopped).toContain('p0')
    expect(stopped).toContain('p1')
  })
})
