import { expect, test } from 'vitest'
import { findTrack, trackKey } from './find-track.ts'

const tracks = ['en-US', undefined, 'pt-BR', 'pt', 'en', '', 'en'].map((language) => ({ language }))

test.each([
  ['en', 4],
  ['en.1', 4],
  ['en.2', 6],
  ['en.3', 4],
  ['en.0', 4],
  ['EN-us', 0],
  ['en-GB', 0],
  ['pt', 3],
  ['pt-PT', 2],
  ['und', 1],
  ['und.2', 5],
  ['de', -1],
  ['e', -1],
  ['', -1],
])('finds the track %j', (key, at) => {
  expect(findTrack(tracks, key)).toBe(at)
})

test('has a key for each track', () => {
  const keys = tracks.map((_, at) => trackKey(tracks, at))
  expect(keys).toEqual(['en-us', 'und', 'pt-br', 'pt', 'en', 'und.2', 'en.2'])
  expect(keys.map((key) => findTrack(tracks, key))).toEqual(tracks.map((_, at) => at))
})
