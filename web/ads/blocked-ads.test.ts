// @vitest-environment jsdom
import { beforeEach, expect, test, vi } from 'vitest'
import { createBlockedAds } from './blocked-ads.ts'

const openStorage = () => sessionStorage
const denied = (): Storage => {
  throw new DOMException('denied', 'SecurityError')
}

beforeEach(() => sessionStorage.clear())

test('notifies subscribers once, until they unsubscribe', () => {
  const blocked = createBlockedAds(openStorage)
  const [first, second] = [vi.fn<() => void>(), vi.fn<() => void>()]
  blocked.subscribe(first)
  blocked.subscribe(second)()
  expect(blocked.read()).toBe(false)
  blocked.setBlocked()
  blocked.setBlocked()
  expect(blocked.read()).toBe(true)
  expect(first).toHaveBeenCalledTimes(1)
  expect(second).not.toHaveBeenCalled()
})

test('applies to later documents of the visit', () => {
  createBlockedAds(openStorage).setBlocked()
  expect(createBlockedAds(openStorage).read()).toBe(true)
})

test('applies to the document if the browser denies storage', () => {
  const blocked = createBlockedAds(denied)
  blocked.setBlocked()
  expect(blocked.read()).toBe(true)
  expect(createBlockedAds(denied).read()).toBe(false)
})
