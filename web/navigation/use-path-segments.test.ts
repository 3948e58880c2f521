import { expect, test } from 'vitest'
import { playerPagePath } from '../../shared/paths.ts'
import { parsePathSegments } from './use-path-segments.ts'

test.each(['a/b', '100%', 'a%2Fb', '?#&', 'שלום', '  ', '"quoted\'', '%25'])(
  'reads the name %j back as it was',
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

test('keeps malformed percent encoding as it stands', () => {
  expect(parsePathSegments('/s/%E0%A4%A')).toEqual(['s', '%E0%A4%A'])
})

test('has no piece for what is missing', () => {
  expect(parsePathSegments('/p/alice/')).toEqual(['p', 'alice'])
})
