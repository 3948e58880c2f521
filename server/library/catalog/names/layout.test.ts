// Path templates: what is a recording, of which session, and which templates are refused.
import fc from 'fast-check'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { isAppError } from '../../../base/errors.ts'
import { layoutPresets } from './layout-presets.ts'
import { createLayout } from './layout.ts'
import { watchCpu } from '../../../../test/support/cpu-time.ts'

const MODIFIED_MS = Date.UTC(2026, 2, 4, 23, 59)

function sessionOf(
  template: string,
  path: string,
  kind: 'file' | 'folder' = 'file',
): string[] | undefined {
  const layout = createLayout(template, 'library')
  const names = path.split('/')
  let position: ReturnType<typeof layout.enter> = layout.root
  for (const name of names.slice(0, -1)) position = position && layout.enter(position, name)
  const found =
    position && layout.match(position, { name: names.at(-1) ?? '', kind, modifiedMs: MODIFIED_MS })
  return found && [found.session.streamer, found.session.date, found.session.sessionId]
}

const DEFAULT = '{streamer}/{date}/{sessionId}'

test.each([
  [DEFAULT, 'alice/2026-01-31/1001.ts', ['alice', '2026-01-31', '1001']],
  [DEFAULT, 'alice/20260131/a.b.MP4', ['alice', '20260131', 'a.b']],
  [DEFAULT, 'alice/2026-01-31_20-15-00/x.mkv', ['alice', '2026-01-31_20-15-00', 'x']],
  [DEFAULT, 'alice/2026-01-31T20-15-00Z/x.flv', ['alice', '2026-01-31T20-15-00Z', 'x']],
  [DEFAULT, 'alice/2026-01-31T20_15_00Z/x.flv', ['alice', '2026-01-31T20_15_00Z', 'x']],
  [DEFAULT, 'alice/20260131_201500/x.webm', ['alice', '20260131_201500', 'x']],
  [DEFAULT, 'alice/20260131-201500/x.m2ts', ['alice', '20260131-201500', 'x']],
  [DEFAULT, 'alice/2026-01-31_20-15-00-123456/x.ts', ['alice', '2026-01-31_20-15-00-123456', 'x']],
  [DEFAULT, '__proto__/2026-01-31/constructor.ts', ['__proto__', '2026-01-31', 'constructor']],
  ['{streamer}/{date}_{sessionId}', 'a/2026-01-31_7.ts', ['a', '2026-01-31', '7']],
  ['{streamer}/{date}_{sessionId}', 'a/20260131_201500_7.ts', ['a', '20260131_201500', '7']],
  ['{streamer}/{date}_{sessionId}', 'a/20260131_201500.ts', ['a', '20260131', '201500']],
  ['{streamer}/*-{date}-{sessionId}', 'a/x-y-2026-01-31-z.ts', ['a', '2026-01-31', 'z']],
  ['{streamer}_{date}_{sessionId}', 'some_one_2026-01-31_1.ts', ['some_one', '2026-01-31', '1']],
  ['*/{streamer}/{sessionId}', 'site/a/7.ts', ['a', '2026-03-04', '7']],
  [
    '{streamer}/{date}',
    'a/2026-01-31_20-15-00.ts',
    ['a', '2026-01-31_20-15-00', '2026-01-31_20-15-00'],
  ],
  ['{streamer}/{streamer}_{date}', 'a/a_2026-01-31.ts', ['a', '2026-01-31', 'a_2026-01-31']],
])('%s takes %s', (template, path, expected) => {
  expect(sessionOf(template, path)).toEqual(expected)
})

const iso = '2026-01-31'
const time = '20-15-07'

/** What each recorder writes, and the session that its layout makes of it. */
test.each([
  ['obs', `${iso} ${time}.mkv`, ['library', `${iso} ${time}`, `${iso} ${time}`]],
  ['obs', `alice/${iso} ${time}.mkv`, ['alice', `${iso} ${time}`, `${iso} ${time}`]],
  ['obs', `alice/Replay ${iso} ${time}.mkv`, ['alice', `${iso} ${time}`, `Replay ${iso} ${time}`]],
  ['obs', `${iso} ${time} (2).mp4`, ['library', `${iso} ${time}`, '(2)']],
  ['streamlink', `alice/Art/41-${iso}_${time}.ts`, ['alice', `${iso}_${time}`, '41']],
  ['streamlink', `alice/41-${iso}_${time}.ts`, ['alice', `${iso}_${time}`, '41']],
  ['streamlink', `al_ice_${iso}_${time}.ts`, ['al_ice', `${iso}_${time}`, `al_ice_${iso}_${time}`]],
  ['streamlink-recorder', `al - ${iso} 201507 - Hi - ho.mp4`, ['al', `${iso} 201507`, 'Hi - ho']],
  ['ganymede', `alice/${iso}-201507123-live-0a1b/201507123-video.mp4`, ['alice', iso, '201507123']],
  ['mediamtx', `recordings/alice/${iso}_${time}-123456.mp4`, ['alice', `${iso}_${time}-123456`]],
  ['mediamtx', `recordings/live/alice/${iso}_${time}-123456.mp4`, ['alice']],
  ['yt-dlp', 'alice/My [HD] show [v1a].mp4', ['alice', '2026-03-04', 'My [HD] show [v1a]']],
  ['yt-dlp', `alice/alice (live) ${iso} 20_15 [v123].mp4.part`, ['alice', `${iso} 20_15`, 'v123']],
  ['yt-dlp', 'alice/20260131 - Show [v1].f137.mp4.part', ['alice', '20260131', 'Show [v1]']],
  ['yt-dlp', 'Show [v1].webm', ['library', '2026-03-04', 'Show [v1]']],
  ['srs', 'live/a.b.1769890507123.flv', ['a.b', iso, '1769890507123']],
  ['srs', `live/alice/2026/01/31/20.15.07.123.flv`, ['alice', '2026-03-04', '20.15.07.123']],
  ['bililive', `Bili/主播/[${iso} ${time}][主播][标题].flv`, ['主播', `${iso} ${time}`, '标题']],
  [
    'bililiverecorder',
    '23058-3号-直播/录制-23058-20260131-201507-123-标题.flv',
    ['3号-直播', '20260131-201507-123', '标题'],
  ],
  ['bililive-tools', `Bili/alice/${iso} ${time}-123 Hi.ts`, ['alice', `${iso} ${time}-123`, 'Hi']],
  ['douyin', `抖音/主播/主播_${iso}_${time}_000.ts`, ['主播', `${iso}_${time}`, '000']],
  [
    'livestreamdvr',
    'vods/al/al_2026-01-31T20_15_07Z_42/al_2026-01-31T20_15_07Z_42.mp4',
    ['al', '2026-01-31T20_15_07Z', '42'],
  ],
  ['streamdvr', `alice/alice_twitch_${iso}_${time}.ts`, ['alice', `${iso}_${time}`]],
  ['flat', `al_ice_${iso}_${time}.ts`, ['al_ice', `${iso}_${time}`]],
  ['flat', `videos/alice_${iso}_${time}_2.ts`, ['alice', `${iso}_${time}`, '2']],
  ['site-folders', 'alice [SITE]/alice-20260131-201507.tmp.ts', ['alice', '20260131-201507']],
] satisfies [string, string, string[]][])('layout %s takes %s', (preset, path, expected) => {
  expect(sessionOf(preset, path)?.slice(0, expected.length)).toEqual(expected)
})

test.each([
  ['playlist-folders', `alice/${iso}_20-15`, ['alice', `${iso}_20-15`, `${iso}_20-15`]],
  ['ganymede', `alice/${iso}-42-live-0a1b/42-video_hls`, ['alice', iso, '42']],
  [DEFAULT, `alice/${iso}/late-night`, ['alice', iso, 'late-night']],
])('layout %s takes the folder %s', (preset, path, expected) => {
  expect(sessionOf(preset, path, 'folder')).toEqual(expected)
})

test.each([
  ['ganymede', `alice/${iso}-42-live-0a1b/42-chat.mp4`],
  ['livestreamdvr', 'al/al_2026-01-31T20_15_07Z_42/al_2026-01-31T20_15_07Z_42_chat.mp4'],
  ['yt-dlp', 'alice/Show [v1].mp4.ytdl'],
  ['yt-dlp', 'alice/Show [v1].f251.webm.part'],
  ['yt-dlp', 'alice/Show [v1].mp4.part-Frag3.part'],
  ['obs', 'alice/notes.mp4'],
])('layout %s leaves %s alone', (preset, path) => {
  expect(sessionOf(preset, path)).toBeUndefined()
})

test('every preset is usable, and an unknown one yields an error that lists them', () => {
  for (const name of Object.keys(layoutPresets)) expect(createLayout(name).root).toBeDefined()
  for (const name of ['obss', 'constructor', '']) {
    expect(() => createLayout(name)).toThrow('streamlink, ')
    expect(() => createLayout(name)).toThrow(expect.objectContaining({ code: 'usage' }))
  }
})

test('docs/layouts.md lists the templates of every preset', () => {
  const text = readFileSync(new URL('../../../../docs/layouts.md', import.meta.url), 'utf8')
  const documented = [...text.matchAll(/^\| `(?<name>[^`]+)` +\|.*\| (?<templates>`.*`) +\|$/gm)]
  const templatesOf = (row: string) => [...row.matchAll(/`(?<template>[^`]+)`/g)].map(([, t]) => t)
  expect(documented.map(([, name, row = '']) => [name, templatesOf(row)])).toEqual(
    Object.entries(layoutPresets),
  )
})

test('the identity of a layout includes the library name where it depends on it', () => {
  const identity = (layout: string, libraryName: string) =>
    createLayout(layout, libraryName).identity
  expect(identity(DEFAULT, 'a')).toBe(DEFAULT)
  expect(identity('mediamtx', 'a')).toBe(identity('mediamtx', 'b'))
  expect(identity('obs', 'a')).not.toBe(identity('obs', 'b'))
  expect(identity('srs', 'a')).not.toBe(identity('mediamtx', 'a'))
})

test('a file with a time that no calendar has is a session', () => {
  const layout = createLayout('{streamer}-{sessionId}')
  const entry = { name: 'a-1.ts', kind: 'file', modifiedMs: 2 ** 63 } as const
  expect(layout.match(layout.root, entry)?.session.date).toBe('1970-01-01')
})

test('without a library name, a preset without {streamer} matches nothing', () => {
  const layout = createLayout('obs')
  const entry = { name: `${iso} ${time}.mkv`, kind: 'file', modifiedMs: 0 } as const
  expect(layout.match(layout.root, entry)).toBeUndefined()
})

describe('of the files of one session', () => {
  const rank = (name: string, kind: 'file' | 'folder' = 'file') => {
    const layout = createLayout('{streamer}-{sessionId}')
    const match = layout.match(layout.root, { name, kind, modifiedMs: 0 })
    expect(match?.session.sessionId).toBe('1')
    return match?.rank ?? Number.NaN
  }

  test('complete files come first, then a folder, then incomplete files', () => {
    const ranks = [
      rank('a-1.mp4'),
      rank('a-1.ts'),
      rank('a-1.flv'),
      rank('a-1', 'folder'),
      rank('a-1.mp4.part'),
      rank('a-1.tmp.ts'),
    ]
    expect(ranks).toEqual(ranks.toSorted((a, b) => a - b))
    expect(new Set(ranks).size).toBe(ranks.length)
    expect(rank('a-1.TMP.ts.part')).toBe(rank('a-1.tmp.ts'))
  })
})

test.each([
  [DEFAULT, 'alice/2026-01-31/notes.txt'],
  [DEFAULT, 'alice/2026-01-31/.ts'],
  [DEFAULT, 'alice/2026-13-31/1.ts'],
  [DEFAULT, 'alice/2026-01-31x/1.ts'],
  [DEFAULT, 'alice/1.ts'],
  [DEFAULT, 'alice/2026-01-31/late-night/part1.ts'],
  ['{streamer}/{streamer}_{date}', 'a/b_2026-01-31.ts'],
  ['{streamer}/{date}/x{sessionId}', 'a/2026-01-31/x...ts'],
])('%s leaves %s alone', (template, path) => {
  expect(sessionOf(template, path)).toBeUndefined()
})

test.each([
  ['{date}/{sessionId}', 'has no {streamer}'],
  ['{streamer}/{name}', '{name}'],
  ['{streamer}/{date', '{ without a }'],
  ['{streamer}/date}', '} without a {'],
  ['{streamer}//{date}', 'empty path component'],
  ['{streamer}/../{date}', 'hidden'],
  ['{streamer}{sessionId}', 'no separator'],
  ['{streamer}-{streamer}', 'twice'],
  ['{streamer}/{sessionId}.mp4', '.mp4'],
  ['a/'.repeat(20) + '{streamer}', 'parts'],
  ['{streamer}'.padEnd(2000, 'x'), 'too long'],
])('refuses the template %s', (template, reason) => {
  expect(() => createLayout(template)).toThrow(reason)
  expect(() => createLayout(template)).toThrow(expect.objectContaining({ code: 'usage' }))
})

describe('for any names', () => {
  const name = fc
    .string({ unit: 'binary', minLength: 1, maxLength: 60 })
    .map((text) => text.replaceAll(/[/\0]/gu, '_'))
    .filter((text) => text.isWellFormed() && !['.', '..'].includes(text.normalize('NFC')))
  const date = fc
    .date({ min: new Date('1970-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
    .map((value) => value.toISOString().slice(0, 10))

  test('the default layout returns the names that a path was made of, in NFC', () => {
    fc.assert(
      fc.property(name, date, name, (streamer, day, sessionId) => {
        expect(sessionOf(DEFAULT, `${streamer}/${day}/${sessionId}.ts`)).toEqual([
          streamer.normalize('NFC'),
          day,
          sessionId.normalize('NFC'),
        ])
      }),
    )
  })

  test('both normalisation forms name the same session', () => {
    const path = 'zoë/2026-01-31/é.ts'
    expect(sessionOf(DEFAULT, path.normalize('NFD'))).toEqual(sessionOf(DEFAULT, path))
  })
})

describe('for any template and any path', () => {
  const DATE = '2026-01-31(?:_20-15(?:-00)?)?'
  const placeholders = ['streamer', 'date', 'sessionId'] as const

  /** The same by regular expressions, whose cost has no bound: one for each part of the path. */
  function modelSession(template: string, path: string): string[] | undefined {
    const [parts, names] = [template.split('/'), path.split('/')]
    if (parts.length !== names.length) return undefined
    const bound: Partial<Record<string, string>> = {}
    for (const [i, part] of parts.entries()) {
      const pattern = part
        .replaceAll('*', '.*?')
        .replaceAll(/\{(?<name>\w+)\}/g, (_, name: string) => {
          return bound[name] ?? `(?<${name}>${name === 'date' ? DATE : '.+?'})`
        })
      const found = new RegExp(`^${pattern}$`).exec(names[i] ?? '')
      if (found === null) return undefined
      Object.assign(bound, found.groups)
    }
    const { streamer, date = '2026-03-04', sessionId = names.at(-1) ?? '' } = bound
    return streamer === undefined ? undefined : [streamer, date, sessionId]
  }

  const token = fc.constantFrom(...placeholders.map((name) => `{${name}}`), '*', 'a', '_')
  const partTemplate = fc
    .array(token, { minLength: 1, maxLength: 5 })
    .map((tokens) => tokens.join(''))
  const template = fc
    .array(partTemplate, { minLength: 1, maxLength: 3 })
    .map((parts) => parts.join('/'))
    .filter((text) => text.includes('{streamer}') && isUsable(text))
  const text = fc.constantFrom('a', 'b', '_', '2026-01-31', '2026-01-31_20-15-00')
  const fill = fc.array(text, { minLength: 1, maxLength: 3 }).map((texts) => texts.join(''))

  /** Neither twice in one part, nor two without a separator. */
  function isUsable(text: string): boolean {
    const free = String.raw`(?:\{streamer\}|\{sessionId\}|\*)`
    return !(new RegExp(free + free).test(text) || /(?<same>\{\w+\})[^/]*\k<same>/.test(text))
  }

  test('finds the session that a regular expression finds, or none', () => {
    const values = fc.record({ streamer: fill, date: text, sessionId: fill, any: fill })
    let matched = 0
    fc.assert(
      fc.property(template, values, fc.boolean(), (layout, filled, isOther) => {
        const path = layout
          .replaceAll(/\{(?<name>\w+)\}/g, (_, name: keyof typeof filled) => filled[name])
          .replaceAll('*', filled.any)
        const tried = isOther ? path.replace('a', '_') : path
        const expected = modelSession(layout, tried)
        if (expected !== undefined) matched += 1
        expect(sessionOf(layout, `${tried}.ts`), `${layout} ${tried}`).toEqual(expected)
      }),
      { numRuns: 300 },
    )
    expect(matched).toBeGreaterThan(50)
  })

  function isRefused(layout: string): boolean {
    try {
      createLayout(layout)
      return false
    } catch (error) {
      return isAppError(error, 'usage')
    }
  }

  test('refuses exactly the templates that are not usable', () => {
    fc.assert(
      fc.property(fc.array(partTemplate, { minLength: 1, maxLength: 3 }), (parts) => {
        const layout = parts.join('/')
        expect(isRefused(`{streamer}/${layout}`)).toBe(!isUsable(layout))
      }),
    )
  })
})

test('no preset takes long on a hostile file or folder name', () => {
  const names = ['_', '-', ' - ', '2026-01-31_', '2026-01-31 ', '][', '.1769890507123'].map(
    (text) => text.repeat(255).slice(0, 255),
  )
  const cpuMs = watchCpu()
  for (const preset of Object.keys(layoutPresets)) {
    for (const name of names) {
      for (const path of [name, `${name}/${name}`, `a/${name}/${name}`]) {
        sessionOf(preset, path, 'folder')
        sessionOf(preset, `${path}.ts`)
      }
    }
  }
  expect(cpuMs()).toBeLessThan(4000)
})

test('a hostile name is rejected quickly', () => {
  const template = `{streamer}/${'*a'.repeat(14)}{date}b`
  const cpuMs = watchCpu()
  expect(sessionOf(template, `x/${'a'.repeat(250)}.ts`)).toBeUndefined()
  expect(sessionOf(template, `x/${'2026-01-31a'.repeat(22)}.ts`)).toBeUndefined()
  expect(cpuMs()).toBeLessThan(500)
})
