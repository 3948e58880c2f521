import { describe, expect, it } from 'vitest'
import { formatPlaylist } from './media-playlist.ts'
import type { PlaylistPart } from './media-playlist.ts'
import type { SegmentForm } from './segment-names.ts'
import type { SegmentPlan } from './segment-plan.ts'

function plan(durations: number[], breaks: number[] = []): SegmentPlan {
  let startTicks = 0
  const segments = durations.map((seconds, i) => {
    const segment = {
      from: i,
      to: i + 1,
      startTicks,
      endTicks: startTicks + seconds * 1000,
      followsDiscontinuity: breaks.includes(i),
    }
    startTicks = segment.endTicks
    return segment
  })
  return { timescale: 1000, segments, isIndependent: true }
}

function part(form: SegmentForm, durations: number[], breaks: number[] = []): PlaylistPart {
  return { plan: plan(durations, breaks), urlPrefix: 'v/', form }
}

describe('formatPlaylist', () => {
  it('lists a segment that cannot be created as a gap, but not its subtitles', () => {
    const recording = plan([6, 6])
    const [first, second] = recording.segments
    if (first === undefined || second === undefined) throw new Error('two segments')
    const segments = [{ ...first, isGap: true }, second]
    const listed = (form: PlaylistPart['form']) =>
      formatPlaylist([{ plan: { ...recording, segments }, urlPrefix: 'v/', form }], {
        encryption: 'none',
      })
    expect(listed('ts')).toContain('#EXT-X-GAP\n#EXTINF:6.000000,\nv/0.ts\n#EXTINF')
    expect(listed('vtt')).not.toContain('GAP')
  })

  it('lists MPEG-TS segments in the clear', () => {
    const text = formatPlaylist([part('ts', [6, 6.006, 2.5])], { encryption: 'none' })
    expect(text).toBe(
      [
        '#EXTM3U',
        '#EXT-X-VERSION:3',
        '#EXT-X-TARGETDURATION:6',
        '#EXT-X-MEDIA-SEQUENCE:0',
        '#EXT-X-PLAYLIST-TYPE:VOD',
        '#EXT-X-INDEPENDENT-SEGMENTS',
        '#EXTINF:6.000000,',
        'v/0.ts',
        '#EXTINF:6.006000,',
        'v/1.ts',
        '#EXTINF:2.500000,',
        'v/2.ts',
        '#EXT-X-ENDLIST',
        '',
      ].join('\n'),
    )
  })

  it('has no target duration below a rounded EXTINF', () => {
    const text = formatPlaylist([part('ts', [6, 8.5])], { encryption: 'none' })
    expect(text).toContain('#EXT-X-TARGETDURATION:9\n')
  })

  it('lists init segments in the clear, and an IV for each segment', () => {
    const text = formatPlaylist([part('fmp4', [6, 6], [1])], { encryption: 'aes-128' })
    expect(text.split('\n').slice(6)).toEqual([
      '#EXT-X-MAP:URI="v/init-0.mp4"',
      '#EXT-X-KEY:METHOD=AES-128,URI="v/key",IV=0x00000000000000000000000000000000',
      '#EXTINF:6.000000,',
      'v/0.m4s',
      '#EXT-X-DISCONTINUITY',
      '#EXT-X-KEY:METHOD=NONE',
      '#EXT-X-MAP:URI="v/init-1.mp4"',
      '#EXT-X-KEY:METHOD=AES-128,URI="v/key",IV=0x00000000000000000000000000000001',
      '#EXTINF:6.000000,',
      'v/1.m4s',
      '#EXT-X-ENDLIST',
      '',
    ])
  })
})

describe('formatPlaylist of several parts', () => {
  it('separates them by a discontinuity, and numbers the segments of each from 0', () => {
    const parts = [part('ts', [6]), { ...part('ts', [9, 3]), urlPrefix: 'w/' }]
    const text = formatPlaylist(parts, { encryption: 'none' })
    expect(text).toContain('#EXT-X-TARGETDURATION:9\n')
    expect(text.split('\n').slice(6)).toEqual([
      '#EXTINF:6.000000,',
      'v/0.ts',
      '#EXT-X-DISCONTINUITY',
      '#EXTINF:9.000000,',
      'w/0.ts',
      '#EXTINF:3.000000,',
      'w/1.ts',
      '#EXT-X-ENDLIST',
      '',
    ])
  })

  it('has a map for MPEG-TS after fMP4 too, because a map applies until the next one', () => {
    const parts = [part('fmp4', [6]), { ...part('ts', [6]), urlPrefix: 'w/' }]
    const text = formatPlaylist(parts, { encryption: 'aes-128' })
    expect(text).toContain('#EXT-X-VERSION:6\n')
    expect(text).toContain('#EXT-X-KEY:METHOD=NONE\n#EXT-X-MAP:URI="w/init-0.ts"\n')
  })

  it('has the time of day at the start of each part and after each discontinuity', () => {
    const startMs = Date.UTC(2026, 0, 31, 20)
    const parts = [{ ...part('ts', [6, 6, 6], [2]), startMs }]
    const lines = formatPlaylist(parts, { encryption: 'none' }).split('\n')
    const times = lines.filter((line) => line.startsWith('#EXT-X-PROGRAM'))
    expect(times).toEqual([
      '#EXT-X-PROGRAM-DATE-TIME:2026-01-31T20:00:00.000Z',
      '#EXT-X-PROGRAM-DATE-TIME:2026-01-31T20:00:12.000Z',
    ])
  })
})
