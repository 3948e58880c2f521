import { expect, test } from 'vitest'
import { filterStreamers } from './filter-streamers.ts'

const streamers = ['Alice', 'BOB', 'Zoë', 'Élan vital', 'a.b*c'].map((name) => ({
  name,
  recording_count: 1,
}))

function search(query: string): string[] {
  return filterStreamers(streamers, query).map(({ name }) => name)
}

test('finds a substring of a name, case-insensitive', () => {
  expect(search('LIC')).toEqual(['Alice'])
  expect(search('ob')).toEqual(['BOB'])
})

test('returns the same array for an empty query', () => {
  expect(filterStreamers(streamers, '')).toBe(streamers)
  expect(filterStreamers(streamers, ' \t')).toBe(streamers)
})

test('ignores white space around the query, not within', () => {
  expect(search('  alice ')).toEqual(['Alice'])
  expect(search('n v')).toEqual(['Élan vital'])
})

test('finds a query in another Unicode normal form', () => {
  expect(search('zoe\u0308')).toEqual(['Zoë'])
  expect(search('e\u0301lan')).toEqual(['Élan vital'])
})

test('does not interpret pattern characters', () => {
  expect(search('.b*')).toEqual(['a.b*c'])
  expect(search('.*')).toEqual([])
})
