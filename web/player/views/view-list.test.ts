import { expect, test } from 'vitest'
import { formatViews, parseViews, viewsFrom } from './view-list.ts'

const named = (streamer: string) => ({ streamer, date: '2026-01-31', sessionId: 'late night' })
const own = named('alice')
const bob = { ...named('b,@/ö'), shiftSeconds: -1.5 }
const eve = { ...named('eve'), shiftSeconds: 0 }

test('what was formatted is parsed', () => {
  expect(formatViews([eve])).toBe('eve/2026-01-31/late%20night')
  expect(parseViews(formatViews([bob, eve]), own)).toEqual([bob, eve])
})

test.each([
  '',
  ',',
  '@',
  'eve',
  'eve/x',
  'eve/x/y/z',
  '%/x/y',
  'a/b/c@x',
  'a/b/c@1e9',
  '//',
  'a/b/c@',
])('what is malformed is left out: %j', (value) => {
  const parsed = parseViews(`${value},${formatViews([eve])}`, own)
  expect(parsed.filter(({ streamer }) => streamer !== 'a')).toEqual([eve])
})

test('there are at most three, each once, and not the session of the page', () => {
  const views = ['alice', 'a', 'a', 'b', 'c', 'd'].map((name) => ({
    ...named(name),
    shiftSeconds: 0,
  }))
  expect(parseViews(formatViews(views), own).map(({ streamer }) => streamer)).toEqual([
    'a',
    'b',
    'c',
  ])
})

test('the page of a view shows the same moments', () => {
  expect(viewsFrom(bob, own, [bob, { ...eve, shiftSeconds: 2 }])).toEqual([
    { ...own, shiftSeconds: 1.5 },
    { ...eve, shiftSeconds: 3.5 },
  ])
})

test('no view is lost by a change of the page, however far apart they are', () => {
  const views = [
    { ...bob, shiftSeconds: 3600 },
    { ...eve, shiftSeconds: -3600 },
  ]
  const others = viewsFrom(views[0] ?? bob, own, views)
  expect(parseViews(formatViews(others), bob)).toEqual(others)
})
