import { describe, expect, it } from 'vitest'
import { RepeatLimit } from './repeat-limit.ts'

function createLimit() {
  const clock = { nowMs: 0 }
  return { clock, limit: new RepeatLimit({ intervalMs: 1000, now: () => clock.nowMs }) }
}

describe('RepeatLimit', () => {
  it('distinguishes the first line, repeated ones, and those in excess', () => {
    const { limit } = createLimit()
    const found = Array.from({ length: 4 }, () => limit.count('disk', 3))
    expect(found).toEqual(['first', 'repeated', 'repeated', 'excess'])
    expect(limit.count('network', 3)).toBe('first')
  })

  it('starts again after the interval', () => {
    const { clock, limit } = createLimit()
    limit.count('disk', 1)
    clock.nowMs = 999
    expect(limit.count('disk', 1)).toBe('excess')
    clock.nowMs = 1000
    expect(limit.count('disk', 1)).toBe('first')
  })

  it('counts causes without end as one', () => {
    const { clock, limit } = createLimit()
    const count = (prefix: string) =>
      Array.from({ length: 10_000 }, (_, i) => limit.count(`${prefix} ${i}`, 1))
    expect(count('a').filter((found) => found === 'first')).toHaveLength(201)
    clock.nowMs = 1000
    expect(count('b').filter((found) => found === 'first').length).toBeGreaterThan(100)
  })
})
