// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { SheetLoader } from './sheet-loader.ts'

/** jsdom loads no images: tests report the results of their requests. */
class TestImage {
  static readonly all: TestImage[] = []
  onload: (() => void) | null = null
  onerror: (() => void) | null = null
  src = ''

  constructor() {
    TestImage.all.push(this)
  }

  removeAttribute(): void {
    this.src = ''
  }
}

beforeEach(() => {
  TestImage.all.length = 0
  vi.useFakeTimers()
  vi.stubGlobal('Image', TestImage)
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

/** What is requested at present, in the order of the first requests. */
function requested(): string[] {
  return TestImage.all.map(({ src }) => src).filter((src) => src !== '')
}

/** The sheets whose requests fail now. */
function failAll(): string[] {
  const urls = requested()
  for (const image of TestImage.all) {
    if (image.src === '') continue
    image.src = ''
    image.onerror?.()
  }
  return urls
}

function settle(url: string, result: 'onload' | 'onerror'): void {
  TestImage.all.find(({ src }) => src === url)?.[result]?.()
}

test('loads two sheets at a time, each once', () => {
  const loader = new SheetLoader()
  for (const url of ['a', 'b', 'a', 'c']) loader.request(url, 'later')
  expect(requested()).toEqual(['a', 'b'])
  const onChange = vi.fn<() => void>()
  loader.subscribe(onChange)
  settle('a', 'onload')
  expect(onChange).toHaveBeenCalledOnce()
  expect(['a', 'b', 'c'].map((url) => loader.isLoaded(url))).toEqual([true, false, false])
  expect(requested()).toEqual(['a', 'b', 'c'])
})

test('loads at once what the visitor points at', () => {
  const loader = new SheetLoader()
  for (const url of ['a', 'b', 'c', 'd']) loader.request(url, 'later')
  loader.request('d', 'now')
  expect(requested()).toEqual(['a', 'b', 'd'])
})

test('tries a failed sheet three times, five seconds apart', () => {
  const loader = new SheetLoader()
  loader.request('a', 'later')
  const attempts = [0, 5000, 5000, 60_000].map((ms) => {
    vi.advanceTimersByTime(ms)
    return failAll()
  })
  expect(attempts).toEqual([['a'], ['a'], ['a'], []])
  expect(loader.isLoaded('a')).toBe(false)
})

test('releases the sheets of an earlier storyboard', () => {
  const loader = new SheetLoader()
  for (const url of ['a', 'b', 'c']) loader.request(url, 'later')
  settle('a', 'onload')
  loader.retain(new Set(['a', 'c']))
  expect(loader.isLoaded('a')).toBe(true)
  expect(requested()).toEqual(['a', 'c'])
  loader.dispose()
  expect(loader.isLoaded('a')).toBe(false)
  expect(requested()).toEqual([])
})
