// @vitest-environment jsdom
import { act, cleanup, fireEvent, renderHook } from '@testing-library/react'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Command } from './shortcuts.ts'
import { useShortcuts } from './use-shortcuts.ts'

let video: HTMLVideoElement
let commands: Command['name'][]
const run = ({ name }: Command): void => void commands.push(name)

beforeEach(() => {
  localStorage.clear()
  commands = []
  video = document.body.appendChild(document.createElement('video'))
  video.tabIndex = 0
})

afterEach(() => {
  cleanup()
  video.remove()
})

/** Whether the key is left to the browser. */
function press(target: Element, key: string, repeat = false): boolean {
  return fireEvent.keyDown(target, { key, repeat })
}

test('toggles once while Space is held down, on the video and on the page', () => {
  renderHook(() => useShortcuts(video, run))
  video.focus()
  for (const target of [video, document.body]) {
    expect(press(target, ' ')).toBe(false)
    expect(press(target, ' ', true)).toBe(false)
  }
  expect(commands).toEqual(['toggle', 'toggle'])
})

test('repeats a seek while its key is held down', () => {
  renderHook(() => useShortcuts(video, run))
  press(video, 'l')
  press(video, 'l', true)
  expect(commands).toEqual(['seek by', 'seek by'])
})

test('leaves all keys to the browser once they are turned off, also in the next session', () => {
  const { result, unmount } = renderHook(() => useShortcuts(video, run))
  const keys = [' ', 'k', '?', '1', 'ArrowRight', 'm']
  act(() => result.current.choose(false))
  expect(keys.filter((key) => !press(document.body, key))).toEqual([])
  unmount()
  const next = renderHook(() => useShortcuts(video, run))
  expect(next.result.current.isOn).toBe(false)
  expect(keys.filter((key) => !press(document.body, key))).toEqual([])
  act(() => next.result.current.choose(true))
  expect(keys.filter((key) => press(document.body, key))).toEqual([])
  expect(commands).toHaveLength(keys.length)
})
