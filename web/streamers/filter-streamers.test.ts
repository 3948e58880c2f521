import { expect, test } from 'vitest'
import { filterStreamers } from './filter-streamers.ts'

const streamers = ['Alice', 'BOB', 'Zoë', 'Élan vital', 'a.b*c'].map((name) => ({
  name,
  recording_count: 1,
}))

function search(query: string): string[] {
  return filterStreamers(streamers, query).map(({ name }) => name)
}

test('finds a part of a name in any case', () => {
  expect(search('LIC')).toEqual(['Alice'])
  expect(search('ob')).toEqual(['BOB'])
})

test('keeps all for an empty query, as the same list', () => {
  expect(filterStreamers(streamers, '')).toBe(streamers)
})

test('finds what was typed in the other unicode form', () => {
  expect(search('zoe\u0308')).toEqual(['Zoë'])
  expect(search('e\u0301lan')).toEqual(['Élan vital'])
})

test('takes signs of patterns as they are', () => {
  expect(search('.b*')).toEqual(['a.b*c'])
  expect(search('.*')).toEqual([])
})
