/** `join` where something is missing. */
import { expect, it, vi } from 'vitest'

it('says that the package for Node is missing', async () => {
  vi.doMock('node-datachannel', () => {
    throw new Error("Cannot find package 'node-datachannel'")
  })
  const { join } = await import('../../../client/node.ts')
  await expect(join({ url: 'http://127.0.0.1:9' })).rejects.toMatchObject({
    name: 'UnsupportedError',
    code: 'UNSUPPORTED',
    feature: 'node-datachannel',
    message: expect.stringContaining('npm install node-datachannel'),
  })
})

it('says that the browser has no WebRTC', async () => {
  const { join } = await import('../../../client/index.ts')
  await expect(join()).rejects.toMatchObject({ name: 'JoinError', code: 'NO_WEBRTC' })
})
