import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { urlsOf } from '../../server/urls.ts'
import { VirtualClock } from '../../shared/base/clock.ts'
import { type Bed, startBed } from './client.ts'

let bed: Bed
let pageDir: string

beforeEach(async () => {
  pageDir = await mkdtemp(join(tmpdir(), 'papilio-page-'))
})

afterEach(async () => {
  await bed.close()
  await rm(pageDir, { recursive: true })
})

async function build(): Promise<void> {
  await mkdir(join(pageDir, 'assets'), { recursive: true })
  await writeFile(join(pageDir, 'index.html'), '<title>Papilio</title>')
  await writeFile(join(pageDir, 'assets/main-1a2b3c.js'), 'export {}')
}

const get = (path: string, init?: RequestInit) => fetch(bed.url + path, init)

describe('health', () => {
  test('alive at once, ready when the page is built', async () => {
    bed = await startBed({ pageDir })
    expect((await get('/livez')).status).toBe(200)
    const unready = await get('/readyz')
    expect([unready.status, await unready.text()]).toEqual([503, expect.stringContaining('npm run build')])
    expect((await get('/')).status).toBe(503)
    await build()
    expect((await get('/readyz')).status).toBe(200)
    expect((await get('/')).status).toBe(200)
  })

  test('the version names the product, the protocol and the build', async () => {
    bed = await startBed({ pageDir })
    expect(await (await get('/version')).json()).toEqual({
      name: 'papilio',
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      protocol: 1,
      build: null,
      lan: [],
    })
    await build()
    expect(await (await get('/version')).json()).toMatchObject({
      build: expect.stringMatching(/^[0-9a-f]{12}$/),
    })
  })

  test('this machine alone is told under which addresses others reach the server', async () => {
    bed = await startBed({ pageDir, host: '0.0.0.0' })
    const { lan } = urlsOf({ address: '0.0.0.0', port: bed.port }, networkInterfaces())
    expect(await (await get('/version')).json()).toMatchObject({ lan })
    const forwarded = await get('/version', { headers: { 'X-Forwarded-For': '192.0.2.7' } })
    expect(await forwarded.json()).not.toHaveProperty('lan')
  })

  test('while draining it is alive, not ready, and takes no new rooms', async () => {
    await build()
    const clock = new VirtualClock()
    bed = await startBed({ pageDir, drainSeconds: 5 }, { clock })
    const ada = bed.client()
    const { room } = await ada.accepted({ room: 'demo' })
    const closed = bed.server.close()
    await ada.next('draining')
    expect((await get('/livez')).status).toBe(200)
    expect((await get('/readyz')).status).toBe(503)
    expect(await bed.client().join({ room: 'other' })).toMatchObject({ ok: false, code: 'ROOM_CLOSED' })
    expect(await bed.client().join({ room })).toMatchObject({ ok: true })
    while (clock.next() !== undefined && clock.next()! <= 5) clock.step()
    await closed
    await ada.next('disconnect')
    await expect(get('/livez')).rejects.toThrow()
  })
})

describe('the page', () => {
  test.each([
    '/',
    '/j/k7f-2q9',
    '/teach',
    '/learn',
    '/learn/k7f-2q9',
    '/bench',
    '/check',
    '/r',
    '/teach/',
    '/?x=1',
  ])('%s is the document, asked for each time', async (path) => {
    await build()
    bed = await startBed({ pageDir })
    const response = await get(path)
    expect(response.status).toBe(200)
    expect(await response.text()).toBe('<title>Papilio</title>')
    expect(response.headers.get('cache-control')).toBe('no-cache')
    expect(response.headers.get('content-type')).toMatch(/^text\/html/)
  })

  test('files with a hash in their name are kept for ever', async () => {
    await build()
    bed = await startBed({ pageDir })
    const response = await get('/assets/main-1a2b3c.js')
    expect(response.headers.get('cache-control')).toContain('immutable')
    expect(response.headers.get('content-type')).toMatch(/^text\/javascript/)
  })

  test.each([
    '/nothing',
    '/j/',
    '/j/a/b',
    '/assets/other.js',
    '/../../package.json',
    '/%2e%2e/%2e%2e/etc/passwd',
    '/%',
  ])('%s is not found', async (path) => {
    await build()
    bed = await startBed({ pageDir })
    expect((await get(path)).status).toBe(404)
  })

  test('people who go astray get the document, with the status of what is not there', async () => {
    await build()
    bed = await startBed({ pageDir })
    const response = await get('/nope', { headers: { accept: 'text/html,application/xhtml+xml' } })
    expect([response.status, await response.text()]).toEqual([404, '<title>Papilio</title>'])
    expect(response.headers.get('content-type')).toMatch(/^text\/html/)
    expect(response.headers.get('cache-control')).toBe('no-store')
  })

  test('a new build is served without a restart', async () => {
    await build()
    bed = await startBed({ pageDir })
    await (await get('/')).text()
    await rm(join(pageDir, 'assets'), { recursive: true })
    await mkdir(join(pageDir, 'assets'))
    await writeFile(join(pageDir, 'assets/main-9z9z9z.js'), 'export {}')
    await writeFile(join(pageDir, 'index.html'), '<title>Papilio 2</title>')
    expect(await (await get('/')).text()).toContain('Papilio 2')
    expect((await get('/assets/main-9z9z9z.js')).status).toBe(200)
    expect((await get('/assets/main-1a2b3c.js')).status).toBe(404)
  })

  test('only GET and HEAD', async () => {
    await build()
    bed = await startBed({ pageDir })
    expect((await get('/', { method: 'POST', body: 'x' })).status).toBe(405)
    const head = await get('/livez', { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
  })
})

test('every answer has the headers that keep foreign content out', async () => {
  await build()
  bed = await startBed({ pageDir })
  for (const path of ['/', '/livez', '/nothing', '/assets/main-1a2b3c.js']) {
    const { headers } = await get(path)
    const policy = headers.get('content-security-policy')!
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self' 'wasm-unsafe-eval';")
    expect(policy).toContain(`connect-src 'self' ws://127.0.0.1:${bed.port} wss://127.0.0.1:${bed.port};`)
    expect(policy).not.toContain('unsafe-inline')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('cross-origin-opener-policy')).toBeNull()
  }
})

test('metrics have their names, base units, and nobody in their labels', async () => {
  bed = await startBed({ pageDir })
  const [ada, bo] = [bed.client(), bed.client()]
  const { room, peerId } = await ada.accepted({ room: 'secret-room', name: 'Ada Lovelace' })
  await bo.accepted({ room, name: 'Bo' })
  bo.socket.emit('signal', { to: peerId, data: { type: 'Ada Lovelace' } })
  await ada.next('signal')
  bo.socket.emit('ran', { seconds: 0.5 })
  bo.socket.emit('linked', { peerId, path: 'relayed' })
  await bo.socket.emitWithAck('leave')
  const text = await bed.metrics()
  for (const line of [
    'papilio_rooms 1',
    'papilio_peers 1',
    'papilio_connections 2',
    'papilio_joins_total{result="joined"} 2',
    'papilio_departures_total{cause="left"} 1',
    'papilio_signal_messages_total{type="other"} 1',
    'papilio_signal_bytes_total 23',
    'papilio_ice_result_total{path="relayed"} 1',
    'papilio_run_duration_seconds_count 1',
    'papilio_run_duration_seconds_sum 0.5',
  ]) {
    expect(text.split('\n')).toContain(line)
  }
  expect(text).toMatch(/^process_cpu_seconds_total /m)
  for (const secret of ['secret-room', 'Ada', 'Bo', peerId, '127.0.0.1']) expect(text).not.toContain(secret)
})
