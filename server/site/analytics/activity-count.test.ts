import { expect, test } from 'vitest'
import { playerPagePath, sessionKey, sessionsPagePath } from '../../../shared/paths.ts'
import { countOf } from './activity-count.ts'

const session = { streamer: 'a/b 100%', date: '2026-01-31', sessionId: 'späte Nacht' }
const isKnownSubject = (subject: { streamer: string; sessionId?: string }) =>
  subject.streamer === session.streamer &&
  (subject.sessionId === undefined || subject.sessionId === session.sessionId)

const view = (path: string) => countOf({ name: 'page_view', path, title: 'x' }, isKnownSubject)

test('counts a page view for what the page shows', () => {
  expect(view('/')).toMatchObject({ label: 'streamers', streamer: '', amount: 1 })
  expect(view(sessionsPagePath(session.streamer))).toMatchObject({
    label: 'sessions',
    streamer: session.streamer,
    sessionId: '',
  })
  expect(view(playerPagePath(session))).toMatchObject({ label: 'player', ...session })
  expect(view(`${playerPagePath(session)}/`)).toMatchObject({ label: 'player', ...session })
})

test.each([
  '/s/nobody',
  '/p/nobody/2026-01-31/1',
  '/p/a%2Fb%20100%25/2026-01-31/other',
  '/p/a%2Fb%20100%25',
  '/p/a%2Fb%20100%25/2026-01-31/sp%C3%A4te%20Nacht/more',
  '/s/%E0%A4%A',
  '/nowhere',
  '',
])('counts a view of %j, which does not exist, without its name', (path) => {
  expect(view(path)).toMatchObject({ label: 'other', streamer: '', date: '', sessionId: '' })
})

test('counts one name in both of its forms as one', () => {
  const path = playerPagePath({ ...session, sessionId: session.sessionId.normalize('NFD') })
  expect(view(path)).toEqual(view(playerPagePath(session)))
})

test('counts selected streamers and sessions, and begun videos', () => {
  const select = (list: 'streamers' | 'recommended', item: string) =>
    countOf({ name: 'select_item', list, item }, isKnownSubject)
  expect(select('streamers', session.streamer)).toMatchObject({ label: 'streamers', amount: 1 })
  expect(select('recommended', sessionKey(session))).toMatchObject(session)
  expect(countOf({ name: 'begin_video', ...session }, isKnownSubject)).toMatchObject(session)
})

test('counts nothing that was selected or begun of what the library does not have', () => {
  expect(
    countOf({ name: 'select_item', list: 'streamers', item: 'x' }, isKnownSubject),
  ).toBeUndefined()
  expect(
    countOf({ name: 'select_item', list: 'sessions', item: 'a/b' }, isKnownSubject),
  ).toBeUndefined()
  expect(
    countOf({ name: 'begin_video', ...session, sessionId: '2' }, isKnownSubject),
  ).toBeUndefined()
})

test('counts the items of lists, and house ads by creative and zone', () => {
  const items = ['a', 'b', 'c']
  expect(
    countOf({ name: 'view_item_list', list: 'sessions', items }, isKnownSubject),
  ).toMatchObject({
    label: 'sessions',
    amount: 3,
  })
  const ad = { name: 'ad_click', creative: 'tea', zone: 'banner' } as const
  expect(countOf(ad, isKnownSubject)).toMatchObject({
    name: 'ad_click',
    label: 'tea',
    zone: 'banner',
  })
})
