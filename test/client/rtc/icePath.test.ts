import { describe, expect, it } from 'vitest'
import { pathOf, type Stat } from '../../../client/rtc/icePath.ts'

function stats(local: Partial<Stat>, remote: Partial<Stat>): Stat[] {
  return [
    { id: 'P0', type: 'candidate-pair', state: 'failed', localCandidateId: 'R', remoteCandidateId: 'L' },
    {
      id: 'P1',
      type: 'candidate-pair',
      state: 'succeeded',
      nominated: true,
      localCandidateId: 'L',
      remoteCandidateId: 'R',
    },
    { id: 'T', type: 'transport', selectedCandidatePairId: 'P1' },
    { id: 'L', type: 'local-candidate', ...local },
    { id: 'R', type: 'remote-candidate', ...remote },
  ]
}

const host = (address: string) => ({ candidateType: 'host', address })
const reflexive = (address: string) => ({ candidateType: 'srflx', address })
const discovered = (address: string) => ({ candidateType: 'prflx', address })

describe('the path of a link', () => {
  it.each([
    ['two hosts', host('10.0.0.1'), host('10.0.0.2'), 'direct'],
    ['hosts with public addresses', host('8.8.8.8'), host('2606:4700::1'), 'direct'],
    ['a host whose address the browser hides', host('x.local'), { candidateType: 'host' }, 'direct'],
    ['a STUN server on the LAN', host('192.168.1.2'), reflexive('192.168.1.3'), 'direct'],
    ['an address learned from the other side', host('172.20.0.2'), discovered('fd00::7'), 'direct'],
    ['an address that a router gave', reflexive('8.8.8.8'), host('10.0.0.2'), 'reflexive'],
    ['one learned behind a router', host('10.0.0.2'), discovered('2606:4700::7'), 'reflexive'],
    [
      'an address that the browser hides',
      host('10.0.0.1'),
      { candidateType: 'prflx', address: '' },
      'direct',
    ],
    ['a lab', discovered('192.0.2.2'), discovered('2001:db8::1'), 'direct'],
    ['172.32 is public', host('10.0.0.2'), discovered('172.32.0.1'), 'reflexive'],
    ['a relay on one side', { candidateType: 'relay', address: '10.0.0.9' }, host('10.0.0.2'), 'relayed'],
    ['a relay on the other side', host('10.0.0.2'), { candidateType: 'relay' }, 'relayed'],
  ])('%s', (_, local, remote, path) => {
    expect(pathOf(stats(local, remote))).toBe(path)
  })

  it('is found without a transport entry, by the nominated or the selected pair', () => {
    const all = stats(host('10.0.0.1'), host('10.0.0.2')).filter(({ type }) => type !== 'transport')
    expect(pathOf(all)).toBe('direct')
    expect(pathOf(all.map((stat) => (stat.id === 'P0' ? { ...stat, selected: true } : stat)))).toBe('direct')
  })

  it('is unknown while there is none', () => {
    expect(pathOf([])).toBe('unknown')
    expect(pathOf(stats({}, {}).filter(({ id }) => id !== 'R'))).toBe('unknown')
  })
})
