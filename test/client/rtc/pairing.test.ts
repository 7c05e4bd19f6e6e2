import { describe, expect, it } from 'vitest'
import { attemptSeconds, attempts, type PairHistory, Pairing } from '../../../client/rtc/pairing.ts'
import type { PeerSignal } from '../../../client/rtc/peerSignal.ts'
import type { Connection, ConnectionOptions } from '../../../client/rtc/simplePeer.ts'
import { VirtualClock } from '../../../shared/base/clock.ts'
import type { LinkError } from '../../../shared/base/errors.ts'

type Options = Omit<ConnectionOptions, 'webrtc' | 'iceServers'>

/** A pairing whose connections the test plays. */
function setUp(selfId: string, peerId: string, history: PairHistory = { attempt: 0, failures: 0 }) {
  const clock = new VirtualClock()
  const connections: (Options & { taken: unknown[]; closed: boolean })[] = []
  const log = {
    states: [] as string[],
    signals: [] as PeerSignal[],
    closes: [] as LinkError[],
    outcomes: [] as string[],
    opened: [] as (number | undefined)[][],
  }
  const pairing = new Pairing({
    selfId,
    peerId,
    clock,
    history,
    connect(options): Connection {
      const connection = { ...options, taken: [] as unknown[], closed: false }
      connections.push(connection)
      return {
        maxMessageBytes: 1000,
        channelOpened: options.onOpen,
        channelClosed: () => options.onClose({ code: 'CHANNEL_CLOSED' }),
        signal: (negotiation) => connection.taken.push(negotiation),
        path: async () => 'direct',
        close() {
          connection.closed = true
        },
      }
    },
    signal: (signal) => log.signals.push(signal),
    onStatus: ({ state }) => log.states.push(state),
    onChannel() {},
    onOpen: (...opened) => log.opened.push(opened),
    onClose: (error) => log.closes.push(error),
    onOutcome: (outcome) => log.outcomes.push(outcome),
  })
  pairing.start()
  const run = (seconds: number) => {
    let isOver = false
    clock.after(seconds, () => {
      isOver = true
    })
    while (!isOver) clock.step()
  }
  return { clock, connections, log, pairing, run }
}

const offer = (attempt: number): PeerSignal => ({ type: 'offer', attempt, sdp: `offer ${attempt}` })
const candidate = (attempt: number): PeerSignal => ({
  type: 'candidate',
  attempt,
  candidate: { candidate: `candidate of ${attempt}` },
})

describe('the side that begins', () => {
  it('numbers its attempts and takes answers to the current one only', () => {
    const { connections, log, pairing, run } = setUp('a', 'b')
    expect(connections).toHaveLength(1)
    connections[0]!.onSignal({ type: 'offer', sdp: 'x' })
    expect(log.signals).toEqual([{ type: 'offer', sdp: 'x', attempt: 1 }])
    run(attemptSeconds + 1)
    expect(connections).toHaveLength(2)
    expect(connections[0]!.closed).toBe(true)
    // What the first connection still says is not passed on.
    connections[0]!.onSignal({ type: 'offer', sdp: 'late' })
    connections[0]!.onOpen()
    connections[0]!.onClose({ code: 'CHANNEL_CLOSED' })
    expect(log.signals).toHaveLength(1)
    const answer = { type: 'answer', attempt: 1, sdp: 'old' } as const
    pairing.accept(answer)
    expect(connections[1]!.taken).toEqual([])
    pairing.accept({ ...answer, attempt: 2 })
    pairing.accept({ ...answer, attempt: 3 })
    expect(connections[1]!.taken).toHaveLength(1)
    expect(log.states).toEqual(['signalled', 'checking'])
  })

  it('takes one answer, and no offer', () => {
    const { connections, pairing } = setUp('a', 'b')
    pairing.accept(offer(1))
    pairing.accept({ type: 'answer', attempt: 1, sdp: 'first' })
    pairing.accept({ type: 'answer', attempt: 1, sdp: 'second' })
    expect(connections[0]!.taken).toMatchObject([{ sdp: 'first' }])
  })

  it('gives up after three attempts, and says at which point they failed', () => {
    const { connections, log, run } = setUp('a', 'b')
    run(1000)
    expect(connections).toHaveLength(attempts)
    expect(connections.every(({ closed }) => closed)).toBe(true)
    expect(log.closes).toMatchObject([
      {
        code: 'ICE_FAILED',
        peerId: 'b',
        message: 'Link to b: it did not answer in 3 attempts of up to 15 s.',
      },
    ])
    expect(log.outcomes).toEqual(['failed'])
    expect(log.states.at(-1)).toBe('closed')
  })

  it('keeps the cause of the last failure', () => {
    const { connections, log, pairing, run } = setUp('a', 'b')
    const cause = new Error('Ice connection failed.')
    for (let at = 0; at < attempts; at++) {
      pairing.accept({ type: 'answer', attempt: at + 1, sdp: '' })
      connections[at]!.onClose({ code: 'ICE_FAILED', cause })
      run(2)
    }
    expect(log.closes).toMatchObject([{ code: 'ICE_FAILED', cause }])
    expect(log.closes[0]!.message).toContain('no network path to it was found')
  })

  it('does not try again when the browser makes no more connections', () => {
    const { connections, log, run } = setUp('a', 'b')
    connections[0]!.onClose({ code: 'PC_LIMIT', cause: new Error('Cannot create so many PeerConnections') })
    run(1000)
    expect(connections).toHaveLength(1)
    expect(log.closes).toMatchObject([{ code: 'PC_LIMIT' }])
    expect(log.closes[0]!.message).toContain('close the tab')
  })

  it('opens, tells the path once, and reports the end', async () => {
    const { connections, log, pairing, run } = setUp('a', 'b')
    pairing.channelOpened(1)
    expect(log.opened).toEqual([[1, 1000]])
    await Promise.resolve()
    await Promise.resolve()
    expect(log.outcomes).toEqual(['direct'])
    expect(pairing.status()).toMatchObject({ state: 'open', path: 'direct' })
    run(1000)
    connections[0]!.onClose({ code: 'CHANNEL_CLOSED' })
    connections[0]!.onClose({ code: 'CHANNEL_CLOSED' })
    run(1000)
    expect(log.closes).toMatchObject([
      { code: 'CHANNEL_CLOSED', message: 'Link to b: closed by the other side.' },
    ])
    expect(connections).toHaveLength(1)
    expect(pairing.isClosed).toBe(true)
    expect(log.outcomes).toEqual(['direct'])
  })

  it('says of an open link whether its network path was lost', () => {
    const { connections, log } = setUp('a', 'b')
    connections[0]!.onOpen()
    connections[0]!.onClose({ code: 'ICE_FAILED', cause: new Error('Ice connection failed.') })
    expect(log.closes).toMatchObject([{ code: 'ICE_FAILED' }])
    expect(log.closes[0]!.message).toContain('network path')
  })

  it('begins again when the other side lost the attempt, once', () => {
    const { connections, pairing, run } = setUp('a', 'b')
    pairing.accept({ type: 'again', attempt: 1 })
    pairing.accept({ type: 'again', attempt: 1 })
    run(1)
    expect(connections).toHaveLength(2)
    pairing.accept({ type: 'again', attempt: 1 })
    run(1)
    expect(connections).toHaveLength(2)
  })

  it('ends an open link that the other side has lost', () => {
    const { connections, log, pairing, run } = setUp('a', 'b')
    connections[0]!.onOpen()
    pairing.accept({ type: 'again', attempt: 1 })
    run(100)
    expect(log.closes).toHaveLength(1)
    expect(connections).toHaveLength(1)
  })

  it('tries a pair that has failed again, one attempt at a time and ever more seldom', () => {
    const history: PairHistory = { attempt: 0, failures: 0 }
    const pauses: number[] = []
    for (let time = 0; time < 7; time++) {
      const { clock, connections, log, run } = setUp('a', 'b', history)
      while (connections.length === 0) clock.step()
      pauses.push(clock.now())
      run(1000)
      expect(connections).toHaveLength(time === 0 ? attempts : 1)
      expect(log.closes).toMatchObject([{ code: 'ICE_FAILED' }])
    }
    expect(pauses).toEqual([0, 5, 10, 20, 40, 60, 60])
    expect(history.attempt).toBe(attempts + 6)
    const { clock, connections, pairing } = setUp('a', 'b', history)
    expect(pairing.status().error).toMatchObject({ code: 'ICE_FAILED' })
    while (connections.length === 0) clock.step()
    connections[0]!.onOpen()
    expect(history.failures).toBe(0)
    expect(pairing.status().error).toBeUndefined()
  })

  it('goes on counting where an earlier pairing stopped', () => {
    const { connections, log, run } = setUp('a', 'b', { attempt: 4, failures: 0 })
    expect(connections).toEqual([])
    run(1)
    connections[0]!.onSignal({ type: 'offer', sdp: 'x' })
    expect(log.signals).toMatchObject([{ attempt: 5 }])
  })
})

describe('the side that answers', () => {
  it('waits for the first word of an attempt, whatever it is', () => {
    const { connections, log, pairing } = setUp('b', 'a')
    expect(connections).toEqual([])
    pairing.accept(candidate(1))
    pairing.accept(offer(1))
    expect(connections).toHaveLength(1)
    expect(connections[0]!.isInitiator).toBe(false)
    expect(connections[0]!.taken).toEqual([candidate(1), offer(1)])
    expect(log.states).toEqual(['signalled', 'checking'])
  })

  it('follows a newer attempt and forgets the older', () => {
    const { connections, pairing } = setUp('b', 'a')
    pairing.accept(offer(1))
    pairing.accept(offer(2))
    pairing.accept(candidate(1))
    expect(connections).toHaveLength(2)
    expect(connections[0]!.closed).toBe(true)
    expect(connections[1]!.taken).toEqual([offer(2)])
  })

  it('asks for another attempt when one fails, and gives up after the third', () => {
    const { connections, log, pairing, run } = setUp('b', 'a')
    for (let attempt = 1; attempt <= attempts; attempt++) {
      pairing.accept(offer(attempt))
      connections[attempt - 1]!.onClose({ code: 'ICE_FAILED' })
    }
    run(1000)
    expect(log.signals).toEqual([
      { type: 'again', attempt: 1 },
      { type: 'again', attempt: 2 },
    ])
    expect(log.closes).toMatchObject([{ code: 'ICE_FAILED' }])
    expect(log.outcomes).toEqual([])
  })

  it('does not wait for ever for an offer', () => {
    const { log, run } = setUp('b', 'a')
    run(attempts * attemptSeconds - 1)
    expect(log.closes).toEqual([])
    run(2)
    expect(log.closes).toMatchObject([{ code: 'ICE_FAILED' }])
    expect(log.closes[0]!.message).toContain('it made no offer')
  })

  it('tells a side that may not have noticed that the last link is lost', () => {
    const { log } = setUp('b', 'a', { attempt: 3, failures: 0 })
    expect(log.signals).toEqual([{ type: 'again', attempt: 3 }])
  })

  it('takes a newer attempt as the end of an open link', () => {
    const { connections, log, pairing } = setUp('b', 'a')
    pairing.accept(offer(1))
    connections[0]!.onOpen()
    pairing.accept(candidate(1))
    expect(log.closes).toEqual([])
    pairing.accept(offer(2))
    expect(log.closes).toMatchObject([{ code: 'CHANNEL_CLOSED' }])
    expect(pairing.isClosed).toBe(true)
    expect(connections).toHaveLength(1)
  })
})

describe('either side', () => {
  it('ends silently timed work when it is not wanted any more', () => {
    const { connections, log, pairing, run } = setUp('a', 'b')
    pairing.leave()
    pairing.leave()
    connections[0]!.onOpen()
    run(1000)
    expect(connections).toHaveLength(1)
    expect(connections[0]!.closed).toBe(true)
    expect(log.closes).toMatchObject([{ code: 'CHANNEL_CLOSED' }])
    expect(log.outcomes).toEqual([])
    expect(log.states).toEqual(['signalled', 'closed'])
  })
})
