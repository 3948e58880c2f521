import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { planByteResponse } from './byte-response.ts'

const body = { sizeBytes: 1000, etag: '"v-1"' }
const whole = { kind: 'bytes', status: 200, start: 0, end: 1000 }

describe('planByteResponse', () => {
  it('returns the whole body without a range', () => {
    expect(planByteResponse({}, body)).toEqual(whole)
  })

  it.each([
    ['bytes=0-0', 0, 1],
    ['bytes=10-19', 10, 20],
    ['bytes=990-', 990, 1000],
    ['bytes=990-5000', 990, 1000],
    ['bytes=-5', 995, 1000],
    ['bytes=-5000', 0, 1000],
    ['BYTES=0-99999999999999999999', 0, 1000],
  ])('returns 206 for %s', (range, start, end) => {
    expect(planByteResponse({ range }, body)).toEqual({ kind: 'bytes', status: 206, start, end })
  })

  it.each(['bytes=1000-', 'bytes=5000-6000', 'bytes=-0'])('returns 416 for %s', (range) => {
    expect(planByteResponse({ range }, body)).toEqual({ kind: 'unsatisfiable' })
  })

  it.each([
    'bytes',
    'bytes=',
    'bytes=-',
    'lines=0-5',
    'xbytes=0-5',
    'bytes=5-2',
    'bytes=0-1,900-901',
  ])('ignores %s', (range) => {
    expect(planByteResponse({ range }, body)).toEqual(whole)
  })

  it('returns 304 if the ETag matches, whatever the range', () => {
    const headers = { 'if-none-match': '"v-1"', range: 'bytes=0-5' }
    expect(planByteResponse(headers, body)).toEqual({ kind: 'not-modified' })
  })

  it('returns a range only of the version in If-Range', () => {
    const range = 'bytes=0-5'
    expect(planByteResponse({ range, 'if-range': '"v-0"' }, body)).toEqual(whole)
    expect(planByteResponse({ range, 'if-range': '"v-1"' }, body)).toMatchObject({ status: 206 })
  })

  it('selects the bytes that a range means, for any range and any size', () => {
    const position = fc.option(fc.nat(12), { nil: undefined })
    fc.assert(
      fc.property(fc.nat(10), position, position, (sizeBytes, first, last) => {
        const range = `bytes=${first ?? ''}-${last ?? ''}`
        const etag = '"v-1"'
        const isIgnored = (first ?? last) === undefined || (last ?? Infinity) < (first ?? 0)
        const bytes = Array.from({ length: sizeBytes }, (_, byte) => byte).filter((byte) =>
          first === undefined
            ? byte >= sizeBytes - (last ?? 0)
            : byte >= first && byte <= (last ?? Infinity),
        )
        const [start] = bytes
        const part =
          start === undefined
            ? { kind: 'unsatisfiable' }
            : { kind: 'bytes', status: 206, start, end: start + bytes.length }
        const response = planByteResponse({ range }, { sizeBytes, etag })
        expect(response, range).toEqual(
          isIgnored ? { kind: 'bytes', status: 200, start: 0, end: sizeBytes } : part,
        )
      }),
      { numRuns: 500 },
    )
  })
})
