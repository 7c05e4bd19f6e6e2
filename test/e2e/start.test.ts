/** The README's first command, as a stranger runs it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')
let child: ChildProcess | undefined

afterEach(async () => {
  if (child?.exitCode !== null) return
  const exited = new Promise((resolve) => child?.once('exit', resolve))
  // npm, the shell and the server are one process group.
  process.kill(-child.pid!, 'SIGTERM')
  await exited
})

it('npm start builds the page, prints its links and a QR code, and serves it', {
  timeout: 60_000,
}, async () => {
  const begin = performance.now()
  const env = { ...process.env, PORT: '0' }
  child = spawn('npm', ['start'], { cwd: root, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child?.stdout, child?.stderr])
      stream?.on('data', (data: Buffer) => {
        said += data.toString()
        const link = /http:\/\/localhost:\d+/.exec(said)?.[0]
        if (link) resolve(link)
      })
    child?.once('exit', (status) => reject(new Error(`npm start ended with ${status}:\n${said}`)))
  })
  expect(performance.now() - begin).toBeLessThan(20_000)

  for (const path of ['/', '/livez', '/readyz', '/version'])
    expect({ path, status: (await fetch(url + path)).status }).toEqual({ path, status: 200 })
  expect(await (await fetch(url)).text()).toContain('<title>')
  // A machine without a network has no second link, and nothing to scan.
  if (said.includes('In your network')) await expect.poll(() => said).toMatch(/[▀▄█]{4}/)
})
