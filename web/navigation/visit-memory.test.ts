// @vitest-environment jsdom
import { beforeEach, expect, test } from 'vitest'
import { readVisitMemory, VisitMemory } from './visit-memory.ts'

const openStorage = () => sessionStorage

beforeEach(() => sessionStorage.clear())

test('stores the position of each visit separately', () => {
  const visits = new VisitMemory()
  visits.remember('a', { scrollTop: 400 })
  visits.remember('a', { seenShare: 0.5 })
  visits.remember('b', { scrollTop: 9 })
  expect(visits.recall('a')).toEqual({ scrollTop: 400, seenShare: 0.5 })
  expect(visits.recall('b')).toEqual({ scrollTop: 9, seenShare: 0 })
  expect(visits.recall('new')).toEqual({ scrollTop: 0, seenShare: 0 })
})

test('evicts the least recently changed of more than a hundred visits', () => {
  const visits = new VisitMemory()
  for (let i = 0; i < 100; i += 1) visits.remember(`k${i}`, { scrollTop: i + 1 })
  visits.remember('k0', { scrollTop: 7 })
  visits.remember('one more', { scrollTop: 8 })
  expect(visits.recall('k1').scrollTop).toBe(0)
  expect(visits.recall('k0').scrollTop).toBe(7)
  expect(visits.recall('k2').scrollTop).toBe(3)
})

test('reads at most a hundred visits', () => {
  const entries = Array.from({ length: 150 }, (_, i) => [`k${i}`, { scrollTop: 7, seenShare: 0 }])
  sessionStorage.setItem('aftercast.visits', JSON.stringify(entries))
  const visits = readVisitMemory(openStorage)
  expect(visits.recall('k49').scrollTop).toBe(0)
  expect(visits.recall('k50').scrollTop).toBe(7)
})

test('survives a reload', () => {
  const visits = new VisitMemory()
  visits.remember('a', { scrollTop: 400, seenShare: 0.5 })
  visits.save(openStorage)
  expect(readVisitMemory(openStorage).recall('a')).toEqual({
    scrollTop: 400,
    seenShare: 0.5,
  })
})

test.each(['{', '7', '[["a"]]', '[["a",{"scrollTop":"1","seenShare":0}]]'])(
  'starts empty if storage contains %s',
  (text) => {
    sessionStorage.setItem('aftercast.visits', text)
    expect(readVisitMemory(openStorage).recall('a').scrollTop).toBe(0)
  },
)

test('works without storage if the browser denies it', () => {
  const denied = (): Storage => {
    throw new DOMException('denied', 'SecurityError')
  }
  const visits = readVisitMemory(denied)
  visits.remember('a', { scrollTop: 1 })
  expect(() => visits.save(denied)).not.toThrow()
})
