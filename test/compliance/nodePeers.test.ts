/** Peers on Node that meet through a real server: seats, views, links, the group, and what happens when things go. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { join } from '../../client/node.ts'
import { type JoinedGroup, type JoinOptions, type JoinStatus, joinWith } from '../../client/rtc/join.ts'
import { loadNodeWebrtc } from '../../client/rtc/nodeWebrtc.ts'
import { createSeatStore } from '../../client/rtc/seatStore.ts'
import { createServer, type PapilioServer } from '../../server/app.ts'
import { AbortedError, JoinError } from '../../shared/base/errors.ts'
import { until } from './transport.ts'

let server: PapilioServer
let url: string
let groups: JoinedGroup[]

async function start(port = 0) {
  server = createServer({ port, host: '127.0.0.1', graceSeconds: 2 })
  const listening = await server.listen()
  url = `http://127.0.0.1:${listening.port}`
  return listening.port
}

beforeEach(async () => {
  groups = []
  await start()
})
afterEach(async () => {
  await Promise.all(groups.map((group) => group.leave()))
  await server.close()
})

async function enter(options: JoinOptions = {}): Promise<JoinedGroup> {
  const group = await join({ url, ...options })
  groups.push(group)
  return group
}

async function meet(size: number): Promise<JoinedGroup[]> {
  const first = await enter({ name: 'Ada' })
  const { room } = first
  const others = await Promise.all(
    Array.from({ length: size - 1 }, (_, at) => enter({ room, name: `Peer ${at}`, size })),
  )
  const all = [first, ...others]
  await together(all)
  return [...all].sort((a, b) => a.rank - b.rank)
}

function together(all: readonly JoinedGroup[]): Promise<void> {
  return until('a common view', () => {
    const ids = JSON.stringify(all[0]!.members.map(({ peerId }) => peerId))
    return all.every(
      (group) =>
        group.state === 'ready' &&
        group.size === all.length &&
        JSON.stringify(group.members.map(({ peerId }) => peerId)) === ids,
    )
  })
}

/** A tab as far as joining goes: its storage outlives a reload, and it says when it goes. */
function createTab() {
  const stored = new Map<string, string>()
  const storage = {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => stored.set(key, value),
    removeItem: (key: string) => stored.delete(key),
  }
  let hide = () => {}
  return {
    stored,
    async load(options: JoinOptions): Promise<JoinedGroup> {
      const group = await joinWith(options, {
        webrtc: await loadNodeWebrtc(),
        url,
        kind: 'tab',
        seats: (origin) => createSeatStore(storage, origin),
        onEnd(end) {
          hide = end
          return () => {}
        },
      })
      groups.push(group)
      return group
    },
    hide: () => hide(),
  }
}

describe('peers on Node', () => {
  it('meet in a room and compute together', async () => {
    const all = await meet(3)
    expect(all.map(({ rank }) => rank)).toEqual([0, 1, 2])
    expect(all.map(({ name }) => name)[0]).toBe('Ada')
    const results = await Promise.all(
      all.map((group, rank) => group.allreduce(new Float32Array([rank, 1, 2]))),
    )
    for (const { data } of results) expect([...data]).toEqual([3, 3, 6])
    for (const group of all) {
      await until('the paths', () => group.links().every(({ path }) => path === 'direct'))
      expect(group.server.state).toEqual({ name: 'connected' })
    }
    expect(all.filter(({ server: { isHost } }) => isHost)).toHaveLength(1)
  })

  it('say how far the join is', async () => {
    const first = await enter()
    const seen: JoinStatus[] = []
    await enter({ room: first.room, size: 2, onStatus: (status) => seen.push(status) })
    expect(seen[0]).toEqual({ waitingFor: 'server', members: 0, size: 2, linksOpen: 0, linksWanted: 0 })
    expect(seen.map(({ waitingFor }) => waitingFor)).toContain('links')
    expect(seen.at(-1)).toEqual({ waitingFor: 'nothing', members: 2, size: 2, linksOpen: 1, linksWanted: 1 })
  })

  it('leave at once, for the others too, and can come back as somebody new, again and again', async () => {
    const first = await enter()
    let last: string | undefined
    for (let time = 0; time < 3; time++) {
      const group = await enter({ room: first.room, size: 2 })
      await until('both', () => first.size === 2 && first.state === 'ready')
      expect(group.peerId).not.toBe(last)
      last = group.peerId
      await group.leave()
      expect(group.state).toBe('left')
      await until('the first alone', () => first.size === 1 && first.state === 'ready', 3)
      expect(first.links()).toEqual([])
    }
  })

  it('leave no ghost when a page is reloaded: the new incarnation has the seat and the name', async () => {
    const [first, second] = await meet(2)
    const tab = createTab()
    const old = await tab.load({ room: first!.room, name: 'Bo', size: 3 })
    await together([first!, second!, old])
    expect(old.rank).toBe(2)
    expect(tab.stored.size).toBe(1)
    const gone = old.peerId
    tab.hide()
    const reloaded = await tab.load({ room: first!.room, name: 'somebody else', size: 3 })
    await together([first!, second!, reloaded])
    expect(reloaded.name).toBe('Bo')
    expect(reloaded.rank).toBe(2)
    for (const group of [first!, second!, reloaded]) {
      expect(group.roster.map(({ name }) => name)).toHaveLength(3)
      expect(group.roster.map(({ peerId }) => peerId)).not.toContain(gone)
    }
    const results = await Promise.all(
      [first!, second!, reloaded].map((group) => group.allreduce(new Int32Array([1]))),
    )
    for (const { data } of results) expect([...data]).toEqual([3])
  })

  it('give up a link that carries nothing for as long as was asked for', async () => {
    const first = await enter({ silenceSeconds: 0.3 })
    const webrtc = await loadNodeWebrtc()
    const channels: RTCDataChannel[] = []
    class Connection extends webrtc.RTCPeerConnection {
      override createDataChannel(label: string, options?: RTCDataChannelInit): RTCDataChannel {
        const channel = super.createDataChannel(label, options)
        channels.push(channel)
        return channel
      }
    }
    const environment = { url, kind: 'mute', seats: () => undefined, onEnd: () => () => {} }
    const mute = await joinWith(
      { room: first.room, size: 2 },
      { ...environment, webrtc: { ...webrtc, RTCPeerConnection: Connection } },
    )
    groups.push(mute)
    const states: string[] = []
    first.on('link', ({ state }) => states.push(state))
    for (const channel of channels) channel.send = () => {}
    // By itself it would take 5 s.
    await until('the link given up', () => states.includes('closed'), 3)
    await until('another link', () => states.at(-1) === 'open')
    await together([first, mute])
  })

  it('go on without the server, and are in the room again when it is back', async () => {
    const all = await meet(3)
    const ids = all.map(({ peerId }) => peerId)
    const [{ epoch }] = all as [JoinedGroup]
    const port = Number(new URL(url).port)
    await server.close()
    await until('the loss of the server', () =>
      all.every((group) => group.server.state.name === 'reconnecting'),
    )
    const results = await Promise.all(all.map((group) => group.allreduce(new Int32Array([2]))))
    for (const { data } of results) expect([...data]).toEqual([6])
    await start(port)
    await until('the server', () => all.every((group) => group.server.state.name === 'connected'), 5)
    await together(all)
    expect(all.map(({ peerId }) => peerId)).toEqual(ids)
    expect(all.map((group) => group.epoch)).toEqual([epoch, epoch, epoch])
    // A newcomer finds them all.
    const late = await enter({ room: all[0]!.room, size: 4 })
    await together([...all, late])
  })

  it('are told why they lost their seat, and the others go on', async () => {
    const [host, guest] = (await meet(2)) as [JoinedGroup, JoinedGroup]
    host.server.host({ action: 'kick', peerId: guest.peerId })
    await until('the end', () => guest.state === 'left')
    expect(guest.server.state).toMatchObject({ name: 'gone', cause: 'kicked' })
    await expect(guest.allreduce(new Int32Array([1]))).rejects.toMatchObject({ code: 'LEFT' })
    await until('the host alone', () => host.size === 1 && host.state === 'ready')
  })
})

it('let the process end once they have left', async () => {
  const script = `
    import { join } from './client/node.ts'
    const a = await join({ url: '${url}' })
    const b = await join({ url: '${url}', room: a.room, size: 2 })
    await Promise.all([a.barrier(), b.barrier()])
    await b.leave()
    await a.leave()
    const left = performance.now()
    process.on('exit', () => console.log(performance.now() - left))`
  const args = ['--import', 'tsx', '--input-type=module', '--eval', script]
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root })
  expect(Number(stdout)).toBeLessThan(2000)
})

describe('joining', () => {
  it('names the address and the time when no server answers', async () => {
    await expect(enter({ url: 'http://127.0.0.1:9', timeoutMs: 600 })).rejects.toMatchObject({
      name: 'JoinError',
      code: 'SIGNAL_UNREACHABLE',
      retryable: true,
      message: expect.stringMatching(/http:\/\/127\.0\.0\.1:9 within 0\.6 s \(.+\)/),
    })
  })

  it('passes on why the server refused', async () => {
    await expect(enter({ room: 'no-such-room' })).rejects.toMatchObject({ code: 'ROOM_UNKNOWN' })
    await expect(enter({ room: 'no-such-room' })).rejects.toBeInstanceOf(JoinError)
  })

  it('says what was missing when the group is not ready in time, and gives the seat back', async () => {
    const first = await enter({ name: 'Ada' })
    const late = enter({ room: first.room, size: 3, timeoutMs: 1500 })
    await expect(late).rejects.toMatchObject({
      code: 'GROUP_NOT_FORMED',
      message: expect.stringContaining(`2 of 3 members are in room ${first.room}`),
    })
    await until('the first alone', () => first.size === 1 && first.state === 'ready')
  })

  it('can be aborted before and during, and gives the seat back', async () => {
    const first = await enter()
    await expect(enter({ signal: AbortSignal.abort() })).rejects.toBeInstanceOf(AbortedError)
    const controller = new AbortController()
    const waiting = enter({ room: first.room, size: 5, signal: controller.signal })
    await until('the second member', () => first.roster.length === 2)
    controller.abort('enough')
    await expect(waiting).rejects.toMatchObject({ code: 'ABORTED', cause: 'enough' })
    await until('the first alone', () => first.roster.length === 1)
  })

  it.each([
    [{ url: 'localhost:3000' }, 'url'],
    [{ url: 'nonsense' }, 'url'],
    [{ size: 0 }, 'size'],
    [{ size: 1.5 }, 'size'],
    [{ timeoutMs: 0 }, 'timeoutMs'],
    [{ silenceSeconds: 0 }, 'silenceSeconds'],
    [{ silenceSeconds: Number.NaN }, 'silenceSeconds'],
    [{ name: 'x'.repeat(40) }, 'name'],
  ])('refuses %o', async (options, argument) => {
    await expect(enter(options)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', argument })
  })

  it('can be satisfied with a seat', async () => {
    const group = await enter({ until: 'seat', size: 9 })
    expect(group.room).toMatch(/^[a-z0-9]+-[a-z0-9]+$/)
    await until('ready', () => group.state === 'ready')
  })
})
