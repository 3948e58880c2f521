import { expect, test } from 'vitest'
import { playerPagePath } from '../../shared/paths.ts'
import { parsePathSegments } from './use-path-segments.ts'

test.each(['a/b', '100%', 'a%2Fb', '?#&', 'שלום', '  ', '"quoted\'', '%25'])(
  'decodes the name %j',
  (streamer) => {
    const session = { streamer, date: '2026-01-31', sessionId: streamer }
    expect(parsePathSegments(playerPagePath(session))).toEqual([
      'p',
      streamer,
      '2026-01-31',
      streamer,
    ])
  },
)

test('leaves malformed percent encoding unchanged', () => {
  expect(parsePathSegments('/s/%E0%A4%A')).toEqual(['s', '%E0%A4%A'])
})

test('has no segment for a missing parameter', () => {
  expect(parsePathSegments('/p/alice/')).toEqual(['p', 'alice'])
})
