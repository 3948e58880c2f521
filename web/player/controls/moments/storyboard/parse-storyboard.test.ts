import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseStoryboard } from './parse-storyboard.ts'

const folder = 'https://a.example/api/storyboard/Alice/2026-01-31/7'
const url = `${folder}/storyboard.vtt`

function cue(timing: string, reference: string): string {
  return `\n\n${timing}\n${reference}`
}

const first = cue('00:00:00.000 --> 00:00:10.000', 'tile-0.jpg#xywh=0,0,160,90')

test('reads times, images and regions', () => {
  const second = cue(
    '01:10.000 --> 100:00:00.500 line:0',
    'tile-1.jpg?v=2#xywh=pixel:160,90,160,90',
  )
  const text = `WEBVTT - storyboard\nX: y${first}\n\n7${second.slice(1)}\n`
  expect(parseStoryboard(text, url)).toEqual([
    {
      startSeconds: 0,
      endSeconds: 10,
      sheetUrl: `${folder}/tile-0.jpg`,
      x: 0,
      y: 0,
      width: 160,
      height: 90,
    },
    {
      startSeconds: 70,
      endSeconds: 360_000.5,
      sheetUrl: `${folder}/tile-1.jpg?v=2`,
      x: 160,
      y: 90,
      width: 160,
      height: 90,
    },
  ])
})

test.each(['\r\n', '\r'])('reads other line breaks: %j', (lineBreak) => {
  const text = `\uFEFFWEBVTT${first}`.replaceAll('\n', lineBreak)
  expect(parseStoryboard(text, url)).toHaveLength(1)
})

test.each([
  ['another host', 'https://b.example/tile-0.jpg#xywh=0,0,160,90'],
  ['a data URL', 'data:image/png;base64,AAAA#xywh=0,0,160,90'],
  ['a script', 'javascript:alert(1)#xywh=0,0,160,90'],
  ['another folder', '../8/tile-0.jpg#xywh=0,0,160,90'],
  ['no region', 'tile-0.jpg'],
  ['an empty region', 'tile-0.jpg#xywh=0,0,0,90'],
  ['a negative position', 'tile-0.jpg#xywh=-160,0,160,90'],
  ['a region in percent', 'tile-0.jpg#xywh=percent:0,0,10,10'],
  ['a huge region', 'tile-0.jpg#xywh=0,0,99999,90'],
  ['nothing', ''],
])('omits a cue with %s', (_, reference) => {
  const other = cue('00:00:10.000 --> 00:00:20.000', reference)
  expect(parseStoryboard(`WEBVTT${first}${other}`, url)).toHaveLength(1)
})

test.each([
  'without a time',
  '00:00:10 --> 00:00:20',
  '00:61:10.000 --> 00:62:00.000',
  '00:00:20.000 --> 00:00:20.000',
  '00:00:05.000 --> 00:00:20.000',
])('omits a cue with the timing %j', (timing) => {
  const other = cue(timing, 'tile-0.jpg#xywh=160,0,160,90')
  expect(parseStoryboard(`WEBVTT${first}${other}`, url)).toHaveLength(1)
})

test('is empty for what is not WebVTT, or too large', () => {
  expect(parseStoryboard(`<!doctype html>${first}`, url)).toEqual([])
  expect(parseStoryboard(`WEBVTTX${first}`, url)).toEqual([])
  expect(parseStoryboard(`WEBVTT${first}${' '.repeat(70_000)}`, url)).toEqual([])
})

test('has ordered frames for any input', () => {
  const line = fc.oneof(
    fc.string(),
    fc.constantFrom('', '\n', '00:00:01.000 --> 00:00:02.000', 'tile-0.jpg#xywh=0,0,1,1'),
  )
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      const frames = parseStoryboard(`WEBVTT\n\n${lines.join('\n')}`, url)
      const times = frames.flatMap(({ startSeconds, endSeconds }) => [startSeconds, endSeconds])
      expect(times).toEqual(times.toSorted((a, b) => a - b))
    }),
  )
})
