// Box headers, and the boxes around the sample tables.
import { describe, expect, it } from 'vitest'
import { bytesFile } from '../../../../test/support/bytes-file.ts'
import { box, ftyp, u32 } from '../../../../test/support/make/make-mp4.ts'
import { UnplayableError } from '../../../base/errors.ts'
import type { BoxDefect } from '../../../base/problem.ts'
import { invalidBox, parseBox, parseBoxes } from './box.ts'
import { FileWindow } from './file-window.ts'
import { readMovie } from '../index/movie.ts'

const { signal } = new AbortController()

function view(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function parseAt100(...words: number[]) {
  const type = Buffer.from('free').readUInt32BE(0)
  const [size = 0, ...rest] = words
  return parseBox({ bytes: view(u32(size, type, ...rest)), start: 100, parentEnd: 500 })
}

describe('parseBox()', () => {
  it('reads 32-bit and 64-bit sizes, and 0 as the rest of the parent', () => {
    expect(parseAt100(20, 0, 0)).toEqual({ type: 'free', start: 100, contentStart: 108, end: 120 })
    expect(parseAt100(1, 2, 24)).toMatchObject({ contentStart: 116, end: 100 + 2 * 2 ** 32 + 24 })
    expect(parseAt100(0, 0, 0)).toMatchObject({ contentStart: 108, end: 500 })
  })

  it('refuses sizes smaller than the header and beyond 2^53', () => {
    const invalid = (defect: BoxDefect) => invalidBox({ type: 'free', start: 100 }, defect)
    expect(() => parseAt100(7, 0, 0)).toThrow(invalid('smaller-than-header'))
    expect(() => parseAt100(1, 0, 15)).toThrow(invalid('smaller-than-header'))
    expect(() => parseAt100(1, 0x20_00_00, 0)).toThrow(invalid('smaller-than-header'))
    expect(() => parseAt100(1)).toThrow(invalid('truncated'))
  })
})

describe('parseBoxes()', () => {
  it('ends at four zero bytes and at fewer than eight', () => {
    const bytes = Buffer.concat([box('aaaa', u32(1)), box('bbbb'), u32(0)])
    expect(parseBoxes(view(bytes), 50).map(({ type, start }) => [type, start])).toEqual([
      ['aaaa', 50],
      ['bbbb', 62],
    ])
  })

  it('refuses a box that reaches past its parent', () => {
    const bytes = Buffer.concat([box('aaaa'), u32(99), Buffer.from('bbbb')])
    expect(() => parseBoxes(view(bytes), 0)).toThrow(
      invalidBox({ type: 'bbbb', start: 8 }, 'exceeds-parent'),
    )
  })
})

describe('readMovie()', () => {
  it('finds no moov after an mdat that extends to the end of the file', async () => {
    const bytes = Buffer.concat([ftyp(), u32(0), Buffer.from('mdat'), Buffer.alloc(100)])
    await expect(readMovie(new FileWindow(bytesFile(bytes), signal))).rejects.toThrow(
      new UnplayableError({ code: 'moov-missing', offsetBytes: bytes.length }),
    )
  })

  it('refuses a moov above the size limit', async () => {
    const size = 600 * 1024 * 1024
    const head = Buffer.concat([ftyp(), u32(size), Buffer.from('moov')])
    await expect(readMovie(new FileWindow(bytesFile(head, size + 1000), signal))).rejects.toThrow(
      invalidBox({ type: 'moov', start: 24 }, 'too-large'),
    )
  })

  it('reads a bounded number of boxes', async () => {
    const bytes = Buffer.concat(Array.from({ length: 1_000_010 }, () => box('free')))
    await expect(readMovie(new FileWindow(bytesFile(bytes), signal))).rejects.toThrow(
      new UnplayableError({ code: 'limit-exceeded', limit: 'boxes', max: 1_000_000 }),
    )
  })
})
