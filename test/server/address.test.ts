import type { IncomingMessage } from 'node:http'
import { SocketAddress } from 'node:net'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ipv6Groups, networkOf, unmapped } from '../../server/address.ts'

test.each([
  ['::', [0, 0, 0, 0, 0, 0, 0, 0]],
  ['::1', [0, 0, 0, 0, 0, 0, 0, 1]],
  ['fe80::', [0xfe80, 0, 0, 0, 0, 0, 0, 0]],
  ['fe80::1%eth0', [0xfe80, 0, 0, 0, 0, 0, 0, 1]],
  ['2001:db8::5:0:0:1', [0x2001, 0xdb8, 0, 0, 5, 0, 0, 1]],
  ['1:2:3:4:5:6:7:8', [1, 2, 3, 4, 5, 6, 7, 8]],
  ['64:ff9b::192.0.2.33', [0x64, 0xff9b, 0, 0, 0, 0, 0xc000, 0x0221]],
])('%s', (address, groups) => {
  expect(ipv6Groups(address)).toEqual(groups)
})

test('every notation that Node writes is read back', () => {
  const group = fc.oneof(fc.constant(0), fc.nat(0xffff))
  fc.assert(
    fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
      const long = groups.map((value) => value.toString(16)).join(':')
      const short = new SocketAddress({ address: long, family: 'ipv6' }).address
      expect(ipv6Groups(short)).toEqual(groups)
    }),
  )
})

test('an IPv4 address in IPv6 clothes is an IPv4 address', () => {
  expect(unmapped('::ffff:192.0.2.1')).toBe('192.0.2.1')
  expect(unmapped('192.0.2.1')).toBe('192.0.2.1')
  expect(unmapped('::ffff:c000:201')).toBe('::ffff:c000:201')
})

const from = (remoteAddress: string, forwarded?: string | string[]) =>
  ({ headers: { 'x-forwarded-for': forwarded }, socket: { remoteAddress } }) as unknown as IncomingMessage

test.each([
  [from('::ffff:192.0.2.7'), false, '192.0.2.7'],
  [from('2001:db8:1:2:3:4:5:6'), false, '2001:db8:1:2::/64'],
  [from('2001:db8:1:2::99'), false, '2001:db8:1:2::/64'],
  [from('10.0.0.1', '192.0.2.1'), false, '10.0.0.1'],
  [from('10.0.0.1', '6.6.6.6, 192.0.2.1'), true, '192.0.2.1'],
  [from('10.0.0.1', ['6.6.6.6', '192.0.2.2']), true, '192.0.2.2'],
  [from('10.0.0.1', ''), true, '10.0.0.1'],
  [from('10.0.0.1'), true, '10.0.0.1'],
])('counts by network: case %#', (request, trustProxy, network) => {
  expect(networkOf(request, trustProxy)).toBe(network)
})
