// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createRecovery } from './recovery.ts'
import type { Recovery } from './recovery.ts'

let done: string[]
let recovery: Recovery

beforeEach(() => {
  vi.useFakeTimers()
  done = []
  recovery = createRecovery({
    resume: () => done.push('resume'),
    reload: () => done.push('reload'),
    recoverMedia: () => done.push('recoverMedia'),
    skip: () => done.push('skip'),
    goBack: () => done.push('goBack'),
    giveUp: () => done.push('giveUp'),
  })
})

afterEach(() => {
  recovery.dispose()
  vi.useRealTimers()
})

test('waits 0.5, 1, 2 … 30 s between tries while the network is away', () => {
  const delays: number[] = []
  for (let attempt = 0; attempt < 8; attempt += 1) {
    const failedMs = performance.now()
    recovery.failed({ kind: 'network' })
    vi.advanceTimersToNextTimer()
    delays.push(performance.now() - failedMs)
  }
  expect(delays).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000])
  expect(done).toEqual(Array(8).fill('resume'))
})

test('starts again at half a second once something was loaded', () => {
  for (let attempt = 0; attempt < 5; attempt += 1) recovery.failed({ kind: 'network' })
  recovery.progressed()
  recovery.failed({ kind: 'network' })
  vi.advanceTimersByTime(500)
  expect(done).toEqual(['resume'])
})

test('tries at once when the network comes back', () => {
  for (let attempt = 0; attempt < 6; attempt += 1) recovery.failed({ kind: 'network' })
  window.dispatchEvent(new Event('online'))
  expect(done).toEqual(['resume'])
  vi.advanceTimersByTime(60_000)
  expect(done).toEqual(['resume'])
})

test('tries at once when the visitor looks at the page again', () => {
  recovery.failed({ kind: 'network' })
  document.dispatchEvent(new Event('visibilitychange'))
  expect(done).toEqual(['resume'])
})

test('does nothing on the return of a network that was never missed', () => {
  window.dispatchEvent(new Event('online'))
  expect(done).toEqual([])
})

test('stops trying after ten minutes until the visitor comes back', () => {
  const startMs = performance.now()
  recovery.failed({ kind: 'network' })
  while (vi.getTimerCount() > 0) {
    vi.advanceTimersToNextTimer()
    recovery.failed({ kind: 'network' })
  }
  expect(performance.now() - startMs).toBeGreaterThan(600_000)
  expect(performance.now() - startMs).toBeLessThan(660_000)
  done.length = 0
  document.dispatchEvent(new Event('visibilitychange'))
  expect(done).toEqual(['resume'])
})

test('gives up a playlist that the server refuses three times', () => {
  for (let attempt = 0; attempt < 3; attempt += 1) {
    recovery.failed({ kind: 'network', refused: 'playlist' })
    vi.advanceTimersToNextTimer()
  }
  expect(done).toEqual(['resume', 'resume', 'giveUp'])
})

test('loads the playlist again for a piece that is gone, but not for ever', () => {
  for (let attempt = 0; attempt < 3; attempt += 1) {
    recovery.failed({ kind: 'network', refused: 'piece' })
    vi.advanceTimersToNextTimer()
    recovery.progressed()
  }
  expect(done).toEqual(['reload', 'reload', 'giveUp'])
})

test('resets the decoder, then goes on behind the damage, then builds anew, then goes back, then gives up', () => {
  for (let attempt = 0; attempt < 8; attempt += 1) recovery.failed({ kind: 'media' })
  const skips = ['skip', 'skip', 'skip']
  expect(done).toEqual(['recoverMedia', ...skips, 'reload', 'goBack', 'giveUp', 'giveUp'])
})

test('takes a decoding failure after five quiet seconds for a new one', () => {
  recovery.failed({ kind: 'media' })
  vi.advanceTimersByTime(5001)
  recovery.failed({ kind: 'media' })
  expect(done).toEqual(['recoverMedia', 'recoverMedia'])
})

test('does nothing any more once disposed of', () => {
  recovery.failed({ kind: 'network' })
  recovery.dispose()
  vi.advanceTimersByTime(60_000)
  window.dispatchEvent(new Event('online'))
  expect(done).toEqual([])
})
