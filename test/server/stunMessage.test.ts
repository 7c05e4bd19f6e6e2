import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { answerBinding } from '../../server/stunMessage.ts'

const sender = { address: '192.0.2.1', port: 32853 }
/** The transaction id and addresses of the test vectors of RFC 5769. */
const transaction = 'b7e7a701bc34d686fa87dfae'
const header = (type: string, length: number) =>
  `${type}${length.toString(16).padStart(4, '0')}2112a442${transaction}`
const request = (...attributes: string[]) => {
  const body = attributes.join('')
  return Buffer.from(header('0001', body.length / 2) + body, 'hex')
}

function withFingerprint(message: Buffer): Buffer {
  const whole = Buffer.concat([message, Buffer.from('8028000400000000', 'hex')])
  whole.writeUInt16BE(whole.length - 20, 2)
  whole.writeUInt32BE((crc32(whole.subarray(0, -8)) ^ 0x5354554e) >>> 0, whole.length - 4)
  return whole
}

function fingerprintBeforeSoftware(): Buffer {
  const message = request('8028000400000000', '8022000470617069')
  message.writeUInt32BE((crc32(message.subarray(0, 20)) ^ 0x5354554e) >>> 0, 24)
  return message
}

describe('a binding request', () => {
  test('is answered with the XOR-mapped address: IPv4 as in RFC 5769 section 2.2', () => {
    expect(answerBinding(request(), sender)?.toString('hex')).toBe(
      `${header('0101', 12)}002000080001a147e112a643`,
    )
  })

  test('is answered with the XOR-mapped address: IPv6 as in RFC 5769 section 2.3', () => {
    const v6 = { address: '2001:db8:1234:5678:11:2233:4455:6677', port: 32853 }
    expect(answerBinding(request(), v6)?.toString('hex')).toBe(
      `${header('0101', 24)}002000140002a1470113a9faa5d3f179bc25f4b5bed2b9d9`,
    )
  })

  test('from an IPv4 host to a socket of both families has an IPv4 answer', () => {
    const mapped = { ...sender, address: '::ffff:192.0.2.1' }
    expect(answerBinding(request(), mapped)).toEqual(answerBinding(request(), sender))
  })

  test('with a fingerprint has an answer with a right one', () => {
    const answer = answerBinding(withFingerprint(request()), sender)!
    expect(answer).toEqual(withFingerprint(answerBinding(request(), sender)!))
  })

  test('may carry what a browser sends: user name, integrity, software, an unknown optional attribute', () => {
    const attributes = [
      '00060003612f6200',
      `00080014${'00'.repeat(20)}`,
      '8022000470617069',
      'c057000400000000',
    ]
    expect(answerBinding(request(...attributes), sender)).toEqual(answerBinding(request(), sender))
  })

  test('with an attribute that must be understood and is not gets error 420 with its type', () => {
    const answer = answerBinding(request('0003000400000006'), sender)!
    expect(answer.subarray(0, 20).toString('hex')).toBe(header('0111', answer.length - 20))
    expect(answer.toString('latin1')).toContain('Unknown Attribute')
    expect(answer.toString('hex')).toContain('0009001500000414')
    expect(answer.subarray(-8).toString('hex')).toBe('000a000200030000')
  })
})

describe('gets no answer', () => {
  const good = request()
  test.each([
    ['nothing', Buffer.alloc(0)],
    ['a header that is cut off', good.subarray(0, 19)],
    ['bytes behind the message', Buffer.concat([good, Buffer.alloc(4)])],
    ['a length that lies', Buffer.from(header('0001', 8), 'hex')],
    ['another magic cookie (RFC 3489)', Buffer.from(`00010000${'aa'.repeat(16)}`, 'hex')],
    ['an indication', Buffer.from(header('0011', 0), 'hex')],
    ['a response: two responders must not talk to each other for ever', answerBinding(good, sender)!],
    ['an error response', answerBinding(request('0003000400000006'), sender)!],
    ['an allocate request', Buffer.from(header('0003', 0), 'hex')],
    ['DTLS', Buffer.from(`16fefd${'00'.repeat(30)}`, 'hex')],
    ['an attribute longer than the message', request('00060010deadbeef')],
    ['an attribute without padding', Buffer.from(`${header('0001', 6)}000600026162`, 'hex')],
    ['a wrong fingerprint', request('8028000412345678')],
    ['a fingerprint of the wrong size', request('80280008123456789abcdef0')],
    ['something after a right fingerprint', fingerprintBeforeSoftware()],
    ['more than a packet', request(`0006${(1400).toString(16).padStart(4, '0')}${'00'.repeat(1400)}`)],
  ])('%s', (_, message) => {
    expect(answerBinding(message, sender)).toBeUndefined()
  })
})

test('any bytes: no exception, and never an answer that is much longer than the question', () => {
  const soup = fc.uint8Array({ maxLength: 200 })
  const attribute = fc.tuple(fc.nat(0xffff), fc.uint8Array({ maxLength: 12 })).map(([type, value]) => {
    const padded = Buffer.alloc(4 + ((value.length + 3) & ~3))
    padded.writeUInt16BE(type)
    padded.writeUInt16BE(value.length, 2)
    padded.set(value, 4)
    return padded.toString('hex')
  })
  const nearly = fc.array(attribute, { maxLength: 20 }).map((attributes) => request(...attributes))
  const flipped = fc.tuple(nearly, fc.nat(), fc.nat(255)).map(([message, at, value]) => {
    message[at % message.length] = value
    return message
  })
  fc.assert(
    fc.property(fc.oneof(soup, nearly, flipped), (message) => {
      const copy = Buffer.from(message)
      const answer = answerBinding(message, { address: '2001:db8::1', port: 65535 })
      expect(Buffer.from(message)).toEqual(copy)
      if (!answer) return
      expect(answer.length).toBeLessThanOrEqual(message.length + 44)
      expect(answer.readUInt16BE(2)).toBe(answer.length - 20)
      expect(answer.subarray(4, 20)).toEqual(copy.subarray(4, 20))
    }),
    { numRuns: 1000 },
  )
})
