import fc from 'fast-check'
import { expect, test } from 'vitest'
import { endingOf, FOLDER_RANK, parseRecordingName, stripEndings } from './recording-name.ts'

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

const EXTENSIONS = ['.mp4', '.m4v', '.mov', '.ts', '.m2ts', '.mkv', '.webm', '.flv']

test('the ranks of complete files are before that of a folder, those of others after it', () => {
  expect(FOLDER_RANK).toBe(8)
  EXTENSIONS.forEach((extension, rank) => {
    expect(parseRecordingName(`a${extension}`)).toEqual({ base: 'a', rank })
    expect(parseRecordingName(`a.tmp${extension}`)).toEqual({ base: 'a', rank: rank + 9 })
    expect(endingOf(`a${extension.toUpperCase()}`)).toBe(extension)
  })
  expect(endingOf('a.txt')).toBeUndefined()
})

test.each([
  ['a.TMP.Mp4', 'a', 9],
  ['a.mp4.PART', 'a', 9],
  ['a.tmp.mp4.part', 'a', 9],
  ['a.f1.webm.part', 'a', 15],
  ['a.f9999.mp4.part', 'a', 9],
  ['a.f12345.mp4.part', 'a.f12345', 9],
  ['a.f137.b.mp4.part', 'a.f137.b', 9],
  ['a.f137.mp4', 'a.f137', 0],
  ['a.f140.mp4', 'a.f140', 0],
  ['a.f140x.mp4.part', 'a.f140x', 9],
  ['.tmp.mp4', '.tmp', 0],
])('%s is a recording', (name, base, rank) => {
  expect(parseRecordingName(name)).toEqual({ base, rank })
})

test.each([
  '.mp4',
  'mp4',
  'a.part',
  'a.mp4.part.part',
  'a.mp4 ',
  'a.mp3',
  ...[139, 140, 141, 171, 172, 249, 250, 251].map((format) => `a.f${format}.mp4.part`),
])('%s is none', (name) => {
  expect(parseRecordingName(name)).toBeUndefined()
})

test('the stripped name is the same in every state of a recording, and never empty', () => {
  const base = fc.constantFrom('a', 'a.b', '1001', 'v1.0', 'a.srt')
  const endings = fc.array(fc.constantFrom('.part', '.tmp', '.temp', '.TS', ...EXTENSIONS))
  fc.assert(
    fc.property(base, endings, (name, added) => {
      expect(stripEndings(name + added.join(''))).toBe(name)
    }),
  )
  expect(stripEndings('mp4')).toBe('mp4')
  expect(stripEndings('part.tmp.mp4')).toBe('part')
})
