import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JsonFieldsParser } from './json-fields.ts'

const WANTED = ['title', 'chapters', '']

/** Parses the text in chunks of these sizes, repeated. */
function parse(text: string | Uint8Array, sizes: readonly number[] = [7]) {
  const bytes = Buffer.from(text)
  const parser = new JsonFieldsParser(WANTED)
  for (let at = 0, chunk = 0; at < bytes.length; chunk += 1) {
    const size = sizes[chunk % sizes.length] ?? 1
    if (!parser.add(bytes.subarray(at, at + size))) break
    at += size
  }
  const fields = parser.end()
  return fields && Object.fromEntries(fields)
}

/** The same by JSON.parse. */
function expected(text: string): Record<string, unknown> | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  return Object.fromEntries(Object.entries(value).filter(([key]) => WANTED.includes(key)))
}

const chunkSizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 })
/** JSON objects with wanted keys, also inside of other values, in any layout. */
const jsonText = fc
  .tuple(
    fc.dictionary(
      fc.oneof(fc.constantFrom(...WANTED, 't\\u0069tle'), fc.string({ unit: 'binary' })),
      fc.oneof(fc.jsonValue({ maxDepth: 4 }), fc.constant({ title: { title: [] } })),
    ),
    fc.constantFrom(undefined, 1, '\t'),
  )
  .map(([value, space]) => JSON.stringify(value, null, space))

describe('JsonFieldsParser', () => {
  it('returns the same fields as JSON.parse, in chunks of any size', () => {
    fc.assert(
      fc.property(jsonText, chunkSizes, (text, sizes) => {
        expect(parse(text, sizes)).toEqual(expected(text))
      }),
      { seed: 14, numRuns: 500 },
    )
  })

  it('accepts what JSON.parse accepts, and nothing else', () => {
    const edit = fc.record({
      at: fc.nat(),
      remove: fc.nat({ max: 3 }),
      insert: fc
        .constantFrom('', '"', '\\', '\\u12', ',', ':', '{', '}', '[', ']', ' ', '-', '01')
        .map((text) => text),
    })
    fc.assert(
      fc.property(jsonText, fc.array(edit, { minLength: 1, maxLength: 3 }), (text, edits) => {
        const broken = edits.reduce((now, { at, remove, insert }) => {
          const from = at % (now.length + 1)
          return now.slice(0, from) + insert + now.slice(from + remove)
        }, text)
        expect(parse(broken)).toEqual(expected(broken.toWellFormed()))
      }),
      { seed: 14, numRuns: 2000 },
    )
  })

  it.each([
    '',
    ' ',
    '[]',
    '1',
    '"title"',
    'null',
    '{"title":"a"',
    '{"title":"a"}}',
    '{"title":"a",}',
    '{"title":01}',
    '{"title":"\n"}',
    '{"title":"a"} {"title":"b"}',
    "{'title':1}",
    '{"title":tru}',
  ])('has no result for %j', (text) => {
    expect(parse(text)).toBeUndefined()
  })

  it('returns the last of equal keys, and ignores a byte order mark', () => {
    expect(parse('\uFEFF{"title":"a","\\u0074itle":"b"}')).toEqual({ title: 'b' })
  })

  it('truncates a long string, and a long list after a whole entry', () => {
    const letters = `${'ä\\u00e4'.repeat(100_000)}`
    const title = parse(`{"title":"${letters}"}`, [65_536])?.title
    expect(title).toMatch(/^ä{10000,400000}$/)
    const entries = Array.from({ length: 40_000 }, (_, at) => ({ title: `chapter ${at}` }))
    const chapters = parse(JSON.stringify({ chapters: entries }), [65_536])?.chapters
    expect(Array.isArray(chapters) && entries.slice(0, chapters.length)).toEqual(chapters)
    expect(chapters).toHaveProperty(
      'length',
      expect.toSatisfy((length: number) => length > 10_000),
    )
  })

  it('rejects values that are nested too deeply, in little memory', () => {
    expect(parse(`{"title":${'['.repeat(500)}${']'.repeat(500)}}`)).toHaveProperty('title')
    expect(parse(`{"x":${'['.repeat(100_000)}`, [65_536])).toBeUndefined()
  })
})
