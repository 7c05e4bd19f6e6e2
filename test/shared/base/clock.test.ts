import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { realClock, VirtualClock } from '../../../shared/base/clock.ts'

const day = 24 * 3600

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

it.each([0.5, 30 * day, 100 * day])('calls once after %d s, and not before', (seconds) => {
  const callback = vi.fn()
  realClock.after(seconds, callback)
  vi.advanceTimersByTime(seconds * 1000 - 1)
  expect(callback).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  vi.advanceTimersByTime(200 * day * 1000)
  expect(callback).toHaveBeenCalledTimes(1)
})

it('never calls after Infinity, nor what was cancelled, be it days later', () => {
  const callback = vi.fn()
  realClock.after(Number.POSITIVE_INFINITY, callback)
  expect(vi.getTimerCount()).toBe(0)
  const cancel = realClock.after(100 * day, callback)
  vi.advanceTimersByTime(60 * day * 1000)
  cancel()
  vi.advanceTimersByTime(200 * day * 1000)
  expect(callback).not.toHaveBeenCalled()
})

it('never comes to Infinity in virtual time either', () => {
  const clock = new VirtualClock()
  const callback = vi.fn()
  clock.after(Number.POSITIVE_INFINITY, callback)
  expect(clock.step()).toBe(false)
  expect(callback).not.toHaveBeenCalled()
})
