// Reasons as the catalog stores them.
import { expect, test } from 'vitest'
import { formatStoredReason, parseStoredReason } from './stored-reason.ts'

test('parses what it formats', () => {
  const reason = { code: 'moov-missing', offsetBytes: 12 } as const
  expect(parseStoredReason(formatStoredReason(reason))).toEqual(reason)
})

test.each(['the file is empty', '{', 'null', '{"code":"unknown"}', '{"code":"moov-missing"}'])(
  'is undefined for %s',
  (stored) => {
    expect(parseStoredReason(stored)).toBeUndefined()
  },
)
