// @vitest-environment jsdom
import { act, renderHook } from '@testing-library/react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { useDelayed } from './use-delayed.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('is on after the delay, without interruption, and off at once', () => {
  const { result, rerender } = renderHook(({ isOn }) => useDelayed(isOn, 500), {
    initialProps: { isOn: true },
  })
  const advance = (ms: number) => act(() => void vi.advanceTimersByTime(ms))
  advance(499)
  expect(result.current).toBe(false)
  rerender({ isOn: false })
  rerender({ isOn: true })
  advance(499)
  expect(result.current).toBe(false)
  advance(1)
  expect(result.current).toBe(true)
  rerender({ isOn: false })
  expect(result.current).toBe(false)
  rerender({ isOn: true })
  expect(result.current).toBe(false)
})
