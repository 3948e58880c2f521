import { describe, expect, it } from 'vitest'
import { cleanPayload, escapeSrt, escapeText } from './webvtt-text.ts'

describe('escapeSrt()', () => {
  it('keeps bold, italic and underlined text, and removes other markup', () => {
    expect(escapeSrt('<B>a</B> <i class="x">b</i> <u>c</u>')).toBe('<b>a</b> <i>b</i> <u>c</u>')
    expect(escapeSrt('<font color="red">a</font> <c.yellow>b</c> {\\an8}c')).toBe('a b c')
    expect(escapeSrt('1 < 2 & <3 <b.loud>x')).toBe('1 &lt; 2 &amp; &lt;3 x')
  })

  it('takes linear time', () => {
    for (const text of ['<', '<b', '{\\', '<b '])
      expect(escapeSrt(text.repeat(100_000)).length).toBeGreaterThan(0)
  })
})

describe('escapeText() and cleanPayload()', () => {
  it('give a payload that cannot end its cue', () => {
    expect(escapeText('a & <b> --> c')).toBe('a &amp; &lt;b&gt; --&gt; c')
    expect(cleanPayload('a -->  \r\n\r \u2028b\0')).toBe('a --&gt;\nb')
  })
})
