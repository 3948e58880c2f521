// Edit lists reduced to one shift.
import { describe, expect, it } from 'vitest'
import { invalidBox } from './box.ts'
import { type Edit, foldEdits, parseEditList } from './edit-list.ts'

const clocks = { movieTimescale: 1000, trackTimescale: 48_000, mediaEndTicks: 480_000 }
const BOX = { type: 'elst', start: 77, contentStart: 85, end: 200 }

function edit(movieTicks: number, mediaTicks: number, isMoving = true): Edit {
  return { movieTicks, mediaTicks, isMoving }
}

function fold(...edits: Edit[]): number {
  return foldEdits(edits, clocks)
}

describe('foldEdits()', () => {
  it('is 0 without edits', () => {
    expect(fold()).toBe(0)
  })

  it('shifts back by the media time that an edit skips (AAC priming, B-frame delay)', () => {
    expect(fold(edit(9000, 1024))).toBe(-1024 / 48_000)
  })

  it('sums up the delays of empty edits and still frames', () => {
    expect(fold(edit(1000, -1), edit(500, -1), edit(9000, 0))).toBe(1.5)
    expect(fold(edit(1000, 0, false), edit(9000, 480))).toBe(0.99)
    expect(fold(edit(2000, -1))).toBe(2)
  })

  it('plays on from the first edit even if later ones repeat, skip or pause', () => {
    expect(fold(edit(1000, 480), edit(1000, 480), edit(200, -1), edit(1000, 96_000))).toBe(-0.01)
  })

  it('ignores edits that start after the end of the media', () => {
    expect(fold(edit(1000, 480_000), edit(1000, 48))).toBe(-0.001)
  })
})

describe('parseEditList()', () => {
  it('reads both versions', () => {
    const short = Buffer.from(
      '00000000 00000001 000003e8 ffffffff 00010000'.replaceAll(' ', ''),
      'hex',
    )
    const long = Buffer.from(
      '01000000 00000001 0000000100000000 fffffffffffffffe 00000000'.replaceAll(' ', ''),
      'hex',
    )
    expect(parse(short)).toEqual([edit(1000, -1)])
    expect(parse(long)).toEqual([edit(2 ** 32, -2, false)])
  })

  it('refuses a list that exceeds its box, and times beyond 2^53', () => {
    expect(() => parse(Buffer.from('0000000000000009', 'hex'))).toThrow(
      invalidBox({ type: 'elst', start: 77 }, 'entries-exceed-box', 9),
    )
    const beyond = Buffer.from(`0100000000000001${'7fffffffffffffff'.repeat(2)}00010000`, 'hex')
    expect(() => parse(beyond)).toThrow(invalidBox({ type: 'elst', start: 77 }, 'times-invalid'))
  })
})

function parse(bytes: Buffer): Edit[] {
  return parseEditList(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), BOX)
}
