/** Headless peers in a room in one process, beside a member of a page that starts the runs. */
import { afterEach, describe, expect, it } from 'vitest'
import { attend } from '../../../client/cli/crew.ts'
import type { Seated } from '../../../client/cli/headlessPeer.ts'
import type { PeerEvent } from '../../../client/cli/peerEvents.ts'
import { createNarrator } from '../../../client/cli/peerWords.ts'
import type { RunSpec } from '../../../client/session/runSpec.ts'
import { RunMember } from '../../../client/session/runs.ts'
import { VirtualClock } from '../../../shared/base/clock.ts'
import { Emitter } from '../../../shared/base/emitter.ts'
import { JoinError, type RefusalCode } from '../../../shared/base/errors.ts'
import { createPrng } from '../../../shared/base/prng.ts'
import type { RemovalCause } from '../../../shared/membership/types.ts'
import { FakeNetwork } from '../session/fakeGroups.ts'
import { recordOutput } from './output.ts'

const spec: RunSpec = {
  bytes: 400,
  dtype: 'f32',
  op: 'sum',
  consistency: 'identical',
  data: 'whole',
  repeats: 2,
  warmup: 0,
  variants: [{ algorithm: 'ring' }],
}

type Server = Emitter<{
  state: { name: 'gone'; error?: JoinError; cause?: RemovalCause } | { name: 'connected' }
}>

class Room {
  readonly network = new FakeNetwork()
  readonly clock = new VirtualClock()
  readonly events: PeerEvent[] = []
  readonly problems: string[] = []
  readonly out = recordOutput()
  readonly servers = new Map<string, Server>()
  readonly controller = new AbortController()
  /** Answers of the server to the joins to come; then it admits everybody. */
  readonly refusals: (RefusalCode | undefined)[] = []
  #joined = 0

  /** A member that stands for a page. */
  page(): RunMember {
    const member = new RunMember({
      group: this.network.join('page'),
      clock: this.clock,
      prng: createPrng(1),
      agent: 'Test 1',
      verdicts: new Map(),
      breathe: () => undefined,
    })
    member.start()
    return member
  }

  attend({
    peers = 2,
    size,
    runs = Number.POSITIVE_INFINITY,
  }: {
    peers?: number
    size?: number
    runs?: number
  } = {}): Promise<number> {
    const narrate = createNarrator(this.out)
    return attend({
      room: 'k7f',
      peers,
      size: size ?? peers,
      runs,
      timeoutSeconds: 60,
      clock: this.clock,
      signal: this.controller.signal,
      peer: { prng: createPrng(2), agent: 'Node 20', breathe: () => undefined },
      join: async () => this.#seat(),
      onEvent: (event, isFirst) => {
        this.events.push(event)
        narrate(event, isFirst)
      },
      onRoom: () => {},
      onProblem: (message) => void this.problems.push(message),
    })
  }

  #seat(): Seated {
    const refusal = this.refusals.shift()
    if (refusal) throw new JoinError(refusal, `Refused: ${refusal}.`)
    const peerId = `p${++this.#joined}`
    const server: Server = new Emitter()
    this.servers.set(peerId, server)
    const place = { room: 'k7f', name: peerId.toUpperCase(), url: 'http://test', server }
    return Object.assign(this.network.join(peerId), place) as unknown as Seated
  }

  of<Name extends PeerEvent['event']>(name: Name): Extract<PeerEvent, { event: Name }>[] {
    return this.events.filter((each) => each.event === name) as Extract<PeerEvent, { event: Name }>[]
  }

  /** Lets virtual time pass. */
  pass(seconds: number): void {
    const end = this.clock.now() + seconds
    while ((this.clock.next() ?? Number.POSITIVE_INFINITY) <= end) this.clock.step()
  }

  async until(condition: () => boolean): Promise<void> {
    for (let turn = 0; turn < 500 && !condition(); turn++)
      await new Promise((resolve) => setImmediate(resolve))
    expect(condition(), this.events.map(({ event }) => event).join(' ')).toBe(true)
  }
}

const rooms: Room[] = []
const openRoom = () => {
  const room = new Room()
  rooms.push(room)
  return room
}
afterEach(() => {
  for (const room of rooms.splice(0)) room.controller.abort()
})

describe('headless peers', () => {
  it('follow a run of a page, tell its verdict, and leave after the runs that they were asked for', async () => {
    const room = openRoom()
    const page = room.page()
    const code = room.attend({ runs: 1 })
    await room.until(() => room.of('ready').filter(({ size }) => size === 3).length === 2)
    page.request('q', spec)
    expect(await code).toBe(0)
    expect(room.network.members.map(({ peerId }) => peerId)).toEqual(['page'])
    const runs = room.of('run')
    expect(runs.map(({ peerId }) => peerId).sort()).toEqual(['p1', 'p2'])
    expect(runs[0]).toMatchObject({ phase: 'done', size: 3, lost: [], by: 'PAGE' })
    expect(runs[0]?.outcomes[0]).toMatchObject({
      told: 3,
      askedFor: 3,
      correct: 3,
      wrong: 0,
      identical: true,
    })
    expect(runs[0]?.outcomes[0]?.hash).toMatch(/^[0-9a-f]{16}$/)
    expect(runs[0]?.reports[0]).toMatchObject({ algorithm: 'ring', steps: 1 })
    expect(runs[0]?.reports[0]).not.toHaveProperty('messages')
    expect(room.out.lines).toEqual([
      'Room k7f: http://test/j/k7f',
      'Ready: 2 members.',
      'Ready: 3 members.',
      expect.stringMatching(/^Run 1: ring: 3 of 3 agree; .* ms, predicted .* ms\.$/),
    ])
    expect(room.out.errors).toContain('PAGE starts a run: sum of 400 B of f32.')
  })

  it('end with 1 after a wrong result, and go on until then', async () => {
    const room = openRoom()
    const page = room.page()
    room.network.faults = {
      corrupt: (peerId, result) => {
        if (peerId === 'p2') result[3] = 12345
      },
    }
    const code = room.attend({ runs: 2 })
    await room.until(() => room.of('ready').filter(({ size }) => size === 3).length === 2)
    page.request('q1', spec)
    await room.until(() => room.of('run').length === 2)
    room.network.faults = {}
    page.request('q2', spec)
    expect(await code).toBe(1)
    expect(room.out.lines.find((line) => line.startsWith('Run 1'))).toContain(
      'WRONG: 2 elements on 1 of 3 ranks',
    )
    expect(room.out.lines.find((line) => line.startsWith('Run 2'))).toContain('3 of 3 agree')
  })

  it('leave politely when they are stopped: 0, or 130 when runs were still to come', async () => {
    for (const [runs, expected] of [
      [Number.POSITIVE_INFINITY, 0],
      [1, 130],
    ] as const) {
      const room = openRoom()
      const code = room.attend({ runs })
      await room.until(() => room.of('ready').filter(({ size }) => size === 2).length === 2)
      room.controller.abort()
      expect(await code).toBe(expected)
      expect(room.network.members).toEqual([])
      expect(room.of('left').map(({ name, message }) => [name, message])).toEqual([
        ['P1', undefined],
        ['P2', undefined],
      ])
    }
  })

  it('all leave when the server has no seat for one of them', async () => {
    const room = openRoom()
    room.refusals.push(undefined, undefined, 'ROOM_FULL')
    expect(await room.attend({ peers: 3 })).toBe(5)
    expect(room.problems).toEqual(['Refused: ROOM_FULL.'])
    expect(room.network.members).toEqual([])
  })

  it('ask again when there were too many joins of late', async () => {
    const room = openRoom()
    room.refusals.push('RATE_LIMITED')
    const code = room.attend()
    await new Promise((resolve) => setImmediate(resolve))
    room.pass(2)
    await room.until(() => room.of('ready').filter(({ size }) => size === 2).length === 2)
    room.controller.abort()
    expect(await code).toBe(0)
  })

  it('end with 3 when the group is not ready in time, and say what it lacks', async () => {
    const room = openRoom()
    const code = room.attend({ peers: 2, size: 5 })
    await room.until(() => room.of('joined').length === 2)
    room.pass(61)
    expect(await code).toBe(3)
    expect(room.problems).toEqual(['The group was not ready within 60 s. Waiting for 3 more of 5 members.'])
  })

  it('come back when the others lost them by mistake, and not when they were sent away', async () => {
    const room = openRoom()
    const code = room.attend({ peers: 1 })
    await room.until(() => room.of('ready').length === 1)
    room.network.lose('p1')
    room.servers
      .get('p1')
      ?.emit('state', { name: 'gone', cause: 'lost', error: new JoinError('ROOM_CLOSED', 'Lost.') })
    await room.until(() => room.of('ready').length === 2)
    expect(room.of('returning')).toMatchObject([{ peerId: 'p1', message: 'Lost.' }])
    room.servers
      .get('p2')
      ?.emit('state', { name: 'gone', cause: 'kicked', error: new JoinError('ROOM_CLOSED', 'Sent away.') })
    expect(await code).toBe(5)
    expect(room.of('left')).toMatchObject([{ peerId: 'p2', code: 'ROOM_CLOSED', message: 'Sent away.' }])
  })
})
