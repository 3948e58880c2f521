import { expect, test, vi } from 'vitest'
import type { SessionItem } from '../../../shared/contract.ts'
import type { SessionReference } from '../../../shared/paths.ts'
import { recommendSessions } from './recommend.ts'
import type { RecommendSources } from './recommend.ts'

/** Sources over a plain library, which record the requests and their maximum concurrency. */
function createSources(library: Record<string, SessionItem[]>, randoms: number[] = []) {
  const requested: string[] = []
  let active = 0
  const seen = { requested, maxActive: 0 }
  const sources: RecommendSources = {
    fetchStreamers: async () =>
      Object.keys(library).map((name) => ({ name, recording_count: library[name]?.length ?? 0 })),
    fetchSessions: async (streamer) => {
      requested.push(streamer)
      active += 1
      seen.maxActive = Math.max(seen.maxActive, active)
      // Later requests resolve first, to check that the result is ordered.
      await new Promise((resolve) => setTimeout(resolve, 10 - (requested.length % 4) * 2))
      active -= 1
      return library[streamer] ?? []
    },
    fetchDetails: async () => ({ sessions: [] }),
    random: () => randoms.shift() ?? 0,
  }
  return { sources, seen }
}

function sessionsOf(...ids: string[]): SessionItem[] {
  return ids.map((sessionId) => ({ date: '2026-01-31', sessionId }))
}

function libraryOf(count: number, sessions = sessionsOf('1', '2', '3')) {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`s${i}`, sessions]))
}

/** The session that is played; its id is not in `libraryOf`. */
function playing(streamer: string, sessionId = 'played'): SessionReference {
  return { streamer, date: '2026-01-31', sessionId }
}

const { signal } = new AbortController()

test('selects one random session of each streamer in list order', async () => {
  const { sources } = createSources(libraryOf(3), [0.99, 0, 0.5])
  const found = await recommendSessions(playing('s0'), sources, signal)
  expect(found.map((item) => `${item.streamer}:${item.sessionId}`)).toEqual([
    's0:3',
    's1:1',
    's2:2',
  ])
})

test('stops at eight without a request in vain', async () => {
  const { sources, seen } = createSources(libraryOf(30))
  const found = await recommendSessions(playing('s0'), sources, signal)
  expect(found.map((item) => item.streamer)).toEqual([
    's0',
    's1',
    's2',
    's3',
    's4',
    's5',
    's6',
    's7',
  ])
  expect(seen.requested).toHaveLength(8)
})

test('sends at most four concurrent requests', async () => {
  const { sources, seen } = createSources(libraryOf(30))
  await recommendSessions(playing('s0'), sources, signal)
  expect(seen.maxActive).toBe(4)
})

test('skips streamers without a session and failed requests', async () => {
  const { sources } = createSources({ ...libraryOf(4), s1: [] })
  const failing: RecommendSources = {
    ...sources,
    fetchSessions: (streamer, abort) =>
      streamer === 's2' ? Promise.reject(new Error('500')) : sources.fetchSessions(streamer, abort),
  }
  const found = await recommendSessions(playing('s0'), failing, signal)
  expect(found.map((item) => item.streamer)).toEqual(['s0', 's3'])
})

test('selects sessions of the current streamer, with repeats, if there are no others', async () => {
  const { sources } = createSources({}, [0, 0, 0.9])
  const lonely = { ...sources, fetchSessions: async () => sessionsOf('1', '2', '3') }
  const found = await recommendSessions(playing('me'), lonely, signal)
  expect(found.map((item) => item.sessionId)).toEqual(['1', '1', '3'])
  expect(found[0]?.streamer).toBe('me')
})

test('selects at most eight of the current streamer if the list of streamers fails', async () => {
  const { sources } = createSources({})
  const many = sessionsOf(...Array.from({ length: 20 }, (_, i) => String(i)))
  const found = await recommendSessions(
    playing('me'),
    {
      ...sources,
      fetchStreamers: () => Promise.reject(new Error('down')),
      fetchSessions: async () => many,
    },
    signal,
  )
  expect(found).toHaveLength(8)
})

test('never selects the session that is played while there is another one', async () => {
  const { sources } = createSources({ a: sessionsOf('1', '2'), b: sessionsOf('1'), c: [] })
  const idsFor = async (current: SessionReference) => {
    const found = await recommendSessions(current, sources, signal)
    return found.map((item) => `${item.streamer}:${item.sessionId}`)
  }
  expect(await idsFor(playing('a', '1'))).toEqual(['a:2', 'b:1'])
  expect(await idsFor(playing('b', '1'))).toEqual(['a:1'])
  const down = { ...sources, fetchStreamers: () => Promise.reject(new Error('down')) }
  const own = await recommendSessions(playing('a', '1'), down, signal)
  expect(own.map((item) => item.sessionId)).toEqual(['2'])
})

test('selects the session that is played if it is the only one', async () => {
  const { sources } = createSources({ a: sessionsOf('1') })
  const found = await recommendSessions(playing('a', '1'), sources, signal)
  expect(found.map((item) => item.sessionId)).toEqual(['1'])
})

test('is empty if every request fails', async () => {
  const down = () => Promise.reject(new Error('down'))
  const lists = { fetchStreamers: down, fetchSessions: down, fetchDetails: down }
  const sources = { ...lists, random: () => 0 }
  await expect(recommendSessions(playing('me'), sources, signal)).resolves.toEqual([])
})

test('sends no requests after the visitor has left', async () => {
  vi.useFakeTimers()
  const { sources, seen } = createSources(libraryOf(1000, []))
  const left = new AbortController()
  const choice = recommendSessions(playing('s0'), sources, left.signal)
  const failure = choice.catch((error: unknown) => error)
  await vi.advanceTimersByTimeAsync(20)
  left.abort()
  const requestedBefore = seen.requested.length
  await vi.advanceTimersByTimeAsync(60_000)
  expect(String(await failure)).toContain('aborted')
  expect(seen.requested).toHaveLength(requestedBefore)
  expect(requestedBefore).toBeGreaterThan(5)
  vi.useRealTimers()
})

test('adds title and state, without which a session is shown as well', async () => {
  const { sources } = createSources(libraryOf(2))
  const [detail] = sessionsOf('1').map((session) => ({
    ...session,
    title: 'Finale',
    growing: true,
  }))
  const found = await recommendSessions(
    playing('s0'),
    {
      ...sources,
      fetchDetails: async (streamer) => {
        if (streamer === 's1' || !detail) throw new Error('no details')
        return { sessions: [detail] }
      },
    },
    signal,
  )
  expect(found).toMatchObject([
    { streamer: 's0', sessionId: '1', title: 'Finale', isGrowing: true },
    { streamer: 's1', sessionId: '1', isGrowing: false },
  ])
})
