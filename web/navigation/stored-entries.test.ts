// @vitest-environment jsdom
import { afterEach, expect, test } from 'vitest'
import { createStoredEntries } from './stored-entries.ts'

const session = { streamer: 'Alice', date: '2026-01-31', sessionId: '7' }

/** The entries of the site below a base path. */
function entriesAt(basePath: string) {
  if (basePath !== '') document.documentElement.dataset.basePath = basePath
  const isValid = (values: unknown[]): values is [number] => values.length === 1
  return createStoredEntries({ storageKey: 'aftercast.test', limit: 9, isValid })
}

afterEach(() => {
  delete document.documentElement.dataset.basePath
  localStorage.clear()
})

test('two sites of one origin have lists of their own', () => {
  const [root, tv] = [entriesAt(''), entriesAt('/tv')]
  root.write(session, [1])
  tv.write(session, [2])
  expect([root.find(session), tv.find(session)]).toEqual([[1], [2]])
  expect(localStorage.getItem('aftercast.test')).toBe('[["Alice/2026-01-31/7",1]]')
})

test('reads at most as many entries as it writes', () => {
  const stored = Array.from({ length: 20 }, (_, at) => [`Alice/2026-01-31/${at}`, at])
  localStorage.setItem('aftercast.test', JSON.stringify(stored))
  const entries = entriesAt('')
  expect(entries.read()).toHaveLength(9)
  expect(entries.find({ ...session, sessionId: '19' })).toEqual([19])
  expect(entries.find({ ...session, sessionId: '10' })).toBeUndefined()
})
