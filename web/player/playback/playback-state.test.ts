import { expect, test } from 'vitest'
import { secondsToEdge } from '../controls/live-edge.ts'
import { initialPlayback, reducePlayback, refusalOf } from './playback-state.ts'
import type { MediaSnapshot, PlaybackEvent, PlaybackState } from './playback-state.ts'

const empty: MediaSnapshot = {
  hasMetadata: false,
  hasEnded: false,
  isPaused: true,
  isSeeking: false,
  isStalled: false,
  positionSeconds: 0,
  durationSeconds: NaN,
  seekableEndSeconds: 0,
  buffered: [],
  played: [],
  rate: 1,
}

/** The element's facts after a change. */
function media(change: Partial<MediaSnapshot>): PlaybackEvent {
  return { type: 'media', snapshot: { ...empty, ...change } }
}

function after(...events: PlaybackEvent[]): PlaybackState {
  return events.reduce(reducePlayback, initialPlayback)
}

const loaded: PlaybackEvent = { type: 'loaded' }
const gaveUp: PlaybackEvent = { type: 'gave up' }
const gone: PlaybackEvent = { type: 'refused', refusal: 'gone' }
const undecodable: PlaybackEvent = {
  type: 'undecodable',
  codec: 'hvc1.1.6.L93.B0',
  durationSeconds: 60,
}
const ready = media({ hasMetadata: true, durationSeconds: 60 })
const atEnd = media({ hasMetadata: true, durationSeconds: 60, positionSeconds: 60, hasEnded: true })

test.each<[string, PlaybackEvent[], PlaybackState['phase']]>([
  ['nothing', [], 'opening'],
  ['an event without metadata', [media({})], 'opening'],
  ['a playlist', [loaded], 'open'],
  ['metadata, which native HLS reports instead', [ready], 'open'],
  ['the end', [loaded, ready, atEnd], 'ended'],
  ['a seek back from the end', [loaded, ready, atEnd, ready], 'open'],
  ['the last attempt of the engine', [loaded, ready, gaveUp], 'failed'],
  ['the end of the buffer after that', [loaded, ready, gaveUp, atEnd], 'ended'],
  ['data after that', [loaded, ready, gaveUp, loaded], 'open'],
  ['a refusal', [gone], 'gone'],
  ['an emptied element after a refusal', [gone, media({})], 'gone'],
  ['a playlist after a refusal', [gone, loaded], 'gone'],
  ['a refusal during playback', [loaded, ready, gone], 'open'],
  ['a codec that the browser lacks', [loaded, undecodable], 'undecodable'],
  ['an emptied element after that', [loaded, undecodable, media({})], 'undecodable'],
  ['another quality after that', [loaded, undecodable, { type: 'reopened' }, ready], 'open'],
])('after %s the phase is right', (_, events, phase) => {
  expect(after(...events).phase).toBe(phase)
})

test.each([
  [404, 'missing'],
  [410, 'gone'],
  [422, 'unplayable'],
  [503, undefined],
  [200, undefined],
  [undefined, undefined],
])('status %s is the refusal %s', (status, refusal) => {
  expect(refusalOf(status)).toBe(refusal)
})

test('has the facts of the element', () => {
  const facts = {
    isPaused: false,
    isSeeking: true,
    isStalled: true,
    positionSeconds: 12,
    rate: 1.5,
    buffered: [{ startSeconds: 0, endSeconds: 20 }],
    played: [{ startSeconds: 0, endSeconds: 12 }],
  }
  expect(after(media({ hasMetadata: true, durationSeconds: 60, ...facts }))).toEqual({
    phase: 'open',
    isUnreachable: false,
    durationSeconds: 60,
    liveEdgeSeconds: undefined,
    ...facts,
  })
})

test('has no duration without metadata', () => {
  expect(after(ready, media({ durationSeconds: 60 })).durationSeconds).toBeUndefined()
})

test('has the live edge that the engine reports, until the session is finished', () => {
  const listed = (edgeSeconds: number | undefined): PlaybackEvent => ({
    type: 'listed',
    edgeSeconds,
  })
  const growing = after(ready, listed(60), media({ hasMetadata: true, positionSeconds: 25 }))
  expect(secondsToEdge(growing)).toBe(35)
  expect(secondsToEdge(reducePlayback(growing, listed(undefined)))).toBeUndefined()
})

test('has the live edge of native HLS, whose duration is infinite while it grows', () => {
  const growing = after(
    media({ hasMetadata: true, durationSeconds: Infinity, seekableEndSeconds: 90 }),
  )
  expect(growing).toMatchObject({ durationSeconds: 90, liveEdgeSeconds: 90 })
})

test('is never after the live edge', () => {
  const listed: PlaybackEvent = { type: 'listed', edgeSeconds: 60 }
  expect(secondsToEdge(after(ready, listed, atEnd))).toBe(0)
})

test('is the same object if an event changes nothing', () => {
  const spans = [{ startSeconds: 0, endSeconds: 9 }]
  const event = (): PlaybackEvent =>
    media({ hasMetadata: true, durationSeconds: 60, buffered: structuredClone(spans) })
  const state = after(loaded, event())
  for (const same of [event(), loaded, { type: 'listed', edgeSeconds: undefined } as const]) {
    expect(reducePlayback(state, same)).toBe(state)
  }
})

test('has the same list of spans while only the position changes', () => {
  const at = (positionSeconds: number): PlaybackEvent =>
    media({ hasMetadata: true, positionSeconds, buffered: [{ startSeconds: 0, endSeconds: 9 }] })
  const state = after(at(1))
  expect(reducePlayback(state, at(2)).buffered).toBe(state.buffered)
})

test('without a decoder, the duration is known and the position can be moved', () => {
  const waiting = media({ isPaused: false, isStalled: true })
  const state = after(loaded, waiting, undecodable, { type: 'moved', seconds: 20 })
  expect(state).toMatchObject({ durationSeconds: 60, positionSeconds: 20, isStalled: false })
  expect(after(loaded, ready, { type: 'moved', seconds: 20 }).positionSeconds).toBe(0)
})

test('knows that the network is away until data arrives or plays', () => {
  const waiting = media({ isPaused: false, isStalled: true })
  const away: PlaybackEvent = { type: 'unreachable' }
  expect(after(ready, away, waiting).isUnreachable).toBe(true)
  expect(after(ready, waiting, away, loaded).isUnreachable).toBe(false)
  expect(after(ready, waiting, away, ready).isUnreachable).toBe(false)
})
