import { describe, expect, it } from 'vitest'
import type { AudioTrack, SubtitleTrack, VideoTrack } from '../../../media/media-index.ts'
import { formatMultivariant } from './multivariant-playlist.ts'
import { countRenditions, listRenditions } from './renditions.ts'
import { MAIN } from './segment-names.ts'
import type { SubtitleSidecar, TrackLists } from './renditions.ts'

const cue = { startSeconds: 1, endSeconds: 2, text: 'Hello' }
const sidecar: SubtitleSidecar = {
  version: '0123abcd',
  language: 'ger',
  isDefault: false,
  cues: [cue],
}
const video: VideoTrack = {
  kind: 'video',
  codec: 'avc1.64001f',
  codecName: 'H.264',
  width: 1280,
  height: 720,
  rotationDegrees: 90,
}

function audio(said: Partial<AudioTrack>): AudioTrack {
  const format = { codec: 'mp4a.40.2', codecName: 'AAC', channels: 2, sampleRate: 48_000 }
  return { kind: 'audio', ...format, ...said }
}

function text(said: Partial<SubtitleTrack>): SubtitleTrack {
  return { isDefault: false, cues: [cue], ...said }
}

function renditionsOf(index: TrackLists, sidecars: SubtitleSidecar[] = []) {
  return listRenditions(index, 'fmp4', { counts: countRenditions(index), sidecars })
}

describe('listRenditions', () => {
  it('have the name in the recording, else the language, else a number', () => {
    const { audioTracks, subtitles } = renditionsOf(
      {
        tracks: [video, audio({ language: 'eng' }), audio({ name: 'Commentary' }), audio({})],
        subtitles: [
          text({ language: 'ger' }),
          text({ language: 'not a language' }),
          text({ language: `en-x-${'abcdefgh-'.repeat(4)}a` }),
        ],
      },
      [sidecar],
    )
    expect(audioTracks.map(({ name, language, track }) => [name, language, track])).toEqual([
      ['English', 'en', 1],
      ['Commentary', undefined, 2],
      ['Audio 3', undefined, 3],
    ])
    expect(subtitles.map(({ id, name, language }) => [id, name, language])).toEqual([
      ['0', 'Deutsch', 'de'],
      ['1', 'Subtitles 2', undefined],
      ['2', 'Subtitles 3', undefined],
      ['3-0123abcd', 'Deutsch (4)', 'de'],
    ])
  })

  it('have unique names, and one default for subtitles', () => {
    const { subtitles } = renditionsOf({
      tracks: [video],
      subtitles: [
        text({ name: 'A', isDefault: true }),
        text({ name: 'A', isDefault: true }),
        text({ name: 'A (2)' }),
      ],
    })
    expect(new Set(subtitles.map(({ name }) => name)).size).toBe(3)
    expect(subtitles.map(({ isDefault }) => isDefault)).toEqual([true, false, false])
  })

  it('are those at the time of the first listing, and one audio for MPEG-TS', () => {
    const index = { tracks: [video, audio({}), audio({})], subtitles: [text({})] }
    const counts = { audioTracks: 1, subtitles: 0 }
    const growing = listRenditions(index, 'fmp4', { counts, sidecars: [] })
    expect([growing.audioTracks.length, growing.subtitles.length]).toEqual([1, 0])
    const ts = listRenditions(index, 'ts', { counts: countRenditions(index), sidecars: [] })
    expect([ts.audioTracks.length, ts.subtitles.length]).toEqual([1, 1])
  })
})

describe('formatMultivariant', () => {
  it('lists one variant with the default audio muxed', () => {
    const index = {
      tracks: [video, audio({ language: 'en' }), audio({ language: 'en', codec: 'opus' })],
      subtitles: [text({ name: 'a "name"\nof two lines' })],
    }
    const playlist = formatMultivariant({
      urlVersion: 'v',
      tracks: index.tracks,
      renditions: renditionsOf(index),
      variant: MAIN,
      bandwidth: { peak: 1000.5, average: 900 },
      isIndependent: true,
    })
    expect(playlist.split('\n')).toEqual([
      '#EXTM3U',
      '#EXT-X-VERSION:6',
      '#EXT-X-INDEPENDENT-SEGMENTS',
      '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="English",LANGUAGE="en",' +
        'DEFAULT=YES,AUTOSELECT=YES,CHANNELS="2"',
      '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="English (2)",LANGUAGE="en",' +
        'DEFAULT=NO,AUTOSELECT=NO,CHANNELS="2",URI="v/audio-1.m3u8"',
      `#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="text",NAME="a 'name' of two lines",` +
        'DEFAULT=NO,AUTOSELECT=NO,FORCED=NO,URI="v/text-0.m3u8"',
      '#EXT-X-STREAM-INF:BANDWIDTH=1001,AVERAGE-BANDWIDTH=900,' +
        'CODECS="avc1.64001f,mp4a.40.2,opus",RESOLUTION=720x1280,AUDIO="audio",SUBTITLES="text"',
      'v/main.m3u8',
      '',
    ])
  })

  it('has a requested audio in place of all others', () => {
    const index = {
      tracks: [video, audio({ language: 'en' }), audio({ language: 'de', codec: 'opus' })],
    }
    const playlist = formatMultivariant({
      urlVersion: 'v',
      tracks: index.tracks,
      renditions: renditionsOf(index),
      variant: { kind: 'muxed', number: 1 },
      bandwidth: { peak: 1000, average: 900 },
      isIndependent: true,
    })
    expect(playlist.split('\n').slice(3)).toEqual([
      '#EXT-X-STREAM-INF:BANDWIDTH=1000,AVERAGE-BANDWIDTH=900,' +
        'CODECS="avc1.64001f,opus",RESOLUTION=720x1280',
      'v/main-1.m3u8',
      '',
    ])
  })

  it('offers no other audio beside key frames', () => {
    const index = {
      tracks: [video, audio({ language: 'en' }), audio({ language: 'de', codec: 'opus' })],
      subtitles: [text({ language: 'fr' })],
    }
    const playlist = formatMultivariant({
      urlVersion: 'v',
      tracks: index.tracks,
      renditions: renditionsOf(index),
      variant: { kind: 'saver', number: 0 },
      bandwidth: { peak: 100, average: 90 },
      isIndependent: true,
    })
    expect(playlist.split('\n').slice(3)).toEqual([
      expect.stringMatching(/^#EXT-X-MEDIA:TYPE=SUBTITLES/),
      '#EXT-X-STREAM-INF:BANDWIDTH=100,AVERAGE-BANDWIDTH=90,' +
        'CODECS="avc1.64001f,mp4a.40.2",RESOLUTION=720x1280,SUBTITLES="text"',
      'v/saver-0.m3u8',
      '',
    ])
  })
})
