// The cost of every parser of text from outside grows linearly with the text; VAST is in
// web/ads/preroll/vast.test.ts.
import { afterAll, describe, expect, it } from 'vitest'
import { activityEvents } from '../shared/contract.ts'
import { countOf } from '../server/site/analytics/activity-count.ts'
import { networkOf } from '../server/base/admission/client.ts'
import { parseCreatives } from '../server/site/ads/house/creatives.ts'
import { parseLayoutTemplate } from '../server/library/catalog/names/layout-template.ts'
import { parseRecordingName, stripEndings } from '../server/library/catalog/names/recording-name.ts'
import { isOwnHost } from '../server/app/metrics/private-listener.ts'
import { loadConfig } from '../server/base/config/load-config.ts'
import { listConfigOptions } from '../server/base/config/options.ts'
import { decodableUrl } from '../server/site/http/connections/malformed-request.ts'
import { parseOembedRequest } from '../server/site/http/pages/oembed.ts'
import { planByteResponse } from '../server/site/http/responses/byte-response.ts'
import { addVary, chooseEncoding } from '../server/site/http/responses/text-response.ts'
import { parseTarget } from '../server/site/http/site/base-path.ts'
import { parseSubtitles } from '../server/media/codec/subtitle-file.ts'
import { escapeSrt } from '../server/media/codec/webvtt-text.ts'
import { cueText } from '../server/media/matroska/scan/cue-list.ts'
import { parseRecordedPlaylist } from '../server/media/recorded/recorded-playlist.ts'
import { ChaptersVttParser } from '../server/library/metadata/chapters-vtt.ts'
import { InfoJsonParser } from '../server/library/metadata/info-json.ts'
import { NfoParser } from '../server/library/metadata/nfo.ts'
import type { SidecarParser } from '../server/library/metadata/sidecar-parser.ts'
import { StreamerJsonParser } from '../server/library/metadata/streamer-json.ts'
import { chooseImageFormat } from '../server/decode/thumbnails/image-format.ts'
import { CostCounter } from './support/cost/count-cost.ts'
import { findSlowText, isLinear } from './support/cost/find-slow-text.ts'
import type { Parse } from './support/cost/find-slow-text.ts'

const counter = new CostCounter()
afterAll(() => counter.close())

describe('the counter detects', () => {
  const slow: Record<string, Parse> = {
    'a regular expression that backtracks': (text) => text.replace(/a+$/, ''),
    'one whose matches are short': (text) => [...text.matchAll(/a[^b]*b|a/g)].length,
    'a lookahead over the rest': (text) => text.match(/a(?=.*c)/g),
    'repeated slices': (text) => {
      for (let rest = text; rest !== ''; rest = rest.slice(1));
    },
    'repeated searches': (text) => {
      for (let at = 0; at < text.length; at += 1) text.indexOf('c', at)
    },
    'a concatenation that is read each time': (text) => {
      let all = ''
      for (const character of text) all = (all + character).trimEnd()
    },
    'entries taken from the start of a list': (text) => {
      const list = text.split('')
      while (list.length > 0) list.shift()
    },
    'copies of a list': (text) => {
      let list: string[] = []
      for (const character of text) list = [...list, character]
    },
    'copies of bytes': (text) => {
      let bytes = Buffer.alloc(0)
      for (const character of text) bytes = Buffer.concat([bytes, Buffer.from(character)])
    },
    'loops inside of loops': (text) => {
      let equal = 0
      for (const one of text) for (const other of text) if (one === other) equal += 1
      return equal
    },
  }
  it.each(Object.entries(slow))('%s', (_name, parse) => {
    const family = { start: '', first: 'a', second: '', end: 'x' }
    expect(isLinear(counter, parse, family)).toBe(false)
  })

  it('nothing in linear work', () => {
    const parse: Parse = (text) =>
      text
        .split(/\s*(?<!\s),/)
        .map((part) => part.trim().replaceAll(/[ab]+/g, 'x'))
        .toSorted()
        .join('')
    expect(isLinear(counter, parse, { start: '', first: 'ab , ', second: 'b', end: 'x' })).toBe(
      true,
    )
  })
})

const markup = ['<', '</', '>', '/', 'a', 'b', ' ', '{', '}', '\\p1', '\\', '&', '&lt;', '\0']
const lines = ['\r', '\n', '\r\n', '\u2028', ' ', '\t']
const cue = '00:00:01,000 --> 00:00:02,000\n'
const subtitles = [...markup, ...lines, cue, '00:00:01.000', '-->', '1', ',', ':', 'WEBVTT\n']
const json = [
  '{',
  '}',
  '[',
  ']',
  '"',
  '\\',
  '\\u0041',
  ':',
  ',',
  '1',
  'e',
  '-',
  '.',
  'true',
  ' ',
  'a',
]
const list = [
  ',',
  ';',
  'q=',
  '0.5',
  '*',
  '/',
  ' ',
  '\t',
  'br',
  'gzip',
  'image/webp',
  '=',
  '"',
  'W/',
]
const path = [
  '/',
  '%',
  '%2F',
  '%C3',
  '..',
  '.',
  'p',
  's',
  'a',
  '?',
  '#',
  '&',
  '=',
  't',
  '1',
  ':',
  '@',
]

const sidecar =
  (create: () => SidecarParser<unknown>): Parse =>
  (text) => {
    const parser = create()
    parser.add(Buffer.from(text))
    return parser.end()
  }
const block =
  (format: 'srt' | 'ass' | 'webvtt' | 'webm-vtt'): Parse =>
  (text) =>
    cueText({ number: 1, format, isZlib: false, isDefault: false }, Buffer.from(`,,,,,,,,${text}`))
const withNothing = { flags: {}, workingFolder: '/', cpuCount: 1 }
const config: Parse = (text) => {
  const names = listConfigOptions().flatMap(({ environment }) => environment ?? [])
  return loadConfig({
    ...withNothing,
    environment: Object.fromEntries(names.map((name) => [name, text])),
  })
}

describe('the cost is linear of what took quadratic time:', () => {
  it.each<[string, Parse, [string, string, string]]>([
    ['a tag without end', escapeSrt, ['<', 'a', '']],
    ['drawings in ASS', block('ass'), ['{', '\\p1', '}']],
    [
      'a path of slashes',
      (path) => countOf({ name: 'page_view', path, title: '' }, () => true),
      ['', '/', 'x'],
    ],
    ['white space in Vary', (text) => addVary(text, 'Origin'), ['', ' ', 'x']],
    ['endings of a name', stripEndings, ['', '.ts', 'x']],
  ])('%s', (_name, parse, [start, first, end]) => {
    expect(isLinear(counter, parse, { start, first, second: '', end })).toBe(true)
  })
})

describe('the cost is linear of', () => {
  it.each<[string, Parse, readonly string[]]>([
    ['SRT', (text) => parseSubtitles(Buffer.from(text), 'srt'), subtitles],
    ['WebVTT', (text) => parseSubtitles(Buffer.from(text), 'vtt'), subtitles],
    ['SRT with one cue', (text) => parseSubtitles(Buffer.from(cue + text), 'srt'), markup],
    ['SRT in a block', block('srt'), subtitles],
    ['ASS in a block', block('ass'), subtitles],
    ['WebVTT in a block', block('webm-vtt'), subtitles],
    ['chapters', sidecar(() => new ChaptersVttParser()), [...subtitles, 'WEBVTT\n\n']],
    [
      'NFO',
      sidecar(() => new NfoParser()),
      [
        ...markup,
        '<movie>',
        '<title>',
        '</title>',
        '<!--',
        '-->',
        '<![CDATA[',
        ']]>',
        '<?',
        '?>',
      ].concat(['<!DOCTYPE a [', '<!ENTITY a "b">', ']', '=', '"', '\n']),
    ],
    ['.info.json', sidecar(() => new InfoJsonParser()), [...json, '"title":', '"chapters":[']],
    ['streamer.json', sidecar(() => new StreamerJsonParser()), [...json, '"name":', '"links":[']],
    [
      'm3u8',
      (text) => parseRecordedPlaylist(`#EXTM3U\n${text}`),
      ['#EXTINF:1,\n', 'a.ts\n', '#EXT-X-KEY:METHOD=AES-128,URI="k"\n', '#EXT-X-MAP:URI="i"\n']
        .concat(['#EXT-X-BYTERANGE:1@0\n', '#EXT-X-DISCONTINUITY\n', '#EXT-X-DATERANGE:ID="a"'])
        .concat(['#EXT-X-STREAM-INF:BANDWIDTH=1\n', '#EXT-X-MEDIA:TYPE=AUDIO', '#', ...lines])
        .concat(['=', '"', ',', 'A', '1', '.', ':', '../']),
    ],
    [
      'a URL for oEmbed',
      (text) => parseOembedRequest({ url: text }, 'https://a.example'),
      ['https://a.example/p/a/b/c', '?t=', 'end=', '1h', ...path],
    ],
    ['Accept-Encoding', chooseEncoding, list],
    ['Accept', chooseImageFormat, list],
    ['Vary', (text) => addVary(text, 'Origin'), list],
    [
      'Range',
      (range) => planByteResponse({ range }, { etag: '"a"', sizeBytes: 1000 }),
      ['bytes=', '-', '0', '9', ',', ' '],
    ],
    [
      'If-None-Match',
      (text) => planByteResponse({ 'if-none-match': text }, { etag: '"a"', sizeBytes: 1000 }),
      list,
    ],
    ['Host', (text) => isOwnHost(text, ['a.example']), [...path, '[', ']', '[::1]', 'localhost']],
    ['X-Forwarded-For', networkOf, [':', '::', '%', 'f', '0', '.', '::ffff:', '1.1.1.1', ',']],
    [
      'a request line',
      (text) => parseTarget(decodableUrl(text), '/tv'),
      ['http://', '/tv', ...path],
    ],
    [
      'an event',
      (text) => {
        const event = { name: 'page_view' as const, path: text, title: text }
        activityEvents([event, { name: 'select_item', list: 'sessions', item: text }])
        return countOf(event, () => true)
      },
      path,
    ],
    ['the environment', config, ['/', ',', '"', '{', '*', ':', '1', 'a', '\n', '%', '@', '.']],
    [
      'the configuration file',
      (text) =>
        loadConfig({
          ...withNothing,
          environment: {},
          file: { path: '/config.json', value: JSON.parse(text) as unknown },
        }),
      [...json, '{"server":{"port":', '{"ads":{"hosts":["'],
    ],
    [
      'a layout',
      (text) => parseLayoutTemplate(text, { streamer: 'optional' }),
      ['{', '}', '{streamer}', '{date}', '/', '-', '_', '*', '.', 'a'],
    ],
    [
      'the name of a recording',
      (text) => [parseRecordingName(text), stripEndings(text)],
      ['.', '.ts', '.mp', '4', 'a', '-', '2026', ' '],
    ],
    ['the list of house ads', parseCreatives, [...json, '"id":', '"banners":[']],
  ])('%s', (_name, parse, tokens) => {
    expect(findSlowText(counter, parse, tokens)).toBeUndefined()
  })
})
