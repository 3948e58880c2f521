// @vitest-environment jsdom
import { act, fireEvent, screen, waitFor, within } from '@testing-library/react'
import { beforeEach, expect, test, vi } from 'vitest'
import type { FakeApi, FakeLibrary } from '../test/page/fake-api.ts'
import { openPage, stubBrowser } from '../test/page/open-page.tsx'
import { VisitMemory } from './navigation/visit-memory.ts'
import { savePreferences } from './player/preferences.ts'

let api: FakeApi
let visits: VisitMemory

stubBrowser()

beforeEach(() => {
  document.title = 'Aftercast'
  visits = new VisitMemory()
})

const names = ['Alice', 'bob', 'Zoë & co', 'a/b 100%2F']

const library: Partial<FakeLibrary> = {
  streamers: names.map((name, i) => ({ name, recording_count: i + 1 })),
  sessions: {
    Alice: [
      { date: '2026-01-31', sessionId: '1002', duration: '0:04:05' },
      { date: '2026-01-30', sessionId: 'late night' },
    ],
    bob: [{ date: '2026-02-01', sessionId: '7' }],
    'a/b 100%2F': [{ date: '2026-02-02', sessionId: '#?' }],
  },
}

/** Opens the page at a path, like a direct link. */
async function open(path: string, content = library): Promise<void> {
  api = await openPage(path, content, { visits })
}

/** jsdom decodes nothing. */
function showFirstFrame(): void {
  fireEvent.loadedData(document.querySelector('video') ?? document.body)
}

async function cardsOf(list: string): Promise<HTMLElement[]> {
  return within(await screen.findByRole('list', { name: list })).findAllByRole('listitem')
}

function follow(link: HTMLElement): void {
  fireEvent.click(link)
}

test('lists streamers with name, count, thumbnail and a link to their sessions', async () => {
  await open('/')
  expect(screen.getByRole('heading', { level: 1, name: 'Streamers' })).toBeDefined()
  const cards = await cardsOf('Streamers')
  const card = within(cards[3] ?? document.body)
  expect(cards).toHaveLength(4)
  expect(card.getByRole('heading', { name: 'a/b 100%2F' })).toBeDefined()
  expect(card.getByText('4 recordings')).toBeDefined()
  expect(card.getByRole('link', { name: 'View Sessions' }).getAttribute('href')).toBe(
    '/s/a%2Fb%20100%252F',
  )
  expect(cards[3]?.querySelector('img')?.src).toBe(
    `${api.base}/api/thumbnail-streamer/a%2Fb%20100%252F`,
  )
})

test('shows Loading… until the list is loaded', async () => {
  let openGate = () => {}
  const gate = new Promise<void>((resolve) => (openGate = resolve))
  await open('/', { ...library, gate })
  expect(screen.getByRole('status').textContent).toBe('Loading…')
  openGate()
  await cardsOf('Streamers')
  expect(screen.queryByText('Loading…')).toBeNull()
})

test('filters by a substring, case-insensitive, and shows the number of matches', async () => {
  await open('/')
  await cardsOf('Streamers')
  fireEvent.change(screen.getByPlaceholderText('Search streamer...'), { target: { value: 'O' } })
  await screen.findByText('2 streamers found')
  const cards = await cardsOf('Streamers')
  expect(cards.map((card) => within(card).getByRole('heading').textContent)).toEqual([
    'bob',
    'Zoë & co',
  ])
  fireEvent.change(screen.getByPlaceholderText('Search streamer...'), { target: { value: '' } })
  await waitFor(async () => expect(await cardsOf('Streamers')).toHaveLength(names.length))
})

test('ignores white space around the search, and opens a sole match on Enter', async () => {
  await open('/')
  await cardsOf('Streamers')
  const box = screen.getByPlaceholderText('Search streamer...')
  fireEvent.keyDown(box, { key: 'Enter' })
  fireEvent.change(box, { target: { value: ' o' } })
  fireEvent.keyDown(box, { key: 'Enter' })
  expect(window.location.pathname).toBe('/')
  fireEvent.change(box, { target: { value: ' BO ' } })
  await screen.findByText('1 streamer found')
  fireEvent.keyDown(box, { key: 'Enter' })
  await screen.findByRole('heading', { level: 1, name: 'Sessions: bob' })
})

test('has the search in the URL, without a history entry of its own', async () => {
  await open('/?q=zo')
  await screen.findByText('1 streamer found')
  const box = screen.getByPlaceholderText('Search streamer...')
  expect(box).toHaveProperty('value', 'zo')
  const entries = window.history.length
  fireEvent.change(box, { target: { value: 'a/b & c ' } })
  expect(window.location.search).toBe('?q=a%2Fb+%26+c')
  fireEvent.change(box, { target: { value: '' } })
  expect(window.location.search).toBe('')
  expect(window.history.length).toBe(entries)
})

test('focuses the search with /, except where the key is typed', async () => {
  await open('/?q=zo')
  await cardsOf('Streamers')
  const box = screen.getByPlaceholderText('Search streamer...')
  fireEvent.keyDown(document.body, { key: '/', ctrlKey: true })
  expect(document.activeElement).not.toBe(box)
  expect(fireEvent.keyDown(document.body, { key: '/' })).toBe(false)
  expect(document.activeElement).toBe(box)
  expect(fireEvent.keyDown(box, { key: '/' })).toBe(true)
})

test('shows that a search has no match', async () => {
  await open('/')
  await cardsOf('Streamers')
  expect(screen.getByRole('status').textContent).toBe('')
  const box = screen.getByPlaceholderText('Search streamer...')
  fireEvent.change(box, { target: { value: 'nobody' } })
  await waitFor(() => expect(screen.getByRole('status').textContent).toBe('No streamers found'))
  expect(screen.getAllByText('No streamers found')).toHaveLength(1)
  expect(screen.queryAllByRole('listitem')).toEqual([])
  fireEvent.change(box, { target: { value: 'bob' } })
  await waitFor(() => expect(screen.getByRole('status').textContent).toBe(''))
})

test.each([
  ['is empty', { streamers: [] }],
  ['failed to load', { broken: new Set(['/api/streamers']) }],
])('shows no text where the list %s, with a search, too', async (_, changed) => {
  await open('/?q=bob', { ...library, ...changed })
  await screen.findByRole('list', { name: 'Streamers' })
  expect(screen.getByRole('status').textContent).toBe('')
  expect(screen.queryByText(/found/)).toBeNull()
})

test('leaves / to the browser if the visitor has turned shortcuts off', async () => {
  savePreferences({ hasShortcuts: false })
  await open('/')
  const box = screen.getByPlaceholderText('Search streamer...')
  expect(box.hasAttribute('aria-keyshortcuts')).toBe(false)
  expect(fireEvent.keyDown(document.body, { key: '/' })).toBe(true)
  expect(document.activeElement).not.toBe(box)
})

test('leaves / to the browser once the visitor turns shortcuts off', async () => {
  await open('/')
  const box = screen.getByPlaceholderText('Search streamer...')
  savePreferences({ hasShortcuts: false })
  expect(fireEvent.keyDown(document.body, { key: '/' })).toBe(true)
  savePreferences({ hasShortcuts: true })
  expect(fireEvent.keyDown(document.body, { key: '/' })).toBe(false)
  expect(document.activeElement).toBe(box)
})

test('shows the first two letters if a thumbnail fails', async () => {
  await open('/')
  const [card] = await cardsOf('Streamers')
  const image = card?.querySelector('img')
  if (!card || !image) throw new Error('no card')
  expect(within(card).queryByText('AL')).toBeNull()
  fireEvent.error(image)
  expect(image.hidden).toBe(true)
  expect(within(card).getByText('AL')).toBeDefined()
})

test('ends loading with an empty list and no message if the list fails', async () => {
  await open('/', { ...library, broken: new Set(['/api/streamers']) })
  await waitFor(() => expect(screen.queryByText('Loading…')).toBeNull())
  expect(screen.queryAllByRole('listitem')).toHaveLength(0)
  expect(screen.getByRole('main').textContent).toBe('Streamers')
})

test('navigates from a streamer to the sessions, with title, focus and scroll', async () => {
  await open('/')
  await cardsOf('Streamers')
  follow(screen.getAllByRole('link', { name: 'View Sessions' })[0] ?? document.body)
  const heading = await screen.findByRole('heading', { level: 1, name: 'Sessions: Alice' })
  await waitFor(() => expect(document.activeElement).toBe(heading))
  expect(window.location.pathname).toBe('/s/Alice')
  expect(document.title).toBe('Sessions: Alice · Aftercast')
  expect(window.scrollTo).toHaveBeenLastCalledWith(0, 0)
})

test('lists sessions with date, id, duration or a dash, and a link to the player', async () => {
  await open('/s/Alice')
  const [first, second] = await cardsOf('Sessions')
  expect(within(first ?? document.body).getByText('2026-01-31')).toBeDefined()
  expect(first?.querySelector('p')?.textContent).toBe('Session 1002 • 0:04:05')
  expect(second?.querySelector('p')?.textContent).toBe('Session late night • —')
  const name = 'Play 2026-01-30 Session late night • —'
  const play = within(second ?? document.body).getByRole('link', { name })
  expect(play.textContent).toBe('Play')
  expect(play.getAttribute('href')).toBe('/p/Alice/2026-01-30/late%20night')
})

test('requests the exact name, even with a literal %2F', async () => {
  await open('/s/a%2Fb%20100%252F')
  await cardsOf('Sessions')
  expect(screen.getByRole('heading', { name: 'Sessions: a/b 100%2F' })).toBeDefined()
  expect(api.requests).toContain('/api/sessions/a%2Fb%20100%252F')
})

test('hides the thumbnail of a session if it fails, without letters', async () => {
  await open('/s/Alice')
  const [card] = await cardsOf('Sessions')
  const image = card?.querySelector('img')
  if (!card || !image) throw new Error('no card')
  const text = card.textContent
  fireEvent.error(image)
  expect(image.hidden).toBe(true)
  expect(card.textContent).toBe(text)
})

test('isolates names from the direction of the text around them', async () => {
  const streamer = 'שלום 1'
  const sessions = { [streamer]: [{ date: '2026-01-31', sessionId: 'ב (2)', duration: '0:01:00' }] }
  await open(`/s/${encodeURIComponent(streamer)}`, { ...library, sessions })
  const [card] = await cardsOf('Sessions')
  const heading = screen.getByRole('heading', { level: 1 })
  expect(heading.textContent).toBe(`Sessions: ${streamer}`)
  expect(heading.title).toBe(`Sessions: ${streamer}`)
  const isolated = [heading, card].flatMap((element) =>
    Array.from(element?.querySelectorAll('bdi') ?? [], ({ textContent }) => textContent),
  )
  expect(isolated).toEqual([streamer, '2026-01-31', 'ב (2)'])
})

test.each([
  ['/s/Alice/', '/s/Alice'],
  ['/s/a%2Fb%20100%252F//', '/s/a%2Fb%20100%252F'],
  ['/?q=a', '/'],
])('%s opens %s', async (path, pathname) => {
  await open(path)
  await waitFor(() => expect(window.location.pathname).toBe(pathname))
  expect(screen.getByRole('heading', { level: 1 }).textContent).toMatch(/^S/)
})

test('an unknown streamer has an empty list', async () => {
  await open('/s/nobody')
  await waitFor(() => expect(screen.queryByText('Loading…')).toBeNull())
  expect(screen.queryAllByRole('listitem')).toHaveLength(0)
  expect(screen.getByRole('heading', { level: 1 }).textContent).toBe('Sessions: nobody')
})

test('Back restores the list without loading it again', async () => {
  await open('/')
  await cardsOf('Streamers')
  fireEvent.change(screen.getByPlaceholderText('Search streamer...'), { target: { value: 'ali' } })
  await screen.findByText('1 streamer found')
  follow(screen.getByRole('link', { name: 'View Sessions' }))
  fireEvent.click(await screen.findByRole('button', { name: 'Back' }))
  await screen.findByRole('heading', { name: 'Streamers' })
  expect(screen.queryByText('Loading…')).toBeNull()
  expect(screen.getByPlaceholderText('Search streamer...')).toHaveProperty('value', 'ali')
  expect(await cardsOf('Streamers')).toHaveLength(1)
  expect(api.requests.filter((path) => path === '/api/streamers')).toHaveLength(1)
})

test('Back opens the parent page after a direct link', async () => {
  await open('/p/Alice/2026-01-31/1002')
  fireEvent.click(screen.getByRole('button', { name: 'Back' }))
  await screen.findByRole('heading', { name: 'Sessions: Alice' })
  expect(window.location.pathname).toBe('/s/Alice')
})

test('shows title, video with controls and one recommendation per streamer', async () => {
  await open('/p/Alice/2026-01-31/1002')
  expect(screen.getByRole('heading', { level: 1 }).textContent).toBe('Alice - 2026-01-31 - 1002')
  expect(document.querySelector('video')?.controls).toBe(true)
  expect(screen.getByRole('heading', { level: 2, name: 'Recommended' })).toBeDefined()
  showFirstFrame()
  const cards = await cardsOf('Recommended')
  const links = cards.map((card) => within(card).getByRole('link').getAttribute('href'))
  expect(links).toHaveLength(3)
  expect(links[0]).toMatch(/^\/p\/Alice\/2026-01-3[01]\//)
  expect(links.slice(1)).toEqual(['/p/bob/2026-02-01/7', '/p/a%2Fb%20100%252F/2026-02-02/%23%3F'])
})

test('requests recommendations after the first frame', async () => {
  await open('/p/Alice/2026-01-31/1002')
  const isList = (request: string): boolean => /api\/(?:streamers|sessions)/.test(request)
  expect(api.requests.filter(isList)).toEqual([])
  showFirstFrame()
  await cardsOf('Recommended')
  expect(api.requests.filter(isList).length).toBeGreaterThan(1)
})

test('plays the next session in the same element', async () => {
  await open('/p/Alice/2026-01-31/1002')
  const video = document.querySelector('video')
  await waitFor(() =>
    expect(video?.src).toBe(`${api.base}/api/video/Alice/2026-01-31/1002/playlist.m3u8`),
  )
  // Inserting it again would stop playback and leave full screen.
  const onMove = vi.fn<MutationCallback>()
  const stage = video?.parentElement ?? document.body
  new MutationObserver(onMove).observe(stage, { childList: true })
  showFirstFrame()
  const [, bob] = await cardsOf('Recommended')
  follow(within(bob ?? document.body).getByRole('link'))
  await screen.findByRole('heading', { level: 1, name: 'bob - 2026-02-01 - 7' })
  await waitFor(() =>
    expect(video?.src).toBe(`${api.base}/api/video/bob/2026-02-01/7/playlist.m3u8`),
  )
  expect(document.querySelector('video')).toBe(video)
  expect(onMove).not.toHaveBeenCalled()
})

test('stops requesting recommendations when the visitor leaves', async () => {
  const streamers = Array.from({ length: 500 }, (_, i) => ({ name: `e${i}`, recording_count: 0 }))
  await open('/p/Alice/2026-01-31/1002', {
    streamers,
    sessions: Object.fromEntries(streamers.map(({ name }) => [name, []])),
  })
  showFirstFrame()
  const requestedSessions = () => api.requests.filter((path) => path.includes('/sessions/e')).length
  await waitFor(() => expect(requestedSessions()).toBeGreaterThan(5))
  const held = Promise.withResolvers<void>()
  const { gate } = api.library
  api.library.gate = held.promise
  follow(screen.getByRole('link', { name: 'Home' }))
  await screen.findByRole('heading', { name: 'Streamers' })
  api.library.gate = gate
  /** Gives what is under way more turns than it needs. */
  const settle = async () => {
    for (let round = 0; round < 10; round += 1)
      await act(async () => fetch(`${api.base}/api/config`).catch(() => undefined))
  }
  await settle()
  const requestsBefore = requestedSessions()
  held.resolve()
  await settle()
  expect(requestedSessions()).toBe(requestsBefore)
  expect(requestsBefore).toBeLessThan(500)
})

test.each(['/p', '/p/Alice', '/p/Alice/2026-01-31'])(
  'the player at %s renders nothing',
  async (path) => {
    await open(path)
    expect(screen.getByRole('main').childElementCount).toBe(0)
  },
)

test('an unknown path shows a link home', async () => {
  await open('/nowhere/at/all')
  expect(screen.getByRole('heading', { name: 'Page not found' })).toBeDefined()
  expect(screen.getByRole('link', { name: 'All streamers' }).getAttribute('href')).toBe('/')
  expect(screen.getByRole('link', { name: 'Home' }).getAttribute('href')).toBe('/')
})

test.each(['//nowhere/', '//nowhere/at/all/'])('%s is no other host', async (path) => {
  await open(window.location.origin + path)
  expect(screen.getByRole('heading', { name: 'Page not found' })).toBeDefined()
})

test('the skip link moves the focus to the page without a history entry', async () => {
  await open('/')
  fireEvent.click(screen.getByRole('link', { name: 'Skip to content' }))
  expect(document.activeElement).toBe(screen.getByRole('main'))
  expect(window.location.hash).toBe('')
})

test('renders a long list in steps', async () => {
  const streamers = Array.from({ length: 1200 }, (_, i) => ({ name: `s${i}`, recording_count: 1 }))
  await open('/', { streamers })
  const list = await screen.findByRole('list', { name: 'Streamers' })
  expect(list.childElementCount).toBe(60)
  await waitFor(() => expect(list.childElementCount).toBe(1200))
})

test('restores the share of a long list that was seen at once', async () => {
  const streamers = Array.from({ length: 4000 }, (_, i) => ({ name: `s${i}`, recording_count: 1 }))
  visits.remember('default', { scrollTop: 9000, seenShare: 0.5 })
  await open('/', { streamers })
  const list = await screen.findByRole('list', { name: 'Streamers' })
  expect(list.childElementCount).toBe(2000)
})
