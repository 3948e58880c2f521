// @vitest-environment jsdom
import { expect, test } from 'vitest'
import { momentUrl } from './use-copied-link.ts'

const linkAt = (path: string, seconds: number) => {
  window.history.replaceState(null, '', path)
  return momentUrl(seconds).replace(window.location.origin, '')
}

test('links to a moment of the session', () => {
  expect(linkAt('/p/alice/2026-01-31/1?t=5&end=9', 7)).toBe('/p/alice/2026-01-31/1?t=7')
  expect(linkAt('/p/alice/2026-01-31/1?t=5', 0)).toBe('/p/alice/2026-01-31/1')
})

test('links to the same sessions beside it', () => {
  const path = '/w/alice/2026-01-31/1?with=bob%2F2026-01-31%2F2%40-1.5'
  expect(linkAt(`${path}&t=5`, 7)).toBe(`${path}&t=7`)
})
