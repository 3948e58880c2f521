import { expect, test } from 'vitest'
import { findNeighbours } from './neighbours.ts'

const ids = ['6', '5', '4', '3', '2', '1']
const sessions = ids.map((sessionId) => ({ date: '2026-01-31', sessionId, duration: '0:01:00' }))
const reference = (sessionId: string, date = '2026-01-31') => ({
  streamer: 'Alice',
  date,
  sessionId,
})

test('finds the older and the newer session of a list that is newest first', () => {
  const { previous, next } = findNeighbours(sessions, reference('5'))
  expect(previous).toEqual(reference('4'))
  expect(next).toEqual(reference('6'))
})

test('has no newer session than the first, and three older ones', () => {
  const { next, older } = findNeighbours(sessions, reference('6'))
  expect(next).toBeUndefined()
  expect(older).toEqual(['5', '4', '3'].map((id) => reference(id)))
})

test('has no older session than the last', () => {
  const { previous, next, older } = findNeighbours(sessions, reference('1'))
  expect([previous, older]).toEqual([undefined, []])
  expect(next).toEqual(reference('2'))
})

test('has no neighbours if the session is not listed', () => {
  const none = { previous: undefined, next: undefined, older: [] }
  expect(findNeighbours(sessions, reference('5', '2026-02-01'))).toEqual(none)
  expect(findNeighbours([], reference('5'))).toEqual(none)
})

test('names a neighbour by its title', () => {
  const titled = sessions.map((session) => ({ ...session, title: `No. ${session.sessionId}` }))
  expect(findNeighbours(titled, reference('5')).next).toEqual({ ...reference('6'), title: 'No. 6' })
})
