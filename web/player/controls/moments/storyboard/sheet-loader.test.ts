// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { SheetLoader } from './sheet-loader.ts'

/** jsdom loads no images: tests report the results of their requests. */
class TestImage {
  static readonly all: TestImage[] = []
  onload: (() => void) | null = null
  onerror: (() => void) | null = null
  #src = ''
  #failed = ''

  constructor() {
    TestImage.all.push(this)
  }

  /** Empty where nothing is requested. */
  get src(): string {
    return this.#src === this.#failed ? '' : this.#src
  }

  /** As in WebKit: a URL that has failed is not requested again before the attribute is removed. */
  set src(url: string) {
    this.#src = url
  }

  removeAttribute(): void {
    this.#src = ''
    this.#failed = ''
  }

  fail(): void {
    this.#failed = this.#src
    this.onerror?.()
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
  for (const image of TestImage.all) if (image.src !== '') image.fail()
  return urls
}

function finishLoading(url: string): void {
  TestImage.all.find(({ src }) => src === url)?.onload?.()
}

test('loads two sheets at a time, each once', () => {
  const loader = new SheetLoader()
  for (const url of ['a', 'b', 'a', 'c']) loader.request(url, 'later')
  expect(requested()).toEqual(['a', 'b'])
  const onChange = vi.fn<() => void>()
  loader.subscribe(onChange)
  finishLoading('a')
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

test('requests a failed sheet again, each time after twice the pause', () => {
  const loader = new SheetLoader()
  loader.request('a', 'later')
  const attempts = [0, 5000, 9999, 1, 20_000, 40_000].map((ms) => {
    vi.advanceTimersByTime(ms)
    return failAll()
  })
  expect(attempts).toEqual([['a'], ['a'], [], ['a'], ['a'], ['a']])
  expect(loader.isLoaded('a')).toBe(false)
})

test('requests a failed sheet at once if the visitor points at it', () => {
  const loader = new SheetLoader()
  loader.request('a', 'later')
  failAll()
  loader.request('a', 'later')
  expect(requested()).toEqual([])
  loader.request('a', 'now')
  expect(requested()).toEqual(['a'])
  finishLoading('a')
  vi.advanceTimersByTime(60_000)
  expect(loader.isLoaded('a')).toBe(true)
})

test('releases the sheets of an earlier storyboard', () => {
  const loader = new SheetLoader()
  for (const url of ['a', 'b', 'c']) loader.request(url, 'later')
  finishLoading('a')
  loader.retain(new Set(['a', 'c']))
  expect(loader.isLoaded('a')).toBe(true)
  expect(requested()).toEqual(['a', 'c'])
  loader.dispose()
  expect(loader.isLoaded('a')).toBe(false)
  expect(requested()).toEqual([])
})
