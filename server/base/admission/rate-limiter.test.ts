import { expect, test } from 'vitest'
import { networkOf } from './client.ts'
import { RateLimiter } from './rate-limiter.ts'

function createLimiter(requests: number) {
  const clock = { ms: 0 }
  return { clock, limiter: new RateLimiter({ requests, windowMs: 60_000, now: () => clock.ms }) }
}

test('rejects calls above the limit with the seconds to wait, then allows them', () => {
  const { clock, limiter } = createLimiter(2)
  expect([1, 2, 3].map(() => limiter.take('192.0.2.1'))).toEqual([0, 0, 60])
  clock.ms = 45_500
  expect(limiter.take('192.0.2.1')).toBe(15)
  expect(limiter.take('192.0.2.2')).toBe(0)
  clock.ms = 60_000
  expect(limiter.take('192.0.2.1')).toBe(0)
})

test.each([
  ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9'],
  ['2001:db8::1', '2001:0db8:0:0:1:2:3:4'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['fe80::1%eth0', 'fe80::2%eth0'],
])('takes %s and %s for one visitor', (first, second) => {
  const { limiter } = createLimiter(1)
  expect(limiter.take(first)).toBe(0)
  expect(limiter.take(second)).toBeGreaterThan(0)
})

test.each([
  ['2001:db8:1:2::1', '2001:db8:1:3::1'],
  ['::1', '192.0.2.1'],
])('keeps %s and %s apart', (first, second) => {
  const { limiter } = createLimiter(1)
  expect(limiter.take(first)).toBe(0)
  expect(limiter.take(second)).toBe(0)
})

test('keeps a bounded part of what is no address', () => {
  expect(networkOf('x'.repeat(16_000))).toHaveLength(64)
  expect(networkOf(undefined)).toBe('unknown')
})

test('stays bounded: among many addresses, the least recently seen is evicted', () => {
  const { limiter } = createLimiter(1)
  limiter.take('192.0.2.1')
  for (let i = 0; i < 10_000; i += 1) limiter.take(`10.0.${i >> 8}.${i & 255}`)
  expect(limiter.take('192.0.2.1')).toBe(0)
})
