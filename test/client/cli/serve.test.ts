import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import jsQR from 'jsqr'
import { expect, test } from 'vitest'
import { serve, welcome } from '../../../client/cli/serve.ts'
import { recordOutput } from './output.ts'

/** A drawing of half blocks, one or two rows of modules to a line, read as a scanner would. */
function scan(rows: readonly string[]): string | undefined {
  const scale = 4
  const light = rows.flatMap((row) => [
    [...row].map((c) => '█▀'.includes(c)),
    [...row].map((c) => '█▄'.includes(c)),
  ])
  const [width, height] = [light[0]!.length * scale, light.length * scale]
  const pixels = new Uint8ClampedArray(width * height * 4)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const value = light[Math.floor(y / scale)]![Math.floor(x / scale)] ? 255 : 0
      pixels.set([value, value, value, 255], (y * width + x) * 4)
    }
  }
  return jsQR(pixels, width, height)?.data
}

const listening = { port: 3000, stunPort: 3000, hasPage: true }

test('shows each link on a line of its own, a code that phones can read, and what plain http lacks', () => {
  const lan = ['http://192.168.1.5:3000', 'http://10.0.0.5:3000']
  const lines = welcome({ ...listening, urls: { local: 'http://localhost:3000', lan } })
  expect(lines.slice(0, 3).map((line) => line.split(/ {2,}/)[1])).toEqual(['http://localhost:3000', ...lan])
  const rows = lines
    .join('\n')
    .split('\n')
    .filter((line) => /^[█▀▄ ]+$/.test(line))
  expect(scan(rows)).toBe(lan[0])
  expect(lines.at(-1)).toMatch(/plain http .*clipboard/)
})

test('says what is missing', () => {
  const alone = welcome({
    port: 3000,
    hasPage: false,
    urls: { local: 'http://localhost:3000', lan: [] },
  }).join('\n')
  expect(alone).toContain('Other computers cannot reach')
  expect(alone).toContain('No STUN: UDP port 3000')
  expect(alone).toContain('npm run build')
  expect(alone).not.toMatch(/[█▀▄]/)
})

test('help names every flag and variable', async () => {
  const out = recordOutput()
  expect(await serve(['--help'], out)).toBe(0)
  expect(out.lines.join('\n')).toMatch(/--port +PORT .*--max-rooms +MAX_ROOMS .* TURN_SECRET /s)
})

test('a wrong flag and a wrong value end with 2 and a sentence', async () => {
  const out = recordOutput()
  expect(await serve(['--prot', '1'], out)).toBe(2)
  expect(await serve(['more'], out)).toBe(2)
  expect(await serve(['--grace-seconds', '0'], out)).toBe(2)
  expect(out.errors).toEqual([
    expect.stringMatching(/--prot.*\nSee papilio serve --help/s),
    expect.stringMatching(/more/),
    'GRACE_SECONDS (--grace-seconds) must be a number of seconds from 0.1 to 3600, not 0.',
  ])
  expect(out.lines).toEqual([])
})

test('a busy port ends with 1 and says which, and what to do', async () => {
  const other = createTcpServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const out = recordOutput()
  expect(await serve(['--port', String(port), '--host', '127.0.0.1'], out)).toBe(1)
  expect(out.errors).toEqual([
    `Port ${port} is in use. Stop the other program or take another port, such as PORT=${port + 1}.`,
  ])
  other.close()
})

test.each(['SIGTERM', 'SIGINT'] as const)(
  'the process serves, and ends at %s with status 0',
  async (signal) => {
    const command = join(import.meta.dirname, '../../../client/cli/main.ts')
    const env = { ...process.env, PORT: '0', HOST: '127.0.0.1', LOG_LEVEL: 'info' }
    const child = spawn(process.execPath, ['--import', 'tsx', command, 'serve'], { env, stdio: 'pipe' })
    const exited = once(child, 'exit')
    const log: string[] = []
    createInterface(child.stderr).on('line', (line) => log.push(line))
    let url = ''
    for await (const line of createInterface(child.stdout)) {
      url = /http:\/\/localhost:\d+/.exec(line)?.[0] ?? ''
      if (url) break
    }
    expect((await fetch(`${url}/livez`)).status).toBe(200)
    child.kill(signal)
    expect(await exited).toEqual([0, null])
    const events = log
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as { msg: string })
    expect(events.map(({ msg }) => msg)).toEqual(['listening', 'stopping'])
  },
)
