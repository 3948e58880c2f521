import { expect, test } from 'vitest'
import { parseLinkedRange, parseMoment } from './linked-range.ts'

test.each([
  ['3723', 3723],
  ['0', 0],
  ['1h2m3s', 3723],
  ['62m3s', 3723],
  ['90s', 90],
  ['1h', 3600],
  ['90m', 5400],
  ['1h90s', 3690],
  ['12.5', 12.5],
  ['1.5h', 5400],
  ['1m30.25s', 90.25],
  ['007', 7],
])('%s is %d seconds', (text, seconds) => {
  expect(parseMoment(text)).toBe(seconds)
})

test.each([
  '',
  ' ',
  '-5',
  '+5',
  '1e3',
  '0x10',
  'abc',
  's',
  'h',
  '1d',
  '1s2m',
  '2m1h',
  '1m1m',
  '1h30',
  '1:02:03',
  '.5',
  '5.',
  '1..5',
  '5 ',
  '٣',
  'Infinity',
  'NaN',
  '9'.repeat(400),
])('%j is ignored', (text) => {
  expect(parseMoment(text)).toBeUndefined()
})

test.each([
  ['', undefined, undefined],
  ['?t=10', 10, undefined],
  ['?t=10&end=1m', 10, 60],
  ['?end=20', undefined, 20],
  ['?end=20&t=10&x=1', 10, 20],
  ['?t=10&end=10', 10, undefined],
  ['?t=10&end=5', 10, undefined],
  ['?t=x&end=5', undefined, 5],
  ['?t=10&end=x', 10, undefined],
  ['?t=10&t=20', 10, undefined],
  ['?T=10', undefined, undefined],
  ['?end=0', undefined, undefined],
])('the query %j', (search, startSeconds, endSeconds) => {
  expect(parseLinkedRange(search)).toEqual({ startSeconds, endSeconds })
})
