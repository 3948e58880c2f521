// The parsers of all kinds of sidecars: what they return of real files, and of any bytes.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MAX_CHAPTERS } from './chapters.ts'
import { ChaptersVttParser } from './chapters-vtt.ts'
import { MAX_DESCRIPTION_LENGTH, MAX_TITLE_LENGTH } from '../../base/clean-text.ts'
import { InfoJsonParser } from './info-json.ts'
import { NfoParser } from './nfo.ts'
import type { SidecarParser } from './sidecar-parser.ts'
import { StreamerJsonParser } from './streamer-json.ts'

function parse<Value>(
  parser: SidecarParser<Value>,
  text: string | Uint8Array,
  size = 65_536,
): Value | undefined {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) {
    if (!parser.add(bytes.subarray(at, at + size))) break
  }
  return parser.end()
}

const parseInfo = (value: unknown) => parse(new InfoJsonParser(), JSON.stringify(value))
const parseNfo = (text: string, size?: number) => parse(new NfoParser(), text, size)
const parseVtt = (text: string, size?: number) => parse(new ChaptersVttParser(), text, size)
const parseStreamer = (value: unknown) =>
  parse(new StreamerJsonParser(), JSON.stringify(value))?.text

describe('.info.json', () => {
  it('has title, description, start and chapters', () => {
    expect(
      parseInfo({
        id: 'x',
        title: ' Evening  stream\n',
        fulltitle: 'other',
        description: 'First line\r\nsecond line',
        timestamp: 1_769_890_500,
        formats: [{ title: 'no' }],
        chapters: [
          { start_time: 60, end_time: 120.0004, title: 'Game' },
          { start_time: 0, end_time: 60, title: 'Intro' },
        ],
      }),
    ).toEqual({
      title: 'Evening stream',
      description: 'First line\nsecond line',
      startMs: 1_769_890_500_000,
      chapters: [
        { startSeconds: 0, endSeconds: 60, title: 'Intro' },
        { startSeconds: 60, endSeconds: 120, title: 'Game' },
      ],
    })
  })

  it('has the best start of several', () => {
    const startMs = Date.UTC(2026, 0, 31, 20, 15)
    const created = { created_at: '2026-01-31T21:15:00+01:00' }
    const started = { ...created, started_at: '2026-01-31T20:00:00Z' }
    expect(parseInfo({ ...created, started_at: '2026-01-31' })?.startMs).toBe(startMs)
    expect(parseInfo(started)?.startMs).toBe(startMs - 900_000)
    expect(parseInfo({ ...started, timestamp: startMs / 1000 })?.startMs).toBe(startMs)
    const released = { release_timestamp: startMs / 1000 + 60, timestamp: startMs / 1000 }
    expect(parseInfo(released)?.startMs).toBe(startMs + 60_000)
    expect(parseInfo({ ...released, release_timestamp: null })?.startMs).toBe(startMs)
  })

  it('has settings of the chat', () => {
    const settingsOf = (value: object) => parseInfo({ title: 'a', ...value })
    expect(settingsOf({ chat: 'off', chatOffsetSeconds: -2.5 })).toMatchObject({
      chat: false,
      chatOffsetSeconds: -2.5,
    })
    expect(settingsOf({ chat: 'on' })).toMatchObject({ chat: true })
    const others = settingsOf({ chat: 'maybe', chatOffsetSeconds: 1e9 })
    expect(others).toEqual({ title: 'a', chapters: [] })
  })

  it('uses fulltitle if there is no title', () => {
    expect(parseInfo({ title: '', fulltitle: 'Full' })).toEqual({ title: 'Full', chapters: [] })
  })

  it('has the game, else the first category', () => {
    const categories = ['Just Chatting', 'Other']
    expect(parseInfo({ game: ' A\u202E\nB ', categories })?.game).toBe('A B')
    expect(parseInfo({ game: 7, categories })?.game).toBe('Just Chatting')
    expect(parseInfo({ game: 'x'.repeat(1000) })?.game).toBe('x'.repeat(MAX_TITLE_LENGTH))
    const none = [{}, { game: '', categories: 'A' }, { categories: [] }, { categories: [null] }]
    for (const info of none) expect(parseInfo(info)).toEqual({ chapters: [] })
  })

  it('has no field of another type', () => {
    const wrong = { title: 1, description: ['x'], timestamp: '1769890500', chapters: { a: 1 } }
    expect(parseInfo(wrong)).toEqual({ chapters: [] })
    expect(parseInfo({ chapters: [null, 1, 'a', {}, { start_time: 'x' }] })).toEqual({
      chapters: [],
    })
    expect(parseInfo({ timestamp: -5 })).toEqual({ chapters: [] })
  })

  it('leaves out chapters with invalid times, and names those without a title', () => {
    const chapters = [
      { start_time: -1, title: 'a' },
      { start_time: 1e300, title: 'b' },
      { start_time: 5, end_time: 5, title: '' },
      { start_time: 5, end_time: 9, title: 'again' },
    ]
    expect(parseInfo({ chapters })?.chapters).toEqual([{ startSeconds: 5, title: 'Chapter 1' }])
  })

  it('limits lengths and numbers', () => {
    const chapters = Array.from({ length: 5000 }, (_, at) => ({ start_time: at, title: 'x' }))
    const info = parseInfo({ title: 'x'.repeat(1000), description: '😀'.repeat(5000), chapters })
    expect(info?.title).toBe('x'.repeat(MAX_TITLE_LENGTH))
    expect(info?.description).toBe('😀'.repeat(MAX_DESCRIPTION_LENGTH / 2))
    expect(info?.chapters).toHaveLength(MAX_CHAPTERS)
  })

  it('removes control and bidi override characters, and preserves markup as text', () => {
    const title = 'a\u0000b\u202Ec\u2066d\u001B[31m\u009Be <b>&amp;</b> \uD800'
    expect(parseInfo({ title })?.title).toBe('abcd[31me <b>&amp;</b>')
  })
})

describe('.nfo', () => {
  const nfo = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <episodedetails>
      <title>Evening &amp; more</title>
      <plot><![CDATA[<b>Not</b> HTML]]>
second &#x3c;line&gt;</plot>
      <premiered>2026-01-31</premiered>
      <actor><title>An actor</title></actor>
    </episodedetails>`

  it('has title, plot, and a start only with a time and a zone', () => {
    const text = { title: 'Evening & more', description: '<b>Not</b> HTML\nsecond <line>' }
    expect(parseNfo(nfo)).toEqual(text)
    expect(parseNfo(nfo, 1)).toEqual(text)
    const timed = nfo.replace('2026-01-31', '2026-01-31T20:15:00+01:00')
    expect(parseNfo(timed)).toEqual({ ...text, startMs: Date.UTC(2026, 0, 31, 19, 15) })
  })

  it('may have a URL after its root', () => {
    expect(parseNfo(`${nfo}\nhttps://example.com/x?a=1&b=2`)).toHaveProperty('title')
  })

  it.each([
    ['an entity that it declares', '<!DOCTYPE m [<!ENTITY a "lol">]><m><title>&a;</title></m>'],
    ['an external entity', '<!DOCTYPE m [<!ENTITY a SYSTEM "file:///etc/passwd">]><m>&a;</m>'],
    ['no end', '<movie><title>x</title>'],
    ['wrong nesting', '<movie><title>x</movie></title>'],
    ['no XML', 'https://example.com/x'],
    ['too much text', `<m><plot>${'x'.repeat(1_100_000)}</plot></m>`],
    ['too many levels', '<a>'.repeat(1000) + '</a>'.repeat(1000)],
    ['too many attributes', `<a ${Array.from({ length: 99 }, (_, at) => `b${at}=""`).join(' ')}/>`],
  ])('is ignored with %s', (_name, text) => {
    expect(parseNfo(text)).toBeUndefined()
  })
})

describe('.chapters.vtt', () => {
  const vtt = [
    '\uFEFFWEBVTT - chapters',
    '',
    'NOTE',
    'made by hand',
    '',
    '2',
    '00:01:00.000 --> 01:02:00.500 line:0',
    '<v Bob>Boss</v> &amp; loot',
    'of the day',
    '',
    '00:00.000 --> 01:00.000',
    'Intro',
  ]

  it.each(['\n', '\r\n', '\r'])('has the cues as chapters, with line ends %j', (end) => {
    const chapters = [
      { startSeconds: 0, endSeconds: 60, title: 'Intro' },
      { startSeconds: 60, endSeconds: 3720.5, title: 'Boss & loot of the day' },
    ]
    for (const size of [1, 3, 65_536]) expect(parseVtt(vtt.join(end), size)).toEqual(chapters)
  })

  it('is ignored without its header', () => {
    expect(parseVtt(vtt.slice(1).join('\n'))).toBeUndefined()
    expect(parseVtt('')).toBeUndefined()
  })
})

describe('streamer.json', () => {
  it('has a display name, a description and links', () => {
    const links = [
      'https://example.com/a',
      { label: 'Site', url: 'http://example.org/' },
      { title: 'Bad', url: 'javascript:alert(1)' },
      { url: 'https://user:secret@example.com/' },
      { url: '/relative' },
      7,
    ]
    expect(parseStreamer({ displayName: 'Alice ✨', description: 'Hi', links })).toEqual({
      displayName: 'Alice ✨',
      description: 'Hi',
      links: [
        { label: 'example.com', url: 'https://example.com/a' },
        { label: 'Site', url: 'http://example.org/' },
      ],
    })
  })

  it('may have links by label', () => {
    expect(parseStreamer({ links: { Site: 'https://example.com', x: 1 } })).toEqual({
      links: [{ label: 'Site', url: 'https://example.com/' }],
    })
  })

  it('has no field of another type', () => {
    expect(parseStreamer({ displayName: {}, description: 1, links: 'https://a.b' })).toEqual({})
  })
})

describe('every parser', () => {
  const parsers: [string, () => SidecarParser<object>, string][] = [
    ['.info.json', () => new InfoJsonParser(), '{"title":"a","chapters":[{"start_time":1}]}'],
    ['.nfo', () => new NfoParser(), '<movie><title>a &amp; b</title><plot>c</plot></movie>'],
    ['.chapters.vtt', () => new ChaptersVttParser(), 'WEBVTT\n\n00:01.000 --> 00:02.000\na\n'],
    ['streamer.json', () => new StreamerJsonParser(), '{"displayName":"a","links":["https://b"]}'],
  ]

  it.each(parsers)('%s: accepts any bytes, and depends on no chunk size', (_name, create, seed) => {
    const whole = Buffer.from(seed)
    const mutated = fc
      .array(fc.tuple(fc.nat({ max: whole.length }), fc.uint8Array({ maxLength: 4 })))
      .map((edits) =>
        edits.reduce((bytes, [at, inserted]) => {
          return Buffer.concat([bytes.subarray(0, at), inserted, bytes.subarray(at + 1)])
        }, whole),
      )
    const bytes = fc.oneof(mutated, fc.uint8Array({ maxLength: 200 }))
    fc.assert(
      fc.property(bytes, fc.integer({ min: 1, max: 9 }), (input, size) => {
        expect(parse(create(), input, size)).toEqual(parse(create(), input))
      }),
      { seed: 14, numRuns: 1000 },
    )
  })

  it.each(parsers)('%s: returns strings without control and bidi characters', (...row) => {
    const [, create, seed] = row
    const hostile = fc.string({ unit: fc.constantFrom('\u202E', '\u0007', '\u2067', '\n', 'x') })
    fc.assert(
      fc.property(hostile, (text) => {
        const escaped = seed.startsWith('{') ? JSON.stringify(text).slice(1, -1) : text
        const result = JSON.stringify(
          parse(
            create(),
            seed.replace('a', () => `x${escaped}`),
          ) ?? {},
        )
        expect(result).not.toMatch(/\p{Cc}|[\u202A-\u202E\u2066-\u2069]|\\u00[01]/u)
      }),
      { seed: 14, numRuns: 300 },
    )
  })
})
