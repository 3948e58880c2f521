import { describe, expect, it } from 'vitest'
import { parseSubtitles } from './subtitle-file.ts'
import { watchCpu } from '../../../test/support/cpu-time.ts'

function parse(text: string | Uint8Array, format: 'srt' | 'vtt' = 'srt') {
  return parseSubtitles(Buffer.from(text), format)
}

describe('parseSubtitles', () => {
  it('parses SRT with any line ends, preserves basic tags, and escapes the rest', () => {
    const srt = [
      '\uFEFF1',
      '00:00:01,500 --> 00:00:03,25  X1:40',
      '<b>Fish</b> & <font color="red">chips</font>',
      '{\\an8}3 < 4 --> 5',
      '',
      '',
      '2',
      '01:00:00.000 --> 01:00:01.000',
      '<I>late</I>',
    ]
    for (const end of ['\n', '\r\n', '\r']) {
      expect(parse(srt.join(end))).toEqual([
        {
          startSeconds: 1.5,
          endSeconds: 3.25,
          text: '<b>Fish</b> &amp; chips\n3 &lt; 4 --&gt; 5',
        },
        { startSeconds: 3600, endSeconds: 3601, text: '<i>late</i>' },
      ])
    }
  })

  it('parses the cues of WebVTT, in order of time', () => {
    const vtt = [
      'WEBVTT',
      '',
      'NOTE nothing',
      '',
      '00:05.000 --> 00:06.000',
      'second',
      '',
      'name',
      '00:01.000 --> 00:02.000 line:0',
      '<v Anna>first &amp; only',
      '',
      '00:07.000 --> 00:07.000',
      'never shown',
      '',
      'x --> y',
    ].join('\n')
    expect(parse(vtt, 'vtt')).toEqual([
      { startSeconds: 1, endSeconds: 2, text: '<v Anna>first &amp; only' },
      { startSeconds: 5, endSeconds: 6, text: 'second' },
    ])
  })

  it('decodes Windows-1252 and UTF-16', () => {
    const srt = '1\n00:00:01,000 --> 00:00:02,000\nGrüße\n'
    expect(parse(Buffer.from(srt, 'latin1'))[0]?.text).toBe('Grüße')
    expect(parse(Buffer.from(`\uFEFF${srt}`, 'utf16le'))[0]?.text).toBe('Grüße')
  })

  it('parses any bytes fast', () => {
    const cpuMs = watchCpu()
    for (const text of ['<'.repeat(100_000), '{\\'.repeat(50_000), '1:'.repeat(100_000)])
      parse(`00:00:01,000 --> 00:00:02,000\n${text}\n\n${text} --> ${text}`)
    for (const line of ['\r', '\n', ' \r\n']) parse(line.repeat(4_000_000))
    expect(cpuMs()).toBeLessThan(1000)
  })

  it('bounds the text of all cues, which escaping makes longer', () => {
    const cues = parse(`00:00:01,000 --> 00:00:02,000\n${'&'.repeat(9000)}\n\n`.repeat(400))
    expect(cues.length).toBeGreaterThan(100)
    expect(cues.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThan(2 ** 23)
  })
})
