// Dates and names of languages in other languages than English. One language per document.
import { expect, test, vi } from 'vitest'
import { texts as ja } from './ja.ts'
import { texts as de } from './de.ts'
import type { Texts } from './texts.ts'

interface Example {
  language: string
  texts: Texts
  month: string
  weekday: string
  queries: string[]
}

test.each<Example>([
  {
    language: 'de',
    texts: de,
    month: 'März 2026',
    weekday: 'Dienstag',
    queries: ['dienst', '3 märz', 'mär 2026'],
  },
  {
    language: 'ja',
    texts: ja,
    month: '2026年3月',
    weekday: '火曜日',
    queries: ['火曜', '3月', '2026年3月'],
  },
])(
  'the days of sessions are in the language: $language',
  async ({ language, texts, month, weekday, queries }) => {
    await open(language, texts)
    const { describeSessions, filterSessions, listMonths } =
      await import('../sessions/listed-sessions.ts')
    const sessions = describeSessions(
      [
        { date: '2026-03-03', sessionId: 'a' },
        { date: '2026-02-01', sessionId: 'b' },
      ],
      [],
    )
    expect(sessions[0]?.day?.weekday).toBe(weekday)
    expect(listMonths(sessions)[0]).toEqual({ value: '2026-03', label: month })
    for (const query of queries) {
      expect(filterSessions(sessions, { query, month: '' })).toEqual([sessions[0]])
    }
  },
)

test('tracks have the names of their languages in that of the page', async () => {
  await open('de', de)
  const { nameTracks } = await import('../player/controls/tracks/track-names.ts')
  const tracks = [
    { label: '', language: 'hu' },
    { label: '', language: 'und' },
  ]
  expect(nameTracks(tracks)).toEqual(['Ungarisch', 'Spur 2'])
})

test('times of day have the form of the language', async () => {
  await open('de', de)
  const { timeOfDay } = await import('../player/controls/moments/chapters.ts')
  expect(timeOfDay('2026-01-31T20:00:00', 300)).toBe('20:05')
})

async function open(language: string, texts: Texts): Promise<void> {
  vi.resetModules()
  const { setLanguage } = await import('./translate.ts')
  setLanguage(language, texts)
}
