import { describe, expect, it, test } from 'vitest'
import { sharesOf } from '../../../client/cli/crewProcesses.ts'
import { exitCodeOf } from '../../../client/cli/exitCodes.ts'
import { main } from '../../../client/cli/main.ts'
import { peerHelp, readPeerRequest } from '../../../client/cli/peerRequest.ts'
import { ArgumentError, JoinError, PeerLostError } from '../../../shared/base/errors.ts'
import { recordOutput } from './output.ts'

const read = (line: string) => readPeerRequest(line.split(' ').filter((word) => word !== ''))

describe('flags of papilio peer', () => {
  it('have defaults: one peer in a new room, until it is stopped', () => {
    const { url, ...rest } = read('')!
    expect(url.href).toBe('http://localhost:3000/')
    expect(rest).toEqual({
      room: undefined,
      create: true,
      peers: 1,
      name: undefined,
      size: 1,
      timeoutSeconds: 60,
      runs: Number.POSITIVE_INFINITY,
      processes: 1,
      json: false,
    })
  })

  it('are read', () => {
    const request = read(
      '--room K7F-2Q9 --url http://10.0.0.5:8080 -n 4 --name Ada --size 7 --timeout 2.5 --runs 3 --json',
    )
    expect(request).toMatchObject({
      room: 'k7f-2q9',
      create: false,
      peers: 4,
      name: 'Ada',
      size: 7,
      timeoutSeconds: 2.5,
      runs: 3,
      json: true,
    })
    expect(request?.url.origin).toBe('http://10.0.0.5:8080')
    expect(read('--room k7f --create --once')).toMatchObject({ create: true, runs: 1 })
    expect(read('-h')).toBeUndefined()
  })

  it('take the link of a room for server and room', () => {
    const request = read('--room https://lab.example/j/k7f-2q9')
    expect([request?.url.origin, request?.room]).toEqual(['https://lab.example', 'k7f-2q9'])
    expect(read('--room http://a.b/j/x --url http://a.b')?.room).toBe('x')
  })

  it('spread many peers over processes, and never over more than there are', () => {
    expect(read('-n 127')?.processes).toBe(4)
    expect(read('-n 2 --processes 8')?.processes).toBe(2)
    expect(sharesOf(127, 4)).toEqual([32, 32, 32, 31])
    expect(sharesOf(3, 3)).toEqual([1, 1, 1])
  })

  it.each([
    ['-n 0', '--peers is a whole number from 1 to 128'],
    ['-n many', '--peers is a whole number'],
    ['-n 4 --size 3', '--size 3 is fewer than the 4 peers'],
    ['--room k7f_2q9', '--room is letters and digits'],
    ['--room http://a.b/', '--room is a code such as k7f-2q9 or the link'],
    ['--room http://a.b/j/x --url http://c.d', 'different servers'],
    ['--url ftp://a.b', '--url is an address'],
    ['--timeout 0', '--timeout is a number of seconds'],
    ['--timeout soon', '--timeout is a number of seconds'],
    ['--runs 2 --once', 'not both'],
    ['--create', '--create needs --room'],
    [`--name ${'x'.repeat(33)}`, '--name has 1 to 32 characters'],
    ['--peer 3', 'There is no flag --peer'],
    ['k7f-2q9', '"k7f-2q9" belongs to no flag'],
  ])('%s is refused', (line, message) => {
    expect(() => read(line)).toThrowError(
      expect.objectContaining({ message: expect.stringContaining(message) }),
    )
    expect(() => read(line)).toThrowError(ArgumentError)
  })

  it('are all in the help', () => {
    for (const flag of ['-n, --peers', '--room', '--url', '--size', '--processes', '--once', '-h, --help'])
      expect(peerHelp()).toContain(flag)
  })
})

test('a wrong flag ends the command with 2 and a sentence; help with 0', async () => {
  const out = recordOutput()
  expect(await main(['peer', '-n', '-4'], out)).toBe(2)
  expect(out.errors[0]).toMatch(/^--peers is a whole number .* not "-4"\.\nSee papilio peer --help\.$/)
  expect(await main(['peer', '--help'], out)).toBe(0)
})

test('each kind of failure has its own exit status; what is no error of ours is thrown on', () => {
  expect(exitCodeOf(new JoinError('SIGNAL_UNREACHABLE', ''))).toBe(3)
  expect(exitCodeOf(new JoinError('GROUP_NOT_FORMED', ''))).toBe(3)
  expect(exitCodeOf(new JoinError('VERSION_MISMATCH', ''))).toBe(4)
  for (const code of ['ROOM_FULL', 'ROOM_LOCKED', 'ROOM_UNKNOWN', 'ROOM_CLOSED'] as const)
    expect(exitCodeOf(new JoinError(code, ''))).toBe(5)
  expect(exitCodeOf(new PeerLostError('', { peer: { rank: 1, peerId: 'b', name: 'B' }, epoch: 2 }))).toBe(6)
  expect(() => exitCodeOf(new RangeError('a bug'))).toThrow(RangeError)
})
