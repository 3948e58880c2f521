// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createRecovery } from './recovery.ts'
import type { Recovery } from './recovery.ts'

let done: string[]
let failures: string[]
let recovery: Recovery
let isWaiting: boolean
/** What the current source has played, and the position. */
let played: { seconds: number; toSeconds: number }

beforeEach(() => {
  vi.useFakeTimers()
  done = []
  failures = []
  isWaiting = false
  played = { seconds: 0, toSeconds: 0 }
  recovery = createRecovery({
    resume: () => done.push('resume'),
    reload: () => done.push('reload'),
    recoverMedia: () => done.push('recoverMedia'),
    skip: () => done.push('skip'),
    goBack: () => done.push('goBack'),
    giveUp: () => done.push('giveUp'),
    isWaiting: () => isWaiting,
    played: () => played,
    onFailure: (kind) => failures.push(kind),
  })
})

afterEach(() => {
  recovery.dispose()
  vi.useRealTimers()
})

test('backs off 0.5, 1, 2 … 30 s while the network is down', () => {
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

test('retries every second while the visitor waits', () => {
  isWaiting = true
  const delays: number[] = []
  for (let attempt = 0; attempt < 4; attempt += 1) {
    const failedMs = performance.now()
    recovery.failed({ kind: 'network' })
    vi.advanceTimersToNextTimer()
    delays.push(performance.now() - failedMs)
  }
  expect(delays).toEqual([500, 1000, 1000, 1000])
})

test('shortens a long delay when the buffer is empty', () => {
  for (let attempt = 0; attempt < 8; attempt += 1) recovery.failed({ kind: 'network' })
  vi.advanceTimersByTime(5000)
  expect(done).toEqual([])
  isWaiting = true
  recovery.stalled()
  vi.advanceTimersByTime(1000)
  expect(done).toEqual(['resume'])
})

test('does not change the delay while the video is paused, and adds none without a failure', () => {
  recovery.stalled()
  for (let attempt = 0; attempt < 8; attempt += 1) recovery.failed({ kind: 'network' })
  recovery.stalled()
  vi.advanceTimersByTime(29_000)
  expect(done).toEqual([])
  vi.advanceTimersByTime(1000)
  expect(done).toEqual(['resume'])
})

test('restarts the backoff after a successful load', () => {
  for (let attempt = 0; attempt < 5; attempt += 1) recovery.failed({ kind: 'network' })
  recovery.progressed()
  recovery.failed({ kind: 'network' })
  vi.advanceTimersByTime(500)
  expect(done).toEqual(['resume'])
})

test('retries at once when the network returns', () => {
  for (let attempt = 0; attempt < 6; attempt += 1) recovery.failed({ kind: 'network' })
  window.dispatchEvent(new Event('online'))
  expect(done).toEqual(['resume'])
  vi.advanceTimersByTime(60_000)
  expect(done).toEqual(['resume'])
})

test('retries at once when the page becomes visible', () => {
  recovery.failed({ kind: 'network' })
  document.dispatchEvent(new Event('visibilitychange'))
  expect(done).toEqual(['resume'])
})

test('does nothing when the network returns without a failure', () => {
  window.dispatchEvent(new Event('online'))
  expect(done).toEqual([])
})

test('stops after ten minutes until the page becomes visible', () => {
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

test('reloads the playlist for a missing segment, a limited number of times', () => {
  for (let attempt = 0; attempt < 3; attempt += 1) {
    recovery.failed({ kind: 'network', refused: 'segment' })
    vi.advanceTimersToNextTimer()
    recovery.progressed()
  }
  expect(done).toEqual(['reload', 'reload', 'giveUp'])
})

test('gives up a missing segment on a slow connection, too', () => {
  for (let attempt = 0; attempt < 3; attempt += 1) {
    played = { seconds: 4, toSeconds: 100 }
    recovery.failed({ kind: 'network', refused: 'segment' })
    vi.advanceTimersByTime(60_000)
    recovery.progressed()
  }
  expect(done).toEqual(['reload', 'reload', 'giveUp'])
})

test('treats a refusal after five seconds of playback as the first one', () => {
  for (const seconds of [0, 3, 60, 64, 6]) {
    played = { seconds, toSeconds: 100 }
    recovery.failed({ kind: 'network', refused: 'segment' })
    vi.advanceTimersToNextTimer()
  }
  expect(done).toEqual(Array(5).fill('reload'))
})

test('resets the decoder, then skips, then reloads, then goes back, then gives up', () => {
  for (let attempt = 0; attempt < 8; attempt += 1) recovery.failed({ kind: 'media' })
  const skips = ['skip', 'skip', 'skip']
  expect(done).toEqual(['recoverMedia', ...skips, 'reload', 'goBack', 'giveUp', 'giveUp'])
})

/** Each retry resets the element, which then has played nothing. */
function failAt(toSeconds: number, seconds = 0): void {
  played = { seconds, toSeconds }
  recovery.failed({ kind: 'media' })
}

test('ends its steps on a slow connection, too', () => {
  for (let attempt = 0; attempt < 8; attempt += 1) {
    failAt(100)
    vi.advanceTimersByTime(60_000)
  }
  expect(done.slice(-3)).toEqual(['goBack', 'giveUp', 'giveUp'])
})

test('treats a decoding failure after five seconds of playback as a new one', () => {
  failAt(100, 60)
  failAt(110, 6)
  failAt(113, 3)
  expect(done).toEqual(['recoverMedia', 'recoverMedia', 'skip'])
})

test('gives up where it fails again after going back', () => {
  for (let attempt = 0; attempt < 6; attempt += 1) failAt(100 + attempt)
  vi.advanceTimersByTime(40_000)
  failAt(100, 40)
  expect(done.slice(-2)).toEqual(['goBack', 'giveUp'])
})

test('starts again where it fails after it went back and played past the failure', () => {
  for (let attempt = 0; attempt < 6; attempt += 1) failAt(100 + attempt)
  failAt(300, 240)
  expect(done.slice(-2)).toEqual(['goBack', 'recoverMedia'])
})

test('does nothing after dispose', () => {
  recovery.failed({ kind: 'network' })
  recovery.dispose()
  vi.advanceTimersByTime(60_000)
  window.dispatchEvent(new Event('online'))
  expect(done).toEqual([])
})

test('counts every failure, but not that there is no such session', () => {
  recovery.failed({ kind: 'network', refused: 'playlist' })
  expect(failures).toEqual([])
  recovery.failed({ kind: 'network' })
  recovery.failed({ kind: 'network', refused: 'segment' })
  recovery.failed({ kind: 'media' })
  recovery.failed({ kind: 'other' })
  expect(failures).toEqual(['network', 'network', 'media', 'other'])
})
