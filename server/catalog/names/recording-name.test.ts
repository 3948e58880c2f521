import { expect, test } from 'vitest'
import { stripEndings } from './recording-name.ts'

test.each([
  ['a/1001.ts', 'a/1001'],
  ['a/1001.tmp.MP4', 'a/1001'],
  ['a/1001.mkv.part', 'a/1001'],
  ['a/1001.m2ts', 'a/1001'],
  ['a/1001.srt', 'a/1001.srt'],
  ['a/v1.0', 'a/v1.0'],
])('strips the endings of %s', (name, stable) => {
  expect(stripEndings(name)).toBe(stable)
})
