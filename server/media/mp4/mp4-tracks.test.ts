// Further tracks of an MP4: audio languages, audio that is transcoded, subtitles, and edit lists of
// every shape.
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { bytesFile, openDiskFile } from '../../../test/support/bytes-file.ts'
import {
  type TrackPlan,
  AAC_LC,
  AVC_C,
  PLAIN_MEDIA_AT,
  avc1,
  box,
  ftyp,
  fullBox,
  moov,
  mp4a,
  plainTrack,
} from '../../../test/support/make/make-mp4.ts'
import {
  rangesOf,
  readRuns,
  readServedSamples,
} from '../../../test/support/verify/served-samples.ts'
import { packetsOf, readReferencePackets } from '../../../test/support/verify/reference-packets.ts'
import type { AudioTrack, MediaIndex } from '../media-index.ts'
import { createMp4Reader } from './mp4-reader.ts'
import { parseSubtitleSample } from './index/subtitle-sample.ts'

const FIXTURES = fileURLToPath(new URL('../../../test/fixtures/media/', import.meta.url))
const reader = createMp4Reader()
const { signal } = new AbortController()

function makeFile(tracks: TrackPlan[], media: Uint8Array = new Uint8Array()) {
  const bytes = Buffer.alloc(PLAIN_MEDIA_AT + media.length)
  bytes.set(Buffer.concat([ftyp(), moov(tracks)]))
  bytes.set(media, PLAIN_MEDIA_AT)
  return bytesFile(bytes, bytes.length + 100_000)
}

/** An audio sample entry of QuickTime version 0 or ISO. */
function audioEntry(
  type: string,
  { channels = 2, bits = 16, rate = 48_000, boxes = [] as Buffer[] } = {},
): Buffer {
  const fields = Buffer.alloc(28)
  fields.writeUInt16BE(1, 6)
  fields.writeUInt16BE(channels, 16)
  fields.writeUInt16BE(bits, 18)
  fields.writeUInt16BE(rate, 24)
  return box(type, fields, ...boxes)
}

function audioTracksOf({ tracks }: MediaIndex): AudioTrack[] {
  return tracks.filter((track) => track.kind === 'audio')
}

describe('sample entries', () => {
  it('are as many as declared, without the space that a recorder reserved', async () => {
    const reserved = box('skip', Buffer.alloc(100))
    const index = await reader.index(
      makeFile([
        plainTrack('video', 30, { sampleEntries: [Buffer.concat([avc1(AVC_C), reserved])] }),
        plainTrack('audio', 30, { sampleEntries: [Buffer.concat([mp4a(AAC_LC), reserved])] }),
      ]),
      signal,
    )
    expect(index.tracks.map(({ codec }) => codec)).toEqual(['avc1.64001f', 'mp4a.40.2'])
    expect(index.limitations).toBeUndefined()
  })
})

describe('several audio tracks', () => {
  it('are all listed, enabled ones first, with language and title', async () => {
    const file = makeFile([
      plainTrack('video', 30, { syncs: [1, 11, 21] }),
      plainTrack('audio', 30, { isDisabled: true, language: 'fra' }),
      plainTrack('audio', 30, { language: 'deu', name: 'Kommentar' }),
      plainTrack('audio', 20, { language: 'eng' }),
    ])
    const index = await reader.index(file, signal)
    expect(audioTracksOf(index).map(({ language, name }) => [language, name])).toEqual([
      ['deu', 'Kommentar'],
      ['eng', undefined],
      ['fra', undefined],
    ])
    const range = { from: 1, to: 2 }
    const counts = async (tracks?: number[]) => {
      const content = await reader.readSegment(file, index, { ...range, ...(tracks && { tracks }) })
      return content.kind === 'samples'
        ? content.runs.map(({ kind, sizes }) => [kind, sizes.length])
        : []
    }
    expect(await counts()).toEqual([
      ['video', 10],
      ['audio', 10],
    ])
    expect(await counts([2])).toEqual([['audio', 10]])
    expect(await counts([0, 3])).toEqual([
      ['video', 10],
      ['audio', 10],
    ])
    expect(reader.initTracks(index, 0)?.map(({ kind }) => kind)).toEqual(['video', 'audio'])
    expect(reader.initTracks(index, 0, [3])?.map(({ kind }) => kind)).toEqual(['audio'])
  })

  it('each give every packet once, compared with FFmpeg', async () => {
    const path = `${FIXTURES}mp4-h264-two-video-two-audio-movtext.mp4`
    const file = await openDiskFile(path)
    const index = await reader.index(file, signal)
    const packets = await readReferencePackets(path)
    const streams = [
      ...new Set(
        packets.filter(({ kind }) => kind === 'audio').map(({ streamIndex }) => streamIndex),
      ),
    ]
    for (const [at, stream] of streams.entries()) {
      const ranges = rangesOf(index, 1).map((range) => ({ ...range, tracks: [at + 1] }))
      const samples = await readServedSamples(
        file,
        await readRuns(reader, { file, index }, ranges),
        'audio',
      )
      expect(samples.map(({ sha1 }) => sha1)).toEqual(
        packetsOf(packets, stream).map(({ sha1 }) => sha1),
      )
    }
    expect(streams.length).toBe(2)
    await file.close()
  })
})

describe('audio that no browser plays', () => {
  const dac3 = box('dac3', Buffer.from('103d40', 'hex'))
  const dec3 = box('dec3', Buffer.from('0c00200f00', 'hex'))
  const pcmC = fullBox('pcmC', 0, Buffer.from([1, 24]))

  it.each<[string, Buffer, object]>([
    ['MP3', mp4a(AAC_LC, 0x6b), { codec: 'mp3', channels: 2, sampleRate: 48_000 }],
    [
      'MP3',
      audioEntry('.mp3', { rate: 44_100 }),
      { codec: 'mp3', channels: 2, sampleRate: 44_100 },
    ],
    [
      'AC-3',
      audioEntry('ac-3', { boxes: [dac3] }),
      { codec: 'ac3', channels: 6, sampleRate: 48_000 },
    ],
    [
      'E-AC-3',
      audioEntry('ec-3', { boxes: [dec3] }),
      { codec: 'eac3', channels: 6, sampleRate: 48_000 },
    ],
    ['DTS', audioEntry('dtsc', { channels: 6 }), { codec: 'dts', channels: 6 }],
    ['PCM', audioEntry('sowt', { bits: 16 }), { codec: 'pcm_s16le' }],
    ['PCM', audioEntry('twos', { bits: 16 }), { codec: 'pcm_s16be' }],
    ['PCM', audioEntry('in24', { bits: 24 }), { codec: 'pcm_s24be' }],
    ['PCM', audioEntry('raw ', { bits: 8 }), { codec: 'pcm_u8' }],
    [
      'PCM',
      audioEntry('ulaw', { channels: 1, rate: 8000 }),
      { codec: 'pcm_mulaw', channels: 1, sampleRate: 8000 },
    ],
    ['PCM', audioEntry('ipcm', { bits: 24, boxes: [pcmC] }), { codec: 'pcm_s24le' }],
  ])('returns %s as it was recorded', async (codecName, entry, transcodedFrom) => {
    const file = makeFile([plainTrack('audio', 30, { sampleEntries: [entry] })])
    const index = await reader.index(file, signal)
    const [audio] = audioTracksOf(index)
    expect(audio).toMatchObject({ codec: 'mp4a.40.2', codecName, transcodedFrom })
    expect(audio?.channels).toBeLessThanOrEqual(2)
    expect([44_100, 48_000]).toContain(audio?.sampleRate)
    expect(reader.initTracks(index, 0)).toEqual([])
    const content = await reader.readSegment(file, index, { from: 0, to: 1 })
    expect(content.kind === 'samples' && content.runs.length).toBe(1)
  })

  it.each(['QDM2', 'samr', 'fl32', 'enca'])("omits '%s'", async (type) => {
    const file = makeFile([
      plainTrack('video', 30),
      plainTrack('audio', 30, { sampleEntries: [audioEntry(type)] }),
    ])
    const index = await reader.index(file, signal)
    expect(index.tracks.map(({ kind }) => kind)).toEqual(['video'])
  })

  it('joins PCM samples to packets, whatever sample size the file declares', async () => {
    const count = 10_000
    const plan = plainTrack('audio', count, {
      timescale: 48_000,
      sampleEntries: [audioEntry('sowt')],
      durations: [[count, 1]],
      sizes: Array.from({ length: count }, () => 1),
      sizeForm: 'constant',
      chunkRuns: [[1, 2500, 1]],
      chunkOffsets: [
        PLAIN_MEDIA_AT,
        PLAIN_MEDIA_AT + 10_000,
        PLAIN_MEDIA_AT + 30_000,
        PLAIN_MEDIA_AT + 40_000,
      ],
    })
    const file = makeFile([plan])
    const index = await reader.index(file, signal)
    const content = await reader.readSegment(file, index, { from: 0, to: 1 })
    const [run] = content.kind === 'samples' ? content.runs : []
    // Two chunks are contiguous; no packet crosses the gap after them.
    const packets = [1024, 1024, 1024, 1024, 904, 1024, 1024, 1024, 1024, 904]
    expect([...(run?.durations ?? [])]).toEqual(packets)
    expect([...(run?.sizes ?? [])]).toEqual(packets.map((samples) => samples * 4))
    expect(run?.offsets?.[5]).toBe(PLAIN_MEDIA_AT + 30_000)
  })
})

describe('text', () => {
  it('reads the cues of both tracks of a real recording, compared with FFmpeg', async () => {
    const path = `${FIXTURES}mp4-h264-two-video-two-audio-movtext.mp4`
    const file = await openDiskFile(path)
    const index = await reader.index(file, signal)
    const packets = await readReferencePackets(path)
    const start = Math.min(
      ...packets
        .filter(({ kind, streamIndex }) => kind !== 'other' && streamIndex !== 0)
        .map(({ ptsSeconds }) => ptsSeconds),
    )
    const others = packets.filter(({ kind, sizeBytes }) => kind === 'other' && sizeBytes > 2)
    expect(index.subtitles?.length).toBe(2)
    const cues = index.subtitles?.flatMap(({ cues: own }) => own) ?? []
    expect(cues.length).toBe(others.length)
    expect(cues[0]?.text).toBe('NAR: This is the optical and science segment of the Webb')
    expect(Math.abs(start)).toBeLessThan(1)
    await file.close()
  })

  it('reads every format: escaped, in session time, without empty cues', async () => {
    const cue = (text: string) =>
      Buffer.concat([Buffer.from([0, Buffer.byteLength(text)]), Buffer.from(text)])
    const samples = [cue(''), cue('a < b & c\r\n\r\n-->'), cue(''), cue('ende')]
    const starts = samples.map((_, at) =>
      samples.slice(0, at).reduce((sum, { length }) => sum + length, PLAIN_MEDIA_AT),
    )
    const text = plainTrack('text', 4, {
      sampleEntries: [box('tx3g', Buffer.alloc(38))],
      durations: [[4, 500]],
      sizes: samples.map(({ length }) => length),
      chunkOffsets: starts,
      language: 'deu',
    })
    const late = plainTrack('video', 30, {
      edits: [
        [250, -1],
        [3000, 0],
      ],
    })
    const file = makeFile([late, text], Buffer.concat(samples))
    const index = await reader.index(file, signal)
    expect(index.subtitles).toEqual([
      {
        language: 'deu',
        isDefault: true,
        cues: [
          { startSeconds: 0.25, endSeconds: 0.75, text: 'a &lt; b &amp; c\n--&gt;' },
          { startSeconds: 1.25, endSeconds: 1.75, text: 'ende' },
        ],
      },
    ])
  })

  it('reads UTF-16, the Macintosh encoding, and WebVTT', () => {
    const utf16 = Buffer.concat([
      Buffer.from([0, 6, 0xfe, 0xff]),
      Buffer.from([0x26, 0x3a, 0, 0x41]),
    ])
    expect(parseSubtitleSample('plain', utf16)).toEqual(['☺A'])
    expect(parseSubtitleSample('plain', Buffer.from([0, 2, 0x8a, 0x41]))).toEqual(['äA'])
    const cues = Buffer.concat([
      box('vttc', box('iden', Buffer.from('1')), box('payl', Buffer.from('<b>one</b>\n\ntwo'))),
      box('vtte'),
      box('vttc', box('payl', Buffer.from('three'))),
    ])
    expect(parseSubtitleSample('vtt', cues)).toEqual(['<b>one</b>\ntwo', 'three'])
    expect(parseSubtitleSample('vtt', cues.subarray(0, -2))).toEqual([])
  })

  it('does not serve chapter titles as subtitles', async () => {
    const cue = Buffer.from([0, 2, 0x61, 0x62])
    const text = (id: number) =>
      plainTrack('text', 1, {
        id,
        sampleEntries: [box('text', Buffer.alloc(59))],
        sizes: [4],
        chunkOffsets: [PLAIN_MEDIA_AT],
      })
    const video = plainTrack('video', 30, { chapterTracks: [7] })
    const index = await reader.index(makeFile([video, text(7), text(8)], cue), signal)
    expect(index.subtitles?.length).toBe(1)
  })

  it('omits only the subtitles if they are corrupt', async () => {
    const text = plainTrack('text', 4, {
      sampleEntries: [box('tx3g', Buffer.alloc(38))],
      chunkRuns: [[1, 0, 1]],
    })
    const index = await reader.index(makeFile([plainTrack('video', 30), text]), signal)
    expect(index.subtitles).toBeUndefined()
    expect(index.splitPoints.endTicks).toBeGreaterThan(0)
  })
})

describe('edit lists', () => {
  /** Both the movie and the track count milliseconds. */
  it.each<[string, [number, number, number?][], number]>([
    ['none', [], 0],
    ['media from its start', [[3000, 0]], 0],
    ['media from later on', [[2800, 200]], -0.2],
    [
      'a delay',
      [
        [500, -1],
        [3000, 0],
      ],
      0.5,
    ],
    [
      'two delays',
      [
        [500, -1],
        [250, -1],
        [3000, 0],
      ],
      0.75,
    ],
    [
      'a delay, then media from later on',
      [
        [500, -1],
        [2800, 200],
      ],
      0.3,
    ],
    [
      'a still frame first',
      [
        [400, 0, 0],
        [3000, 0],
      ],
      0.4,
    ],
    [
      'an edit after the end of the media first',
      [
        [100, 999_999],
        [3000, 0],
      ],
      0,
    ],
    [
      'several edits: the media plays on from the first',
      [
        [1000, 0],
        [500, 2000],
        [1000, 1500],
      ],
      0,
    ],
    [
      'a delay in the middle: media is played on',
      [
        [1000, 0],
        [700, -1],
        [2000, 1000],
      ],
      0,
    ],
    ['only a delay', [[500, -1]], 0.5],
    ['no length (as fragments have it)', [[0, 100]], -0.1],
  ])('%s', async (_, edits, expected) => {
    const video = plainTrack('video', 30, edits.length > 0 ? { edits } : {})
    const file = makeFile([video, plainTrack('audio', 30)])
    const index = await reader.index(file, signal)
    const content = await reader.readSegment(file, index, {
      from: 0,
      to: index.splitPoints.startTicks.length,
    })
    const runs = content.kind === 'samples' ? content.runs : []
    const first = (kind: 'video' | 'audio') => {
      const run = runs.find((each) => each.kind === kind)
      const ticks = (run?.firstDecodeTicks ?? NaN) + (run?.compositionOffsets?.[0] ?? 0)
      return ticks / (run?.timescale ?? NaN)
    }
    expect(first('video') - first('audio')).toBeCloseTo(expected, 6)
    expect(Math.min(first('video'), first('audio'))).toBe(0)
    expect(runs.map(({ sizes }) => sizes.length)).toEqual([30, 30])
  })
})
