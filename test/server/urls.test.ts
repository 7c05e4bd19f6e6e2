import type { NetworkInterfaceInfo } from 'node:os'
import { expect, test } from 'vitest'
import { urlsOf } from '../../server/urls.ts'

const info = (address: string, internal = false) =>
  ({ address, internal, family: address.includes(':') ? 'IPv6' : 'IPv4' }) as NetworkInterfaceInfo
const interfaces = {
  lo: [info('127.0.0.1', true), info('::1', true)],
  docker0: [info('172.17.0.1')],
  wlan0: [info('192.168.1.5'), info('fe80::1'), info('2001:db8::5')],
}

test('everywhere: the network first, containers last, no link-local addresses', () => {
  expect(urlsOf({ address: '::', port: 3000 }, interfaces)).toEqual({
    local: 'http://localhost:3000',
    lan: ['http://192.168.1.5:3000', 'http://172.17.0.1:3000'],
  })
})

test('a network of IPv6 only', () => {
  const only = { eth0: [info('fe80::1'), info('2001:db8::5')] }
  expect(urlsOf({ address: '::', port: 80 }, only).lan).toEqual(['http://[2001:db8::5]:80'])
  expect(urlsOf({ address: '0.0.0.0', port: 80 }, only).lan).toEqual([])
})

test('one address', () => {
  expect(urlsOf({ address: '127.0.0.1', port: 3000 }, interfaces)).toEqual({
    local: 'http://localhost:3000',
    lan: [],
  })
  expect(urlsOf({ address: '192.168.1.5', port: 3000 }, interfaces)).toEqual({
    local: 'http://192.168.1.5:3000',
    lan: ['http://192.168.1.5:3000'],
  })
})
