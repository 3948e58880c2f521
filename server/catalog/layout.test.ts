// Path templates: what is a recording, of which session, and which templates are refused.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createLayout } from './layout.ts'

const MODIFIED_MS = Date.UTC(2026, 2, 4, 23, 59)

function sessionOf(template: string, path: string): string[] | undefined {
  const layout = createLayout(template)
  const names = path.split('/')
  let position: ReturnType<typeof layout.enter> = layout.root
  for (const name of names.slice(0, -1)) position = position && layout.enter(position, name)
  const found = position && layout.match(position, names.at(-1) ?? '', MODIFIED_MS)
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
  ['{date}/{sessionId}', 'lacks {streamer}'],
  ['{streamer}/{name}', '{name}'],
  ['{streamer}/{date', '{ without }'],
  ['{streamer}/date}', '} without {'],
  ['{streamer}//{date}', 'empty part'],
  ['{streamer}/../{date}', 'hidden'],
  ['{streamer}{sessionId}', 'side by side'],
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

  test('the default layout gives back what a path was made of, in NFC', () => {
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

  test('both normal forms name the same session', () => {
    const path = 'zoë/2026-01-31/é.ts'
    expect(sessionOf(DEFAULT, path.normalize('NFD'))).toEqual(sessionOf(DEFAULT, path))
  })
})

test('a hostile name does not take long to refuse', () => {
  const template = `{streamer}/${'*a'.repeat(14)}{date}b`
  const startMs = performance.now()
  expect(sessionOf(template, `x/${'a'.repeat(250)}.ts`)).toBeUndefined()
  expect(sessionOf(template, `x/${'2026-01-31a'.repeat(22)}.ts`)).toBeUndefined()
  expect(performance.now() - startMs).toBeLessThan(500)
})
