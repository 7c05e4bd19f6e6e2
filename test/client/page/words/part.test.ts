import { describe, expect, it } from 'vitest'
import { scheduleOf } from '../../../../client/page/session/planning.ts'
import { nowWords, partWords } from '../../../../client/page/words/part.ts'

const nameOf = (rank: number) => `P${rank} (rank ${rank})`

describe('partWords', () => {
  const schedule = scheduleOf('butterfly', { r: 0 }, 7)
  const words = partWords(schedule, 2, 7 * 1024, nameOf)

  it('has one entry for each step, with whom, what and how much', () => {
    expect(words).toHaveLength(6)
    expect(words[0]!.sends).toEqual([expect.stringMatching(/^chunks .* to P6 \(rank 6\), 3 KiB$/)])
    expect(words[0]!.receives).toEqual([expect.stringMatching(/from P5 \(rank 5\), adding them$/)])
    expect(words[5]!.receives[0]).toMatch(/keeping them$/)
  })

  it('every send is the receive of another rank', () => {
    const chunksOf = (line: string) => line.replace(/ (to|from) .*/, '')
    const sent = Array.from({ length: 7 }, (_, rank) =>
      partWords(schedule, rank, 7168, nameOf).flatMap(({ step, sends }) =>
        sends.map((line) => `${step} ${rank} ${/rank (\d)/.exec(line)![1]} ${chunksOf(line)}`),
      ),
    ).flat()
    const received = Array.from({ length: 7 }, (_, rank) =>
      partWords(schedule, rank, 7168, nameOf).flatMap(({ step, receives }) =>
        receives.map((line) => `${step} ${/rank (\d)/.exec(line)![1]} ${rank} ${chunksOf(line)}`),
      ),
    ).flat()
    expect(sent.sort()).toEqual(received.sort())
  })

  it('says what is going on now', () => {
    expect(nowWords(words, 0)).toMatch(/^Step 1 of 6: sending chunks .*; receiving chunks .*\.$/)
    expect(nowWords(words, 6)).toBe('All chunks are complete.')
    expect(nowWords(partWords(scheduleOf('ring', {}, 1), 0, 8, nameOf), 0)).toMatch(/alone/)
  })
})
