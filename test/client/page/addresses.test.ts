import { afterEach, describe, expect, it, vi } from 'vitest'
import { isLoopback, lanOrigins } from '../../../client/page/addresses.ts'

afterEach(() => vi.unstubAllGlobals())

const answer = (body: unknown) => vi.stubGlobal('fetch', async () => new Response(JSON.stringify(body)))

describe('lanOrigins', () => {
  it('asks the server only where the own address is of no use to others', async () => {
    answer({ lan: ['http://192.168.0.5:3000/'] })
    expect(await lanOrigins(new URL('http://localhost:3000/j/x'))).toEqual(['http://192.168.0.5:3000'])
    expect(await lanOrigins(new URL('http://192.168.0.5:3000/'))).toEqual([])
  })

  it.each([{}, { lan: 'x' }, { lan: ['nowhere'] }, 7])('takes %j as no address', async (body) => {
    answer(body)
    expect(await lanOrigins(new URL('http://127.0.0.1:3000/'))).toEqual([])
  })

  it('lives without an answer', async () => {
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('offline')))
    expect(await lanOrigins(new URL('http://[::1]:3000/'))).toEqual([])
  })
})

it('knows loopback names', () => {
  expect(['localhost', '127.0.0.1', '127.1.2.3', '[::1]'].every(isLoopback)).toBe(true)
  expect(['192.168.0.5', 'example.org', '10.127.0.1'].some(isLoopback)).toBe(false)
})
