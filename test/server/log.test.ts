import { afterEach, expect, test } from 'vitest'
import type { Log } from '../../server/log.ts'
import { type Bed, startBed } from './client.ts'

let bed: Bed
afterEach(() => bed.close())

test('from info upwards nobody can be recognised; the story can still be followed', async () => {
  const lines: { level: string; text: string }[] = []
  const write = (level: string) => (fields: unknown, message?: string) => {
    lines.push({ level, text: JSON.stringify([fields, message]) })
  }
  const log = {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
  } as Log
  bed = await startBed({ maxPeersPerRoom: 2 }, { log })
  const [ada, bo] = [bed.client(), bed.client()]
  const seat = await ada.accepted({ room: 'secret-room', name: 'Ada Lovelace' })
  const { peerId, token } = await bo.accepted({ room: 'secret-room', name: 'Bo' })
  await bed.client().join({ room: 'secret-room', name: 'Cem' })
  ada.socket.emit('lost', { peerId, epoch: 2, reason: 'Bo has gone' })
  bo.drop()
  await ada.view('Ada Lovelace')
  const told = lines.filter(({ level }) => level !== 'debug').map(({ text }) => text)
  const story = told.join('\n')
  for (const event of ['listening', 'joined', 'refused', 'complaint', 'lost'])
    expect(story).toContain(`"${event}"`)
  for (const secret of ['secret-room', 'Ada', 'Bo', 'Cem', seat.peerId, peerId, token, '127.0.0.1', '::1']) {
    expect(story).not.toContain(secret)
  }
  expect(lines.map(({ text }) => text).join('\n')).toContain('secret-room')
})
