// @vitest-environment jsdom
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { readPreferences, savePreferences } from '../../preferences.ts'
import {
  rememberedSubtitles,
  rememberSubtitles,
  showRememberedSubtitles,
  showSubtitles,
  toggleSubtitles,
} from './subtitle-choice.ts'

beforeEach(() => localStorage.clear())

/** A video whose text tracks a test sets: jsdom has none. */
function videoWith(...languages: string[]) {
  const tracks = Object.assign(
    new EventTarget() as EventTarget & { [Symbol.iterator](): Iterator<object> },
    {
      list: [
        { kind: 'metadata', language: '', mode: 'hidden' },
        ...languages.map((language) => ({ kind: 'subtitles', language, mode: 'disabled' })),
      ],
      *[Symbol.iterator]() {
        yield* this.list
      },
    },
  )
  const video = document.createElement('video')
  Object.defineProperty(video, 'textTracks', { value: tracks })
  const shown = () => tracks.list.filter(({ mode }) => mode === 'showing').map((t) => t.language)
  const dispatch = (type: string) => tracks.dispatchEvent(new Event(type))
  return { video, tracks, shown, dispatch }
}

test('shows one track, or none', () => {
  const { video, tracks, shown } = videoWith('en', 'de')
  showSubtitles(video, 1)
  expect(shown()).toEqual(['de'])
  showSubtitles(video, -1)
  expect(shown()).toEqual([])
  expect(tracks.list[0]?.mode).toBe('hidden')
})

test('toggles the remembered subtitles, else the first', () => {
  const { video, shown } = videoWith('en', 'de')
  toggleSubtitles(video)
  expect(shown()).toEqual(['en'])
  toggleSubtitles(video)
  expect(shown()).toEqual([])
  savePreferences({ subtitles: 'de' })
  toggleSubtitles(video)
  expect(shown()).toEqual(['de'])
})

test('remembers what is shown and hidden with whatever control, not what is removed', () => {
  const { video, tracks, dispatch } = videoWith('en', '', '')
  const end = rememberSubtitles(video)
  dispatch('change')
  expect(localStorage.length).toBe(0)
  showSubtitles(video, 2)
  dispatch('change')
  expect(readPreferences()).toMatchObject({ subtitles: 'und.2', showsSubtitles: true })
  const { list } = tracks
  tracks.list = []
  dispatch('removetrack')
  dispatch('change')
  expect(readPreferences().showsSubtitles).toBe(true)
  tracks.list = list
  dispatch('change')
  showSubtitles(video, -1)
  dispatch('change')
  expect(readPreferences()).toMatchObject({ subtitles: 'und.2', showsSubtitles: false })
  end()
})

test('hides the subtitles at the end without forgetting them', () => {
  const { video, shown, dispatch } = videoWith('en')
  const end = rememberSubtitles(video)
  showSubtitles(video, 0)
  dispatch('change')
  end()
  dispatch('change')
  expect(shown()).toEqual([])
  expect(readPreferences().showsSubtitles).toBe(true)
})

test('remembers a choice whose event has not been sent at the end', () => {
  const { video } = videoWith('en')
  const end = rememberSubtitles(video)
  showSubtitles(video, 0)
  end()
  expect(readPreferences()).toMatchObject({ subtitles: 'en', showsSubtitles: true })
})

test('has no remembered subtitles while they are hidden, or in other languages', () => {
  const tracks = [{ language: 'en' }, { language: 'de' }]
  savePreferences({ subtitles: 'de' })
  expect(rememberedSubtitles(tracks)).toBe(-1)
  savePreferences({ showsSubtitles: true })
  expect(rememberedSubtitles(tracks)).toBe(1)
  savePreferences({ subtitles: 'fr' })
  expect(rememberedSubtitles(tracks)).toBe(-1)
})

test('shows the remembered subtitles of native HLS, again after another source', () => {
  savePreferences({ subtitles: 'de', showsSubtitles: true })
  const { video, tracks, shown, dispatch } = videoWith('en', 'de')
  onTestFinished(showRememberedSubtitles(video))
  expect(shown()).toEqual(['de'])
  tracks.list = tracks.list.map((track) => ({ ...track, mode: 'disabled' }))
  dispatch('addtrack')
  expect(shown()).toEqual(['de'])
})
