import { expect, it } from 'vitest'
import { limitRequests, readRequested } from './requested-sessions.ts'

const session = (sessionId: string) => ({ streamer: 'alice', date: '2026-02-01', sessionId })

it('reports a session once per interval, with nothing but its names', () => {
  let nowMs = 1000
  const reported: object[] = []
  const request = limitRequests(
    (one) => reported.push(one),
    () => nowMs,
  )
  const row = { ...session('1'), path: 'private' }
  for (let visit = 0; visit < 5; visit += 1) request(row)
  request(session('2'))
  expect(reported).toEqual([session('1'), session('2')])
  nowMs += 31_000
  request(session('1'))
  expect(reported).toHaveLength(3)
})

it('remembers a limited number of sessions', () => {
  const reported: object[] = []
  const request = limitRequests((one) => reported.push(one))
  for (let i = 0; i < 2000; i += 1) request(session(`${i}`))
  request(session('1999'))
  expect(reported).toHaveLength(2000)
  request(session('0'))
  expect(reported).toHaveLength(2001)
})

it('reads the messages of workers', () => {
  expect(readRequested({ requested: session('1') })).toEqual(session('1'))
  for (const other of [{ url: 'http://127.0.0.1' }, { requested: 1 }, 'walked', undefined, null]) {
    expect(readRequested(other)).toBeUndefined()
  }
})
