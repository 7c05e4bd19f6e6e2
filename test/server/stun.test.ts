/** The responder on a real socket. */
import { createSocket, type Socket } from 'node:dgram'
import { afterEach, expect, test } from 'vitest'
import { type Bed, startBed } from './client.ts'

const request = Buffer.from('000100002112a442b7e7a701bc34d686fa87dfae', 'hex')
const open: { close(): unknown }[] = []

afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

async function bedWith(options: Parameters<typeof startBed>[0] = {}): Promise<Bed> {
  const bed = await startBed(options)
  open.push(bed)
  return bed
}

async function bound(port = 0, address = '127.0.0.1'): Promise<Socket> {
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4')
  open.push(socket)
  await new Promise<void>((resolve) => socket.bind(port, address, resolve))
  return socket
}

function nextMessage(socket: Socket): Promise<Buffer> {
  return new Promise((resolve) => socket.once('message', resolve))
}

test('tells a client its own address on the port of the page, and ignores noise', async () => {
  const { port } = await bedWith()
  const socket = await bound()
  for (let length = 0; length < 40; length++) socket.send(Buffer.alloc(length, length), port, '127.0.0.1')
  socket.send(request, port, '127.0.0.1')
  const answer = await nextMessage(socket)
  expect(answer.readUInt16BE(0)).toBe(0x0101)
  expect(answer.readUInt16BE(26) ^ 0x2112).toBe(socket.address().port)
  expect((answer.readUInt32BE(28) ^ 0x2112a442) >>> 0).toBe(0x7f000001)
})

test('serves both families on one socket when the server listens everywhere', async () => {
  const { port } = await bedWith({ host: '::' })
  for (const [address, length] of [
    ['127.0.0.1', 32],
    ['::1', 44],
  ] as const) {
    const socket = await bound(0, address)
    socket.send(request, port, address)
    expect((await nextMessage(socket)).length).toBe(length)
  }
})

test('a taken UDP port costs STUN, not the server', async () => {
  const taken = (await bound()).address().port
  const { stunPort, client } = await bedWith({ stunPort: taken })
  expect(stunPort).toBeUndefined()
  expect(await client().accepted()).not.toHaveProperty('stunPort')
})

test('can be switched off, and counts what comes', async () => {
  expect((await bedWith({ stunPort: 0 })).stunPort).toBeUndefined()
  const { port, metrics } = await bedWith()
  const socket = await bound()
  socket.send(Buffer.alloc(7), port, '127.0.0.1')
  socket.send(request, port, '127.0.0.1')
  await nextMessage(socket)
  expect(await metrics()).toMatch(
    /papilio_stun_requests_total\{result="ignored"\} 1\n.*result="answered"\} 1\n/s,
  )
})
