// The data as such; test/discovery.test.ts checks what pages have of it.
import { expect, test } from 'vitest'
import { formatDuration, formatVideo } from './structured-data.ts'
import type { VideoFacts } from './structured-data.ts'

const facts: VideoFacts = {
  name: 'Late night',
  description: 'd',
  url: 'https://site.example/p/alice/2026-01-31/1',
  embedUrl: 'https://site.example/embed/alice/2026-01-31/1',
  thumbnailUrl: 'https://site.example/api/thumbnail/alice/2026-01-31/1',
  publishedMs: Date.UTC(2026, 0, 31, 20, 15),
  durationSeconds: 100.4,
  chapters: [],
  text: {},
}

test.each([
  [0, 'PT1S'],
  [0.4, 'PT1S'],
  [59.6, 'PT1M'],
  [61, 'PT1M1S'],
  [3600, 'PT1H'],
  [3605, 'PT1H5S'],
  [36_061, 'PT10H1M1S'],
])('%d seconds are %s', (seconds, expected) => {
  expect(formatDuration(seconds)).toBe(expected)
})

test('chapters are clips up to their end, else the next one, else the end of the session', () => {
  const chapters = [
    { startSeconds: 0, title: 'a' },
    { startSeconds: 10.5, endSeconds: 20, title: 'b' },
    { startSeconds: 50, title: 'c' },
  ]
  const { hasPart } = formatVideo({ ...facts, chapters })
  expect(hasPart).toMatchObject([
    { name: 'a', startOffset: 0, endOffset: 10.5, url: `${facts.url}?t=0` },
    { name: 'b', startOffset: 10.5, endOffset: 20, url: `${facts.url}?t=10.5` },
    { name: 'c', startOffset: 50, endOffset: 100.4, url: `${facts.url}?t=50` },
  ])
})

test('only a growing session is a broadcast, with an end in the future', () => {
  expect(formatVideo(facts)).not.toHaveProperty('publication')
  const growsUntilMs = Date.UTC(2026, 0, 31, 21, 40)
  expect(formatVideo({ ...facts, growsUntilMs }).publication).toEqual({
    '@type': 'BroadcastEvent',
    isLiveBroadcast: true,
    startDate: '2026-01-31T20:15:00Z',
    endDate: '2026-01-31T23:00:00Z',
  })
})
