import { describe, expect, it } from 'vitest'
import { describeNetwork, networkOptions, parseNetwork, roundTrip, secondsPerByte } from './network.ts'

describe('a network of the lab as text', () => {
  it('takes the delay of a hop, of which a round trip has four', () => {
    const network = parseNetwork('delay=5,rate=50')
    expect(network).toEqual({ delay: 5, rate: 50, queue: 100, loss: 0, shared: 0 })
    expect(roundTrip(network)).toBe(20)
    expect(describeNetwork(network)).toBe('round trip 20 ms, 50 Mbit/s per host')
  })

  it('takes a round trip instead', () => {
    expect(parseNetwork(' rtt = 10 , loss=0.5 ')).toEqual({
      delay: 2.5,
      rate: 0,
      queue: 100,
      loss: 0.5,
      shared: 0,
    })
  })

  it('is a cable without a limit when nothing is said', () => {
    expect(secondsPerByte(parseNetwork(''))).toBe(0)
    expect(describeNetwork(parseNetwork(''))).toBe('round trip 0 ms, hosts without a limit of rate')
  })

  it('becomes options of the lab', () => {
    expect(networkOptions(parseNetwork('rtt=10,rate=50')).join(' ')).toBe(
      '--delay 2.5 --rate 50 --queue 100 --loss 0',
    )
    expect(networkOptions(parseNetwork('shared=20'))).toContain('--shared')
  })

  it('is as slow as the narrower of line and medium', () => {
    expect(secondsPerByte(parseNetwork('rate=50,shared=20'))).toBeCloseTo(0.4e-6)
    expect(secondsPerByte(parseNetwork('rate=50'))).toBeCloseTo(0.16e-6)
  })

  it.each([
    ['speed=5', /"speed=5" is none of delay=NUMBER, rtt=NUMBER/],
    ['rate', /rate is a number/],
    ['rate=fast', /rate is a number from 0 to 100000, not "fast"/],
    ['rate=-1', /rate is a number/],
    ['rate=5=6', /is none of/],
    ['rate=5,rate=6', /given twice/],
    ['rtt=10,delay=5', /rtt is four times delay/],
    ['loss=101', /percent/],
  ])('refuses %s', (text, message) => {
    expect(() => parseNetwork(text)).toThrow(message)
  })
})
