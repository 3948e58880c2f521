import { expect, test } from 'vitest'
import { nameTracks } from './track-names.ts'

test('names tracks by their languages', () => {
  const names = nameTracks([
    { label: 'Stereo', language: 'de' },
    { label: 'Commentary' },
    { label: 'Audio 3', language: 'und' },
    { label: '', language: '' },
    { label: 'Klingon', language: 'not a tag' },
  ])
  expect(names).toEqual(['Deutsch', 'Commentary', 'Audio 3', 'Track 4', 'Klingon'])
})

test('distinguishes tracks in the same language', () => {
  const names = nameTracks([
    { label: 'English', language: 'en' },
    { label: 'English (2)', language: 'en' },
    { label: 'Commentary', language: 'en' },
  ])
  expect(names).toEqual(['English', 'English (2)', 'English (Commentary)'])
})
