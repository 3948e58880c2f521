import { expect, test } from 'vitest'
import type { ActivityStats } from '../../site/analytics/activity-stats.ts'
import { formatStats } from './stats.ts'

const nothing: ActivityStats = {
  from: '2026-01-02',
  to: '2026-01-31',
  days: [],
  streamers: [],
  sessions: [],
  ads: [],
}

test('reports that nothing was counted', () => {
  expect(formatStats(nothing)).toEqual(['Nothing was counted from 2026-01-02 to 2026-01-31 (UTC).'])
})

test('prints a table of days, streamers, sessions and house ads', () => {
  const found: ActivityStats = {
    ...nothing,
    days: [{ day: '2026-01-31', views: 1234, plays: 56 }],
    streamers: [{ streamer: '雪', views: 12, plays: 3 }],
    sessions: [{ streamer: '雪', date: '2026-01-30', sessionId: 'a\nb', views: 7, plays: 3 }],
    ads: [{ creative: 'tea', zone: 'banner', impressions: 9, clicks: 1 }],
  }
  expect(formatStats(found)).toEqual([
    'Views and plays from 2026-01-02 to 2026-01-31 (UTC)',
    '',
    '    views    plays  day',
    '     1234       56  2026-01-31',
    '',
    '    views    plays  streamer',
    '       12        3  雪',
    '',
    '    views    plays  session',
    '        7        3  雪 - 2026-01-30 - a\\nb',
    '',
    '    shown   clicks  house ad',
    '        9        1  tea in banner',
  ])
})

test('shows every day, but only the twenty most played of the rest', () => {
  const names = Array.from({ length: 25 }, (_, at) => `s${at}`)
  const lines = formatStats({
    ...nothing,
    days: names.map((day) => ({ day, views: 1, plays: 1 })),
    streamers: names.map((streamer) => ({ streamer, views: 1, plays: 1 })),
  })
  expect(lines).toHaveLength(1 + 27 + 23)
  expect(lines.at(-1)?.trim()).toBe('and 5 more, listed by --json')
})
