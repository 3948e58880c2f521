// @vitest-environment jsdom
// The events that the real pages track.
import { act, fireEvent, screen, waitFor, within } from '@testing-library/react'
import { StrictMode } from 'react'
import { beforeEach, expect, test } from 'vitest'
import type { FakeLibrary } from '../test/page/fake-api.ts'
import { openPage, stubBrowser } from '../test/page/open-page.tsx'
import { AnalyticsContext } from './analytics/use-analytics.ts'
import type { VisitorEvent } from './analytics/visitor-event.ts'

let events: VisitorEvent[]
const track = (event: VisitorEvent) => void events.push(event)

stubBrowser()

beforeEach(() => {
  document.title = 'Aftercast'
  events = []
})

const library: Partial<FakeLibrary> = {
  streamers: ['Alice', 'bob'].map((name) => ({ name, recording_count: 1 })),
  sessions: {
    Alice: [{ date: '2026-01-31', sessionId: '1002', duration: '0:04:05' }],
    bob: [{ date: '2026-02-01', sessionId: '7' }],
  },
}
const alices = { streamer: 'Alice', date: '2026-01-31', sessionId: '1002' }
const bobs = { streamer: 'bob', date: '2026-02-01', sessionId: '7' }

async function open(path: string, content = library): Promise<void> {
  await openPage(path, content, {
    wrap: (routes) => (
      <StrictMode>
        <AnalyticsContext value={{ track }}>{routes}</AnalyticsContext>
      </StrictMode>
    ),
  })
}

async function linkIn(list: string, at = 0): Promise<HTMLElement> {
  const cards = await within(await screen.findByRole('list', { name: list })).findAllByRole(
    'listitem',
  )
  return within(cards[at] ?? document.body).getByRole('link')
}

const named = <Name extends VisitorEvent['name']>(name: Name) =>
  events.filter((event) => event.name === name)

test('tracks the page with its title, then the list, then the selected item', async () => {
  await open('/')
  fireEvent.click(await linkIn('Streamers'))
  fireEvent.click(await linkIn('Sessions'))
  await screen.findByRole('heading', { level: 1, name: 'Alice - 2026-01-31 - 1002' })
  expect(events).toEqual([
    { name: 'page_view', path: '/', title: 'Streamers · Aftercast' },
    {
      name: 'view_item_list',
      list: 'streamers',
      items: [{ streamer: 'Alice' }, { streamer: 'bob' }],
    },
    { name: 'select_item', list: 'streamers', item: { streamer: 'Alice' } },
    { name: 'page_view', path: '/s/Alice', title: 'Sessions: Alice · Aftercast' },
    { name: 'view_item_list', list: 'sessions', items: [alices] },
    { name: 'select_item', list: 'sessions', item: alices },
    {
      name: 'page_view',
      path: '/p/Alice/2026-01-31/1002',
      title: 'Alice - 2026-01-31 - 1002 · Aftercast',
    },
  ])
})

test('tracks page and list again when the visitor returns', async () => {
  await open('/')
  fireEvent.click(await linkIn('Streamers'))
  await linkIn('Sessions')
  fireEvent.click(screen.getByRole('button', { name: 'Back' }))
  await linkIn('Streamers')
  expect(events.map(({ name }) => name)).toEqual([
    'page_view',
    'view_item_list',
    'select_item',
    'page_view',
    'view_item_list',
    'page_view',
    'view_item_list',
  ])
})

test('tracks the whole list once, also a long one and after a search', async () => {
  const streamers = Array.from({ length: 700 }, (_, at) => ({
    name: `s${at}`,
    recording_count: 1,
  }))
  await open('/', { ...library, streamers })
  await linkIn('Streamers')
  fireEvent.change(screen.getByPlaceholderText('Search streamer...'), { target: { value: '9' } })
  await screen.findByText(/streamers found/)
  const lists = named('view_item_list')
  expect(lists).toHaveLength(1)
  expect(lists[0]).toMatchObject({ items: { length: 700 } })
})

test('does not track an empty list or one that failed to load', async () => {
  await open('/', { ...library, broken: new Set(['/api/streamers']) })
  await waitFor(() => expect(screen.queryByText('Loading…')).toBeNull())
  expect(events.map(({ name }) => name)).toEqual(['page_view'])
})

test('tracks a click of the middle button, but not the context menu', async () => {
  await open('/s/Alice')
  const link = await linkIn('Sessions')
  fireEvent(link, new MouseEvent('auxclick', { bubbles: true, button: 2 }))
  expect(named('select_item')).toEqual([])
  fireEvent(link, new MouseEvent('auxclick', { bubbles: true, button: 1 }))
  expect(named('select_item')).toEqual([{ name: 'select_item', list: 'sessions', item: alices }])
})

test('tracks the video once per visit: not after a pause, but for the next session', async () => {
  await open('/p/Alice/2026-01-31/1002')
  const video = document.querySelector('video') ?? document.body
  expect(named('begin_video')).toEqual([])
  fireEvent.playing(video)
  fireEvent.pause(video)
  fireEvent.playing(video)
  expect(named('begin_video')).toEqual([{ name: 'begin_video', session: alices }])
  fireEvent.loadedData(video)
  fireEvent.click(await linkIn('Recommended'))
  await screen.findByRole('heading', { level: 1, name: 'bob - 2026-02-01 - 7' })
  expect(named('select_item')).toEqual([{ name: 'select_item', list: 'recommended', item: bobs }])
  fireEvent.playing(document.querySelector('video') ?? document.body)
  fireEvent.playing(document.querySelector('video') ?? document.body)
  expect(named('begin_video').slice(1)).toEqual([{ name: 'begin_video', session: bobs }])
})

test('tracks the video again for the same session in a new visit', async () => {
  await open('/p/bob/2026-02-01/7')
  fireEvent.playing(document.querySelector('video') ?? document.body)
  fireEvent.click(screen.getByRole('link', { name: 'Home' }))
  await linkIn('Streamers')
  window.history.back()
  await screen.findByRole('heading', { level: 1, name: 'bob - 2026-02-01 - 7' })
  fireEvent.playing(document.querySelector('video') ?? document.body)
  expect(named('begin_video')).toHaveLength(2)
})

test('tracks the video once if its page gets another address', async () => {
  await open('/p/bob/2026-02-01/7')
  const video = document.querySelector('video') ?? document.body
  fireEvent.playing(video)
  window.history.pushState({ key: 'together', idx: 1 }, '', '/w/bob/2026-02-01/7')
  act(() => void window.dispatchEvent(new PopStateEvent('popstate')))
  await waitFor(() => expect(named('page_view')).toHaveLength(2))
  fireEvent.playing(video)
  expect(named('begin_video')).toHaveLength(1)
})

test('tracks nothing on a player page with missing parameters', async () => {
  await open('/p/Alice')
  expect(events).toEqual([])
})
