// @vitest-environment jsdom
import { beforeEach, expect, test } from 'vitest'
import { readPreferences, savePreferences } from './preferences.ts'
import { readStartPreferences } from '../navigation/start-preferences.ts'

const startDefaults = { volume: 1, audio: '', quality: '', hasShortcuts: true }
const shown = { showsSubtitles: false, showsChat: false }
const defaults = { ...startDefaults, rate: 1, subtitles: '', ...shown }

beforeEach(() => localStorage.clear())

test('remembers each choice', () => {
  expect(readPreferences()).toEqual(defaults)
  savePreferences({ rate: 1.5 })
  savePreferences({ volume: 0.25, audio: 'en.2', quality: 'saver' })
  savePreferences({ subtitles: 'pt-BR', showsSubtitles: true })
  savePreferences({ hasShortcuts: false, showsChat: true })
  expect(readPreferences()).toEqual({
    rate: 1.5,
    volume: 0.25,
    audio: 'en.2',
    quality: 'saver',
    subtitles: 'pt-BR',
    showsSubtitles: true,
    showsChat: true,
    hasShortcuts: false,
  })
  const start = { volume: 0.25, audio: 'en.2', quality: 'saver', hasShortcuts: false }
  expect(readStartPreferences()).toEqual(start)
})

test.each([
  '{',
  '7',
  'null',
  '[]',
  '{"rate":"2","volume":2}',
  '{"rate":16,"volume":-1}',
  '{"audio":"en&x=1","subtitles":7,"showsSubtitles":"yes","hasShortcuts":0}',
  '{"audio":["en"],"quality":"a&b"}',
])('has defaults if storage contains %s', (text) => {
  localStorage.setItem('aftercast.player', text)
  expect(readPreferences()).toEqual(defaults)
})

test('has defaults if the browser denies storage', () => {
  const denied = (): Storage => {
    throw new DOMException('denied', 'SecurityError')
  }
  expect(() => savePreferences({ rate: 2 }, denied)).not.toThrow()
  expect(readPreferences(denied)).toEqual(defaults)
})
