import { expect, test } from 'vitest'
import { partStart, withStarts } from './part-requests.ts'
import type { ListedRecording } from './session-playlists.ts'

const START = Date.UTC(2026, 0, 31, 20)
const HOUR = 3_600_000

/** Parts of a minute with these own starts. */
function starts(
  session: Parameters<typeof withStarts>[0],
  own: readonly (number | undefined)[],
): (number | undefined)[] {
  const parts = own.map((ms) => ({
    path: '',
    // Only this of a recording is read.
    recording: { listedSeconds: 60 } as ListedRecording['recording'],
    start: ms === undefined ? undefined : { ms, from: 'path' as const },
  }))
  return withStarts(session, parts).map(({ start }) => start?.ms)
}

test('a part without a start follows the previous one', () => {
  const later = START + HOUR
  expect(starts(undefined, [START, undefined, later, undefined])).toEqual([
    START,
    START + 60_000,
    later,
    later + 60_000,
  ])
  expect(starts({ ms: START, from: 'path' }, [undefined, later])).toEqual([START, later])
})

test('no part has a start if that of the first is unknown', () => {
  expect(starts(undefined, [undefined, START])).toEqual([undefined, undefined])
})

test('the own start of the first part is better than the name of the session', () => {
  expect(starts({ ms: START - HOUR, from: 'path' }, [START, undefined])[0]).toBe(START)
})

test('sidecars move all parts together', () => {
  const own = [START, START + HOUR]
  expect(starts({ ms: START + 7000, from: 'metadata' }, own)).toEqual(own.map((ms) => ms + 7000))
})

test('a part has the start of the playlist, else of its name', () => {
  const path = 'alice/day/2026-01-31_20-00-00Z.ts'
  expect(partStart({ path, startMs: START + 5 })).toEqual({ ms: START + 5, from: 'playlist' })
  expect(partStart({ path, startMs: 8.64e15 })).toEqual({ ms: START, from: 'path' })
  expect(partStart({ path })).toEqual({ ms: START, from: 'path' })
  expect(partStart({ path: 'alice/20260131T200000Z/1.ts' })).toBeUndefined()
})
