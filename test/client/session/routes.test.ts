import { describe, expect, it } from 'vitest'
import { agentOf } from '../../../client/page/browser.ts'
import { isLearning, pathOf, roomOf } from '../../../client/session/routes.ts'

describe('routes', () => {
  it('reads the room of an address and writes it', () => {
    expect(roomOf('/')).toBeUndefined()
    expect(roomOf('/j/')).toBeUndefined()
    expect(roomOf('/j/k7f-2q9')).toBe('k7f-2q9')
    expect(roomOf('/j/K7F-2Q9/')).toBe('k7f-2q9')
    expect(roomOf('/j/%E0%A4')).toBe('%E0%A4')
    expect(roomOf('/teach')).toBeUndefined()
    expect(roomOf(pathOf('my class'))).toBe('my class')
    expect(roomOf('/j/a/b')).toBeUndefined()
  })

  it('keeps rooms to learn in apart', () => {
    expect(roomOf('/learn', 'learn')).toBeUndefined()
    expect(roomOf('/learn/K7F-2Q9/', 'learn')).toBe('k7f-2q9')
    expect(roomOf('/learn/k7f-2q9')).toBeUndefined()
    expect(roomOf(pathOf('k7f', 'learn'), 'learn')).toBe('k7f')
    expect(['/learn', '/learn/', '/learn/k7f', '/learning', '/j/learn'].map(isLearning)).toEqual([
      true,
      true,
      true,
      false,
      false,
    ])
  })
})

describe('agentOf', () => {
  it.each([
    [
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36',
      'Chrome 156',
    ],
    [
      'Mozilla/5.0 (X11) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/156.0.0.0 Safari/537.36',
      'Chrome 156',
    ],
    [
      'Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/156.0.0.0 Safari/537.36 Edg/155.0.0.0',
      'Edge 155',
    ],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0', 'Firefox 150'],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) AppleWebKit/605.1 Version/26.0 Mobile/15E1 Safari/604.1',
      'Safari 26',
    ],
    ['curl/8', 'Browser'],
  ])('%s', (userAgent, agent) => expect(agentOf(userAgent)).toBe(agent))
})
