import { describe, expect, it } from 'vitest'
import { findSubtitles } from '../session/subtitle-files.ts'
import { parseSubtitles } from './subtitle-file.ts'
import { formatSubtitleSegment } from './subtitle-segment.ts'
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
    expect(cpuMs()).toBeLessThan(1000)
  })
})

describe('findSubtitles', () => {
  it('finds the files of one recording, with their languages', () => {
    const names = ['a.srt', 'a.pt-BR.vtt', 'a.de.SRT', 'ab.srt', 'a.ts', 'a.live_chat.vtt', 'b.vtt']
    expect(findSubtitles(names, 'a').map(({ name, language }) => [name, language])).toEqual([
      ['a.de.SRT', 'de'],
      ['a.pt-BR.vtt', 'pt-BR'],
      ['a.srt', undefined],
    ])
  })
})

describe('formatSubtitleSegment', () => {
  it('contains every cue that is visible during the segment, at its own time', () => {
    const cues = [
      { startSeconds: 1, endSeconds: 6, text: 'before' },
      { startSeconds: 5, endSeconds: 7, text: 'into' },
      { startSeconds: 11.9994, endSeconds: 4000, text: 'beyond' },
      { startSeconds: 12, endSeconds: 13, text: 'after' },
    ]
    const map = { mediaTicks: 900_000, localSeconds: 6 }
    const segment = { startTicks: 6000, endTicks: 12_000 }
    expect(formatSubtitleSegment(cues, segment, { timescale: 1000, map })).toBe(
      [
        'WEBVTT',
        'X-TIMESTAMP-MAP=MPEGTS:900000,LOCAL:00:00:06.000',
        '',
        '00:00:05.000 --> 00:00:07.000',
        'into',
        '',
        '00:00:11.999 --> 01:06:40.000',
        'beyond',
        '',
      ].join('\n'),
    )
  })
})
