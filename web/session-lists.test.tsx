// @vitest-environment jsdom
// The sessions page with many sessions, details, and sessions that were watched in part.
import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import { openPage, stubBrowser } from '../test/page/open-page.tsx'
import { saveWatched } from './navigation/watch-history.ts'

stubBrowser()

const few = [
  { date: '2026-02-01', sessionId: '1002', duration: '0:04:05' },
  { date: '2026-01-31', sessionId: '1001' },
]
/** Seven days of February, six of January, one that is no date. */
const many = [
  ...[7, 6, 5, 4, 3, 2, 1].map((day) => ({ date: `2026-02-0${day}`, sessionId: `f${day}` })),
  ...[6, 5, 4, 3, 2, 1].map((day) => ({ date: `2026-01-0${day}`, sessionId: `j${day}` })),
  { date: 'pilot', sessionId: '0' },
]

function shownIds(): string[] {
  return screen.queryAllByText(/^[fj]?\d$/, { selector: 'p > bdi' }).map((id) => id.textContent)
}

function months(): string[] {
  return screen.queryAllByRole('heading', { level: 2 }).map(({ textContent }) => textContent)
}

test('shows weekday, title, game, duration and state beside date and id', async () => {
  const details = {
    sessions: [
      { date: '2026-02-01', sessionId: '1002', title: 'First <b>run</b>', game: 'Chess <i>go</i>' },
      { date: '2026-01-31', sessionId: '1001', growing: true },
    ],
  }
  await openPage('/s/Alice', { sessions: { Alice: few }, details: { Alice: details } })
  const list = await screen.findByRole('list', { name: 'Sessions' })
  const [first, second] = within(list).getAllByRole('listitem')
  if (!first || !second) throw new Error('no cards')
  expect(within(first).getByRole('heading', { level: 2 }).textContent).toBe('2026-02-01')
  const weekday = first.querySelector('time')
  expect([weekday?.dateTime, weekday?.textContent]).toEqual(['2026-02-01', 'Sunday'])
  expect(within(first).getByText('First <b>run</b>')).toBeDefined()
  expect(within(first).getByText('Chess <i>go</i>')).toBeDefined()
  expect(within(first).getByText('0:04:05')).toBeDefined()
  expect(within(first).queryByText('Live')).toBeNull()
  expect(within(second).getByText('Live')).toBeDefined()
})

test('introduces the streamer, as text', async () => {
  const details = {
    displayName: 'Alice <b>Lane</b>',
    description: 'Speedruns.',
    avatarUrl: '/api/thumbnail-streamer/Alice',
    links: [{ label: 'Website', url: 'https://alice.example/' }],
    sessions: [],
  }
  await openPage('/s/Alice', { sessions: { Alice: few }, details: { Alice: details } })
  const profile = await screen.findByRole('region', { name: 'About the streamer' })
  expect(within(profile).getByText('Alice <b>Lane</b>')).toBeDefined()
  expect(within(profile).getByText('Speedruns.').dir).toBe('auto')
  expect(profile.querySelector('img')?.src).toMatch(/\/api\/thumbnail-streamer\/Alice$/)
  const link = within(profile).getByRole('link', { name: 'Website' })
  expect(link).toHaveProperty('href', 'https://alice.example/')
  expect(link).toHaveProperty('rel', 'noopener nofollow ugc')
})

test('offers on the home page to continue, only what still exists', async () => {
  const watch = (sessionId: string, positionSeconds: number, streamer = 'Alice') =>
    saveWatched(
      { streamer, date: '2026-02-01', sessionId },
      { positionSeconds, durationSeconds: 200 },
    )
  watch('1002', 50)
  watch('removed', 60)
  watch('1', 60, 'Hidden')
  watch('1001', 199)
  const details = {
    sessions: [{ date: '2026-02-01', sessionId: '1002', title: 'Finale' }],
  }
  await openPage('/', { sessions: { Alice: few }, details: { Alice: details } })
  const list = await screen.findByRole('list', { name: 'Continue watching' })
  const [card, ...others] = within(list).getAllByRole('listitem')
  expect(others).toEqual([])
  if (!card) throw new Error('no card')
  const link = within(card).getByRole('link', { name: 'Finale' })
  expect(link.getAttribute('href')).toBe('/p/Alice/2026-02-01/1002?t=50')
  expect(within(card).getByText('Continue at 0:00:50')).toBeDefined()
  expect(within(card).getByRole('progressbar').getAttribute('aria-valuenow')).toBe('25')
})

test('offers at most six sessions, the last one first, and none without storage', async () => {
  const sessions = [1, 2, 3, 4, 5, 6, 7].map((id) => ({ date: '2026-02-01', sessionId: `${id}` }))
  for (const session of sessions) {
    const watched = { positionSeconds: 20, durationSeconds: 200 }
    saveWatched({ streamer: 'Alice', ...session }, watched)
  }
  await openPage('/', { sessions: { Alice: sessions } })
  const list = await screen.findByRole('list', { name: 'Continue watching' })
  const links = within(list).getAllByRole('link')
  expect(links.map((link) => link.getAttribute('href'))).toEqual(
    [7, 6, 5, 4, 3, 2].map((id) => `/p/Alice/2026-02-01/${id}?t=20`),
  )
  fireEvent.change(screen.getByPlaceholderText('Search streamer...'), { target: { value: 'a' } })
  expect(screen.queryByRole('list', { name: 'Continue watching' })).toBeNull()
})

test('shows the watched part of a session that can be continued', async () => {
  const watched = (sessionId: string, positionSeconds: number) => {
    const session = { streamer: 'Alice', date: '2026-02-01', sessionId }
    saveWatched(session, { positionSeconds, durationSeconds: 200 })
  }
  watched('1002', 50)
  watched('1001', 199)
  await openPage('/s/Alice', { sessions: { Alice: few } })
  await screen.findByRole('list', { name: 'Sessions' })
  const [bar, ...others] = screen.getAllByRole('progressbar', { name: 'Watched' })
  expect(bar?.getAttribute('aria-valuenow')).toBe('25')
  expect(others).toEqual([])
})

test('has neither filter nor months with few sessions', async () => {
  await openPage('/s/Alice', { sessions: { Alice: many.slice(0, 12) } })
  await screen.findByRole('list', { name: 'Sessions' })
  expect(screen.queryByRole('searchbox')).toBeNull()
  expect(screen.queryByRole('combobox')).toBeNull()
  expect(screen.queryByText('February 2026')).toBeNull()
})

test('groups many sessions by month', async () => {
  await openPage('/s/Alice', { sessions: { Alice: many } })
  await screen.findByRole('searchbox', { name: 'Search session…' })
  expect(months()).toEqual(['February 2026', 'January 2026', 'Other dates'])
  const lists = screen.getAllByRole('list', { name: 'Sessions' })
  expect(lists.map((list) => within(list).getAllByRole('listitem').length)).toEqual([7, 6, 1])
})

test('filters by month, in the URL', async () => {
  await openPage('/s/Alice', { sessions: { Alice: many } })
  const control = await screen.findByRole('combobox', { name: 'Month' })
  const options = within(control).getAllByRole('option')
  expect(options.map(({ textContent }) => textContent)).toEqual([
    'All',
    'February 2026',
    'January 2026',
    'Other dates',
  ])
  fireEvent.change(control, { target: { value: '2026-01' } })
  await screen.findByText('6 sessions found')
  expect(months()).toEqual(['January 2026'])
  expect(window.location.search).toBe('?month=2026-01')
  fireEvent.change(control, { target: { value: '' } })
  await waitFor(() => expect(months()).toHaveLength(3))
  expect(window.location.search).toBe('')
})

test('finds title, date and id of the URL, within the month', async () => {
  const details = { sessions: [{ date: '2026-01-03', sessionId: 'j3', title: 'Late f2' }] }
  const library = { sessions: { Alice: many }, details: { Alice: details } }
  await openPage('/s/Alice?q=F2', library)
  await screen.findByText('2 sessions found')
  expect(shownIds()).toEqual(['f2', 'j3'])
  const control = screen.getByRole('combobox', { name: 'Month' })
  fireEvent.change(control, { target: { value: '2026-01' } })
  await screen.findByText('1 session found')
  fireEvent.keyDown(screen.getByRole('searchbox'), { key: 'Enter' })
  await screen.findByRole('heading', { level: 1, name: 'Alice - 2026-01-03 - j3' })
})

test('opens the only session of a weekday', async () => {
  await openPage('/s/Alice?q=tuesday+feb', { sessions: { Alice: many } })
  await screen.findByText('1 session found')
  fireEvent.keyDown(screen.getByRole('searchbox'), { key: 'Enter' })
  const heading = { level: 1, name: 'Alice - 2026-02-03 - f3' }
  expect(await screen.findByRole('heading', heading)).toBeDefined()
})

test('shows that a search has no match', async () => {
  await openPage('/s/Alice?q=nothing', { sessions: { Alice: many } })
  await screen.findByText('No sessions found')
  expect(screen.getByRole('status').textContent).toBe('No sessions found')
  fireEvent.change(screen.getByRole('searchbox'), { target: { value: 'f2' } })
  await screen.findByText('1 session found')
  expect(screen.getByRole('status').textContent).toBe('')
})

test.each([
  ['has few sessions', { sessions: { Alice: few } }],
  ['is empty', { sessions: { Alice: [] } }],
  ['failed to load', { broken: new Set(['/api/sessions/Alice']) }],
])('shows no text where the list %s, with a search in the URL, too', async (_, library) => {
  await openPage('/s/Alice?q=nothing', library)
  await screen.findByRole('list', { name: 'Sessions' })
  expect(screen.getByRole('status').textContent).toBe('')
})

test('shows streamers instead of one that is unknown, and no text', async () => {
  const streamers = ['Alice', 'Bob'].map((name) => ({ name, recording_count: 1 }))
  await openPage('/s/nobody', { streamers })
  const list = await screen.findByRole('list', { name: 'Streamers' })
  const links = within(list).getAllByRole('link', { name: 'View Sessions' })
  expect(links.map((link) => link.getAttribute('href'))).toEqual(['/s/Alice', '/s/Bob'])
  expect(screen.getByRole('link', { name: 'All streamers' }).getAttribute('href')).toBe('/')
  expect(screen.getByRole('status').textContent).toBe('')
})

test('shows no streamers instead of one whose sessions fail to load', async () => {
  const streamers = [{ name: 'Alice', recording_count: 1 }]
  await openPage('/', { streamers, broken: new Set(['/api/sessions/Alice']) })
  fireEvent.click(await screen.findByRole('link', { name: 'View Sessions' }))
  await screen.findByRole('list', { name: 'Sessions' })
  expect(screen.queryByRole('list', { name: 'Streamers' })).toBeNull()
})

test('ignores a month of the URL without sessions', async () => {
  await openPage('/s/Alice?month=2020-01', { sessions: { Alice: many } })
  const control = await screen.findByRole('combobox', { name: 'Month' })
  expect(control).toHaveProperty('value', '')
  expect(months()).toHaveLength(3)
})

test('shows the sessions if their details fail', async () => {
  const broken = new Set(['/api/details/Alice'])
  const api = await openPage('/s/Alice', { sessions: { Alice: few }, broken })
  await screen.findByRole('list', { name: 'Sessions' })
  expect(screen.getAllByRole('listitem')).toHaveLength(2)
  expect(api.requests).toContain('/api/details/Alice')
})
