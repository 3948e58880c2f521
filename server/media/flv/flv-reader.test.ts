// The reader with real recordings, and with their packets in FLV, compared with the demuxer of
// FFmpeg.
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { describe, expect, it } from 'vitest'
import { bytesFile } from '../../../test/support/bytes-file.ts'
import {
  AAC,
  aacConfig,
  avcConfig,
  flvFile,
  flvTag,
  manyTracksBody,
  metadataTag,
  frameTag,
  readSourceStreams,
  repackStreams,
  madeFrame,
  madeAudio,
  smallStream,
  audioConfigTag,
  audioTag,
  videoConfigTag,
} from '../../../test/support/make/make-flv.ts'
import type { FlvTag } from '../../../test/support/make/make-flv.ts'
import { makeTempFolder } from '../../../test/support/temp-folder.ts'
import { readReferencePackets } from '../../../test/support/verify/reference-packets.ts'
import type { ReferencePacket } from '../../../test/support/verify/reference-packets.ts'
import { readRuns, readServedSamples } from '../../../test/support/verify/served-samples.ts'
import type { IndexedFile, ServedSample } from '../../../test/support/verify/served-samples.ts'
import { groupedSplitPoints, everySplitPoint } from '../../../test/support/verify/ts-segments.ts'
import { UnplayableError } from '../../base/errors.ts'
import type { UnplayableReason } from '../../base/problem.ts'
import { SPLIT_DISCONTINUITY, SPLIT_KEY_FRAME, durationSeconds } from '../media-index.ts'
import { createFlvReader } from './flv-reader.ts'
import { patienceMs } from '../../../test/support/patience.ts'

const reader = createFlvReader()
const fixtures = path.join(import.meta.dirname, '../../../test/fixtures/media')
const folder = makeTempFolder('flv-reader')

async function indexBytes(bytes: Uint8Array): Promise<IndexedFile> {
  const file = bytesFile(bytes)
  return { reader, file, index: await reader.index(file, AbortSignal.timeout(patienceMs)) }
}

async function reference(bytes: Uint8Array): Promise<ReferencePacket[]> {
  const whole = path.join(folder, 'whole.flv')
  await writeFile(whole, bytes)
  return readReferencePackets(whole)
}

async function samplesOf(
  indexed: IndexedFile,
  ranges = everySplitPoint(indexed.index),
): Promise<ServedSample[]> {
  return readServedSamples(indexed.file, await readRuns(reader, indexed, ranges))
}

async function samplesIn(bytes: Uint8Array): Promise<ServedSample[]> {
  return samplesOf(await indexBytes(bytes))
}

/**
 * Every packet once, unchanged, all shifted by the same time except for rounding to milliseconds.
 */
function expectSame(served: ServedSample[], source: ReferencePacket[]): void {
  const shifts: number[] = []
  for (const kind of ['video', 'audio'] as const) {
    const wanted = source.filter((packet) => packet.kind === kind)
    const given = served.filter((sample) => sample.kind === kind)
    expect(given.map(({ sha1 }) => sha1)).toEqual(wanted.map(({ sha1 }) => sha1))
    // In synthetic frames FFmpeg finds no key frames.
    const keys = wanted.some(({ isKey }) => isKey) ? wanted : given
    expect(given.map(({ isKey }) => isKey)).toEqual(keys.map(({ isKey }) => isKey))
    given.forEach((sample, i) => {
      shifts.push(sample.ptsSeconds - (wanted[i]?.ptsSeconds ?? NaN))
    })
  }
  expect(Math.max(...shifts) - Math.min(...shifts)).toBeLessThanOrEqual(0.00201)
}

async function expectLikeFfmpeg(bytes: Uint8Array): Promise<IndexedFile> {
  const indexed = await indexBytes(bytes)
  const source = await reference(bytes)
  for (const ranges of [everySplitPoint(indexed.index), groupedSplitPoints(indexed.index, 4)]) {
    expectSame(await samplesOf(indexed, ranges), source)
  }
  expectMonotonic(await samplesOf(indexed))
  return indexed
}

function expectMonotonic(samples: ServedSample[]): void {
  for (const kind of ['video', 'audio'] as const) {
    const own = samples.filter((sample) => sample.kind === kind)
    own.slice(1).forEach(({ dtsSeconds }, i) => {
      expect(dtsSeconds).toBeGreaterThan(own[i]?.dtsSeconds ?? Infinity)
    })
    for (const { dtsSeconds, durationSeconds } of own) {
      expect(dtsSeconds).toBeGreaterThanOrEqual(0)
      expect(durationSeconds).toBeGreaterThan(0)
    }
  }
}

async function repack(name: string, forms: Parameters<typeof repackStreams>[1]): Promise<Buffer> {
  return flvFile(repackStreams(await readSourceStreams(path.join(fixtures, name)), forms))
}

describe('a real recording', () => {
  it('has the packets that FFmpeg reads', async () => {
    const { index } = await expectLikeFfmpeg(
      await readFile(path.join(fixtures, 'flv-h264-aac.flv')),
    )
    expect(index.tracks).toEqual([
      {
        kind: 'video',
        codec: 'avc1.42c01e',
        codecName: 'H.264',
        width: 640,
        height: 360,
        rotationDegrees: 0,
      },
      { kind: 'audio', codec: 'mp4a.40.2', codecName: 'AAC', channels: 2, sampleRate: 44_100 },
    ])
    expect(durationSeconds(index)).toBeCloseTo(10.08, 3)
    expect(deserialize(serialize(index))).toEqual(index)
  })

  it('that browsers do not play is rejected with its codec', async () => {
    const bytes = await readFile(path.join(fixtures, 'flv-h263-mp3.flv'))
    await expect(indexBytes(bytes)).rejects.toMatchObject({
      code: 'unplayable',
      reason: { code: 'video-codec-unsupported', codec: 'Sorenson H.263' },
    })
  })

  it('has key frames that decode', async () => {
    const bytes = await readFile(path.join(fixtures, 'flv-h264-aac.flv'))
    const { file, index } = await indexBytes(bytes)
    const keyFrame = await reader.readKeyFrame(file, index, 1)
    expect(keyFrame).toMatchObject({ codec: 'h264', rotationDegrees: 0 })
    expect(keyFrame?.extradata?.[0]).toBe(1)
    const [firstNal] = keyFrame?.data.subarray(4) ?? []
    expect([5, 6, 7]).toContain((firstNal ?? 0) & 0x1f)
  })
})

describe('codecs', () => {
  it.each([
    ['mp4-h264-aac51-moov-last-bframes.mp4', { video: { codec: 7 }, audio: AAC }, 'avc1'],
    [
      'mp4-h264-aac51-moov-last-bframes.mp4',
      { video: { codec: 'avc1' }, audio: { codec: 'mp4a' } },
      'avc1',
    ],
    ['mp4-hevc-hvc1-aac.mp4', { video: { codec: 12 }, audio: AAC }, 'hvc1'],
    ['mp4-hevc-hev1-aac.mp4', { video: { codec: 'hvc1' }, audio: AAC }, 'hvc1'],
    [
      'mp4-av1-10bit-aac-portrait.mp4',
      { video: { codec: 'av01' }, audio: { codec: 'mp4a' } },
      'av01',
    ],
  ] as const)('%s as %o is read as FFmpeg does', async (name, forms, codec) => {
    const { index } = await expectLikeFfmpeg(await repack(name, forms))
    expect(index.tracks[0]).toMatchObject({ kind: 'video', codec: expect.stringContaining(codec) })
    expect(index.tracks[1]).toMatchObject({ kind: 'audio', codec: 'mp4a.40.2' })
    const [width, height] =
      index.tracks[0]?.kind === 'video' ? [index.tracks[0].width, index.tracks[0].height] : []
    const source = await readSourceStreams(path.join(fixtures, name))
    expect(source).toHaveLength(2)
    expect(width).toBeGreaterThan(0)
    expect(height).toBeGreaterThan(0)
  })

  it('VP9 has its size in the key frame, and Opus its durations in the packets', async () => {
    const streams = await readSourceStreams(path.join(fixtures, 'webm-vp9-opus51.webm'))
    const config = Uint8Array.of(0, 10, 0x82, 1, 1, 1, 0, 0)
    const withConfig = streams.map((stream) =>
      stream.kind === 'video' ? { ...stream, extradata: config } : stream,
    )
    const tags = repackStreams(withConfig, { video: { codec: 'vp09' }, audio: { codec: 'Opus' } })
    const { index } = await expectLikeFfmpeg(flvFile(tags))
    expect(index.tracks).toMatchObject([
      { codec: 'vp09.00.10.08', width: 854, height: 480 },
      { codec: 'opus', channels: 6, sampleRate: 48_000 },
    ])
    expect(reader.initTracks(index, 0)).toHaveLength(2)
  })
})

describe('FLAC', () => {
  const MARK = Buffer.from('fLaC')
  const HEADER = Uint8Array.of(0x80, 0, 0, 34)
  /** 48 kHz, stereo, in blocks of 4608 samples. */
  const INFO = Buffer.from(`120012000002670024e90bb80370${'00'.repeat(20)}`, 'hex')

  function recording(config: Uint8Array): Buffer {
    const form = { codec: 'fLaC' } as const
    const frames = Array.from({ length: 20 }, (_, i) => audioTag(form, i * 96, Buffer.alloc(9, i)))
    const tags = [...smallStream({ seconds: 2, audio: 'none' }), ...frames]
    return flvFile([
      audioConfigTag(form, 0, config),
      ...tags.toSorted((a, b) => a.timeMs - b.timeMs),
    ])
  }

  it.each([
    ['as a stream begins', Buffer.concat([MARK, HEADER, INFO])],
    ['of metadata blocks', Buffer.concat([HEADER, INFO])],
    ['as FFmpeg writes it', INFO],
  ])('plays with a configuration %s', async (_, config) => {
    const indexed = await indexBytes(recording(config))
    expect(indexed.index.tracks[1]).toMatchObject({
      codec: 'flac',
      channels: 2,
      sampleRate: 48_000,
    })
    expect(indexed.index.limitations).toBeUndefined()
    const audio = (await samplesOf(indexed)).filter(({ kind }) => kind === 'audio')
    expect(audio).toHaveLength(20)
  })

  it('with an invalid configuration is reported', async () => {
    const { index } = await indexBytes(recording(INFO.subarray(1)))
    expect(index.tracks.map(({ kind }) => kind)).toEqual(['video'])
    expect(index.limitations).toMatchObject([
      { code: 'audio-not-served', cause: { code: 'audio-config-invalid', codec: 'FLAC' } },
    ])
  })
})

describe('Enhanced RTMP', () => {
  const plain = smallStream({ seconds: 4 })

  function inForm(tags: FlvTag[], modEx: number[], track?: number): FlvTag[] {
    const extra = { modEx, ...(track !== undefined && { track }) }
    return tags.map((tag) => {
      const isConfig = tag.body[1] === 0
      if (tag.kind === 'video') {
        const data = tag.body.subarray(5)
        const isKey = (tag.body[0] ?? 0) >> 4 === 1
        const form = { codec: 'avc1', ...extra } as const
        return isConfig
          ? videoConfigTag(form, tag.timeMs, data)
          : frameTag(form, { timeMs: tag.timeMs, isKey, data })
      }
      const form = { codec: 'mp4a', ...extra } as const
      const data = tag.body.subarray(2)
      return isConfig ? audioConfigTag(form, tag.timeMs, data) : audioTag(form, tag.timeMs, data)
    })
  }

  it.each([
    ['no modifiers', [], undefined],
    ['short and long modifiers', [3, 300], undefined],
    ['a modifier of 256 bytes', [256], undefined],
    ['a tag for each track', [], 4],
    ['both', [4], 0],
  ])('with %s is the same recording', async (_, modEx, track) => {
    const wanted = await indexBytes(flvFile(plain))
    const given = await indexBytes(flvFile(inForm(plain, modEx, track)))
    expect(given.index.splitPoints).toEqual(wanted.index.splitPoints)
    expect(await samplesOf(given)).toEqual(await samplesOf(wanted))
  })

  it('serves the first of several tracks', async () => {
    const second = madeFrame(99)
    const tags = plain.map((tag): FlvTag => {
      if (tag.kind !== 'video') return tag
      const isConfig = tag.body[1] === 0
      const form = { kind: 'video', codec: 'avc1', packetType: isConfig ? 0 : 3 } as const
      const body = manyTracksBody(form, [
        { track: 1, data: tag.body.subarray(5) },
        { track: 2, data: isConfig ? avcConfig(0x15) : second },
      ])
      body[0] = 0x80 | ((tag.body[0] ?? 0) & 0x70) | 6
      return { ...tag, body }
    })
    expect(await samplesIn(flvFile(tags))).toEqual(await samplesIn(flvFile(plain)))
    const { index } = await indexBytes(flvFile(tags))
    const cause = { code: 'track-limit', tracks: 1 }
    expect(index.limitations).toMatchObject([{ code: 'video-not-served', cause }])
  })

  it('reports further audio tracks, once each, also if the file grows', async () => {
    const further = [1, 2].flatMap((track) => {
      const form = { codec: 'mp4a', track } as const
      const config = audioConfigTag(form, 0, aacConfig())
      return [config, ...[1000, 1500].map((ms) => audioTag(form, ms, Buffer.alloc(90, track)))]
    })
    const [start, ...rest] = plain.toSorted((a, b) => a.timeMs - b.timeMs)
    if (start === undefined) throw new Error('there is no tag')
    const isConfig = (tag: FlvTag) => tag.timeMs === 0
    const tags = [
      start,
      ...rest.filter(isConfig),
      ...[...further, ...rest.filter((tag) => !isConfig(tag))].toSorted(
        (a, b) => a.timeMs - b.timeMs,
      ),
    ]
    const whole = flvFile(tags)
    const part = await indexBytes(whole.subarray(0, (whole.length * 2) / 3))
    const grown = await reader.index(bytesFile(whole), AbortSignal.timeout(patienceMs), part.index)
    const { index } = await indexBytes(whole)
    const omitted = { code: 'audio-not-served', cause: { code: 'track-limit', tracks: 1 } }
    expect(index.limitations).toMatchObject([omitted, omitted])
    expect(grown.limitations).toEqual(index.limitations)
    expect(await samplesIn(whole)).toEqual(await samplesIn(flvFile(plain)))
  })
})

describe('audio that no browser plays in HLS', () => {
  const MP3_FRAME = Buffer.concat([Uint8Array.of(0xff, 0xfb, 0x90, 0x40), Buffer.alloc(413, 1)])
  const PCM = Buffer.alloc(320, 5)
  const AC3_FRAME = Buffer.from(`0b77ffff1440e100${'00'.repeat(200)}`, 'hex')

  it.each([
    { name: 'MP3', codec: 0x2f, data: MP3_FRAME, format: ['mp3', 2, 44_100], sentRate: 44_100 },
    { name: 'AC-3', codec: 'ac-3', data: AC3_FRAME, format: ['ac3', 6, 48_000], sentRate: 48_000 },
    {
      name: 'G.711 A-law',
      codec: 0x70,
      data: PCM,
      format: ['pcm_alaw', 1, 8000],
      sentRate: 48_000,
    },
    {
      name: 'G.711 µ-law',
      codec: 0x81,
      data: PCM,
      format: ['pcm_mulaw', 2, 8000],
      sentRate: 48_000,
    },
    { name: 'PCM', codec: 0x3a, data: PCM, format: ['pcm_s16le', 1, 22_050], sentRate: 44_100 },
    { name: 'PCM', codec: 0x0d, data: PCM, format: ['pcm_u8', 2, 44_100], sentRate: 44_100 },
  ] as const)('$name ($codec) is to be transcoded', async ({ name, codec, ...audio }) => {
    const { data, sentRate } = audio
    const [decoder, channels, sampleRate] = audio.format
    const audioTracks = Array.from({ length: 100 }, (_, i) => audioTag({ codec }, i * 20, data))
    const frames = smallStream({ seconds: 2, audio: 'none' })
    const tags = [...frames, ...audioTracks].toSorted((a, b) => a.timeMs - b.timeMs)
    const indexed = await indexBytes(flvFile(tags))
    expect(indexed.index.tracks[1]).toEqual({
      kind: 'audio',
      codec: 'mp4a.40.2',
      codecName: name,
      channels: Math.min(2, channels),
      sampleRate: sentRate,
      transcodedFrom: { codec: decoder, channels, sampleRate },
    })
    expect(reader.initTracks(indexed.index, 0)?.map(({ kind }) => kind)).toEqual(['video'])
    const samples = await samplesOf(indexed)
    expect(samples.filter(({ kind }) => kind === 'audio')).toHaveLength(100)
  })

  it.each([
    ['Speex', 0xb6],
    ['Nellymoser', 0x6e],
    ['ADPCM', 0x1f],
  ])('%s is omitted beside video, and alone is rejected with its name', async (name, codec) => {
    const audioTracks = Array.from({ length: 50 }, (_, i) =>
      audioTag({ codec }, i * 20, Buffer.alloc(9)),
    )
    await expect(indexBytes(flvFile(audioTracks))).rejects.toMatchObject({
      code: 'unplayable',
      reason: { code: 'audio-codec-unsupported', codec: name },
    })
    const frames = smallStream({ seconds: 1, audio: 'none' })
    const { index } = await indexBytes(flvFile([...frames, ...audioTracks]))
    expect(index.tracks.map(({ kind }) => kind)).toEqual(['video'])
  })
})

describe('an unplayable FLV', () => {
  const key = { timeMs: 0, isKey: true, data: madeFrame(1) }

  it.each<[string, Buffer, UnplayableReason]>([
    [
      'VP6',
      flvFile([frameTag({ codec: 4 }, key)]),
      { code: 'video-codec-unsupported', codec: 'VP6' },
    ],
    [
      'VP8',
      flvFile([frameTag({ codec: 'vp08' }, key)]),
      { code: 'video-codec-unsupported', codec: 'VP8' },
    ],
    [
      'a missing configuration',
      flvFile([frameTag({ codec: 7 }, key)]),
      { code: 'video-config-missing', codec: 'H.264', box: 'sequence header' },
    ],
    [
      'no key frame',
      flvFile(
        smallStream({ seconds: 3, audio: 'none' }).filter(
          (tag) => tag.body[0] !== 0x17 || tag.body[1] === 0,
        ),
      ),
      { code: 'key-frame-missing' },
    ],
    [
      'encrypted tags',
      flvFile(smallStream({ seconds: 3 }).map((tag) => ({ ...tag, isEncrypted: true }))),
      { code: 'encrypted' },
    ],
    ['nothing but metadata', flvFile([metadataTag({ duration: 3 })]), { code: 'tracks-missing' }],
    ['a header alone', flvFile([]), { code: 'tracks-missing' }],
  ])('reports %s', async (_, bytes, reason) => {
    await expect(indexBytes(bytes)).rejects.toThrow(new UnplayableError(reason))
  })
})

describe('the start of video and audio', () => {
  it('keeps the offset of video that starts half a second after the audio', async () => {
    const tags = smallStream({ seconds: 6, bFrames: true }).map((tag) =>
      tag.kind === 'video' && tag.body[1] === 1
        ? frameTag(
            { codec: 7 },
            {
              timeMs: tag.timeMs,
              compositionMs: 500,
              isKey: tag.body[0] === 0x17,
              data: tag.body.subarray(5),
            },
          )
        : tag,
    )
    const { index } = await expectLikeFfmpeg(flvFile(tags))
    expect([...index.splitPoints.startTicks]).toEqual([0, 2500, 4500])
  })

  it('begins at the first key frame, with the audio after the omitted frames', async () => {
    const tags = smallStream({ seconds: 6 })
    const firstKey = tags.findIndex((tag) => tag.body[0] === 0x17 && tag.body[1] === 1)
    const samples = await samplesIn(flvFile(tags.filter((_, i) => i !== firstKey)))
    expect(samples[0]).toMatchObject({ kind: 'video', isKey: true, dtsSeconds: 0.096 })
    expect(samples.filter(({ kind }) => kind === 'video')).toHaveLength(40)
    const firstAudio = samples.find(({ kind }) => kind === 'audio')
    expect(firstAudio?.ptsSeconds).toBe(0)
  })

  it('plays audio alone, split about every second', async () => {
    const indexed = await expectLikeFfmpeg(flvFile(smallStream({ seconds: 7, video: 'none' })))
    const { index } = indexed
    expect(index.tracks.map(({ kind }) => kind)).toEqual(['audio'])
    expect(index.splitPoints.startTicks.length).toBeGreaterThanOrEqual(6)
    expect([...index.splitPoints.flags].every((flags) => flags === 0)).toBe(true)
  })

  it('continues with audio after the end of the video', async () => {
    const long = smallStream({ seconds: 40 }).filter(
      (tag) => tag.kind !== 'video' || tag.timeMs < 8000,
    )
    const { index } = await expectLikeFfmpeg(flvFile(long))
    expect(durationSeconds(index)).toBeCloseTo(40, 1)
    const own = [...index.splitPoints.flags].filter((flags) => flags === 0)
    expect(own.length).toBeGreaterThan(20)
  })

  it('does not drift, although timestamps are rounded to milliseconds', async () => {
    const samples = await samplesIn(flvFile(smallStream({ seconds: 60 })))
    const audioTracks = samples.filter(({ kind }) => kind === 'audio')
    const lengths = new Set(
      audioTracks.map(({ durationSeconds }) => Math.round(durationSeconds * 44_100)),
    )
    expect([...lengths]).toEqual([1024])
    expect(audioTracks.at(-1)?.ptsSeconds).toBeCloseTo(
      ((audioTracks.length - 1) * 1024) / 44_100,
      6,
    )
  })
})

describe('discontinuities', () => {
  it('has a new init after a change of configuration, none after a repeated one', async () => {
    const repeated = smallStream({ seconds: 4, startMs: 4000 })
    const changed = smallStream({ seconds: 4, startMs: 8000, level: 0x15 })
    const { index } = await expectLikeFfmpeg(
      flvFile([...smallStream({ seconds: 4 }), ...repeated, ...changed]),
    )
    const breaks = [...index.splitPoints.startTicks].filter(
      (_, i) => index.splitPoints.flags[i] === (SPLIT_DISCONTINUITY | SPLIT_KEY_FRAME),
    )
    expect(breaks).toEqual([8000])
    const [before] = reader.initTracks(index, 1) ?? []
    const [behind] = reader.initTracks(index, 4) ?? []
    expect(Buffer.from(before?.sampleEntry ?? []).indexOf(avcConfig())).toBeGreaterThan(0)
    expect(Buffer.from(behind?.sampleEntry ?? []).indexOf(avcConfig(0x15))).toBeGreaterThan(0)
  })

  it('continues with new audio at once, within a GOP', async () => {
    const tags = smallStream({ seconds: 8 })
    const at = tags.findIndex(({ timeMs }) => timeMs >= 5000)
    const change = audioConfigTag(AAC, 5000, aacConfig(48_000))
    const indexed = await indexBytes(flvFile([...tags.slice(0, at), change, ...tags.slice(at)]))
    const { index } = indexed
    const flags = [...index.splitPoints.flags]
    expect(flags.filter((flag) => (flag & SPLIT_DISCONTINUITY) !== 0)).toEqual([
      SPLIT_DISCONTINUITY,
    ])
    const source = await reference(flvFile(tags))
    expectSame(await samplesOf(indexed), source)
  })

  it.each([
    ['continues an hour later', 3_604_000],
    ['restarts at 0', 0],
  ])('continues without a gap after a new connection that %s', async (_, startMs) => {
    const before = smallStream({ seconds: 4, startMs: 50_000 })
    const behind = smallStream({ seconds: 4, startMs })
    const bytes = flvFile([...before, ...behind])
    const indexed = await indexBytes(bytes)
    const { index } = indexed
    expect([...index.splitPoints.startTicks]).toEqual([0, 2000, 4000, 6000])
    expect([...index.splitPoints.flags]).toEqual([
      SPLIT_KEY_FRAME,
      SPLIT_KEY_FRAME,
      SPLIT_KEY_FRAME | SPLIT_DISCONTINUITY,
      SPLIT_KEY_FRAME,
    ])
    const samples = await samplesOf(indexed)
    const frames = samples.filter(({ kind }) => kind === 'video')
    const audioTracks = samples.filter(({ kind }) => kind === 'audio')
    expect([frames.length, audioTracks.length]).toEqual([80, 344])
    expect(frames[40]?.ptsSeconds).toBeCloseTo(4, 3)
    expect(audioTracks[172]?.ptsSeconds).toBeCloseTo(4, 3)
    expectMonotonic(samples)
  })

  it('starts without a key frame after a jump that loses no frames', async () => {
    const tags = smallStream({ seconds: 8 }).map((tag) =>
      tag.timeMs >= 5000 ? { ...tag, timeMs: tag.timeMs + 100_000 } : tag,
    )
    const indexed = await indexBytes(flvFile(tags))
    expect([...indexed.index.splitPoints.flags]).toEqual([
      SPLIT_KEY_FRAME,
      SPLIT_KEY_FRAME,
      SPLIT_KEY_FRAME,
      SPLIT_DISCONTINUITY,
      SPLIT_KEY_FRAME,
    ])
    expect(durationSeconds(indexed.index)).toBeCloseTo(8, 1)
    const samples = await samplesOf(indexed)
    expect(samples).toHaveLength(80 + 344)
  })

  it.each([
    ['32 bits', 2 ** 32 - 4000],
    ['31 bits', 2 ** 31 - 4000],
    ['24 bits', 2 ** 24 - 4000],
  ])('does not break where timestamps of %s wrap', async (_, startMs) => {
    const wrapMs = startMs + 4000
    const tags = smallStream({ seconds: 8, startMs }).map((tag) => ({
      ...tag,
      timeMs: tag.timeMs % wrapMs,
    }))
    const indexed = await indexBytes(flvFile(tags))
    expect([...indexed.index.splitPoints.startTicks]).toEqual([0, 2000, 4000, 6000])
    expect([...indexed.index.splitPoints.flags].every((flags) => flags === SPLIT_KEY_FRAME)).toBe(
      true,
    )
    const given = await samplesOf(indexed)
    const wanted = await samplesIn(flvFile(smallStream({ seconds: 8, startMs: 0 })))
    expect(given).toHaveLength(wanted.length)
    given.forEach(({ ptsSeconds }, i) =>
      expect(Math.abs(ptsSeconds - (wanted[i]?.ptsSeconds ?? NaN))).toBeLessThan(0.002),
    )
  })

  it('plays a file appended to another one', async () => {
    const one = flvFile([metadataTag({ duration: 4 }), ...smallStream({ seconds: 4 })])
    const two = flvFile(smallStream({ seconds: 4, startMs: 300 }))
    const splitPoint = one.subarray(0, one.length - 20)
    for (const first of [one, splitPoint]) {
      const { index } = await indexBytes(Buffer.concat([first, two]))
      expect([...index.splitPoints.flags]).toEqual([
        SPLIT_KEY_FRAME,
        SPLIT_KEY_FRAME,
        SPLIT_KEY_FRAME | SPLIT_DISCONTINUITY,
        SPLIT_KEY_FRAME,
      ])
      expect(durationSeconds(index)).toBeGreaterThan(7.9)
      expect(durationSeconds(index)).toBeLessThan(8.1)
    }
  })

  it('continues audio that jumps alone beside the video', async () => {
    const tags = smallStream({ seconds: 20 }).map((tag) =>
      tag.kind === 'audio' && tag.timeMs >= 5000 && tag.timeMs < 12_000
        ? { ...tag, timeMs: tag.timeMs + 500_000 }
        : tag,
    )
    const order = smallStream({ seconds: 20 })
    expect(order.map(({ body }) => body)).toEqual(tags.map(({ body }) => body))
    const indexed = await indexBytes(flvFile(tags))
    expect(
      [...indexed.index.splitPoints.flags].some((flags) => (flags & SPLIT_DISCONTINUITY) !== 0),
    ).toBe(false)
    const given = await samplesOf(indexed)
    const wanted = await samplesIn(flvFile(smallStream({ seconds: 20 })))
    expect(given.map(({ sha1 }) => sha1)).toEqual(wanted.map(({ sha1 }) => sha1))
    given.forEach((sample, i) => {
      const expected = wanted[i]?.ptsSeconds ?? NaN
      expect(Math.abs(sample.ptsSeconds - expected)).toBeLessThan(0.03)
    })
  })
})

describe('limitations', () => {
  const tags = smallStream({ seconds: 8 })
  const bytes = flvFile(tags)
  const key = tags.findIndex((tag) => tag.body[0] === 0x17 && tag.body[1] === 1)

  it.each([
    ['nothing for a valid file', bytes, undefined],
    ['a missing end', bytes.subarray(0, bytes.length - 9), ['truncated']],
    [
      'skipped bytes',
      Buffer.concat([bytes, Buffer.alloc(900, 0x77), ...tags.slice(-9).map(flvTag)]),
      ['corrupt'],
    ],
    ['zeros at the end', Buffer.concat([bytes, Buffer.alloc(900)]), ['corrupt']],
    ['a restart of the timestamps', flvFile([...tags, ...tags]), ['gap']],
    [
      'frames without their key frame',
      flvFile(tags.filter((_, i) => i !== key)),
      ['frames-undecodable'],
    ],
    [
      'audio that cannot be served',
      flvFile([...tags, audioTag({ codec: 0xb6 }, 8000, madeAudio(1))]),
      ['audio-not-served'],
    ],
  ])('report %s', async (_, recording, codes) => {
    const { index } = await indexBytes(recording)
    expect(index.limitations?.map(({ code }) => code)).toEqual(codes)
  })

  it('have the position of corrupt bytes and its time', async () => {
    const rest = Buffer.alloc(900)
    const again = tags.slice(-9).map(flvTag)
    const { index } = await indexBytes(Buffer.concat([bytes, rest, ...again, rest]))
    const later = Buffer.concat([bytes, rest, ...again]).length
    expect(index.limitations).toEqual([
      {
        code: 'corrupt',
        lengthBytes: 900,
        offsetBytes: bytes.length,
        seconds: expect.closeTo(8, 0),
      },
      {
        code: 'corrupt',
        lengthBytes: 900,
        offsetBytes: later,
        seconds: expect.closeTo(8, 0),
      },
    ])
  })
})

describe('corruption', () => {
  const tags = smallStream({ seconds: 20, frameBytes: 300 })
  const wholeTags = tags.map(flvTag)
  const offsets = wholeTags.reduce((ends, tag) => [...ends, (ends.at(-1) ?? 0) + tag.length], [13])

  it('plays a file that is truncated anywhere up to its last whole tag', async () => {
    const whole = flvFile(tags)
    for (const end of [whole.length - 1, whole.length - 5, whole.length - 200, 30_003, 20_000]) {
      const bytes = whole.subarray(0, end)
      const count = offsets.filter((offset) => offset - 4 <= end).length - 1 - 2
      expect(await samplesIn(bytes)).toHaveLength(count)
    }
  })

  it.each([
    ['garbage between tags', () => [Buffer.alloc(5000, 0xaa)], 0],
    ['zeros between tags', () => [Buffer.alloc(100_000)], 0],
    ['a truncated tag', (at: number) => [wholeTags[at]?.subarray(0, 9) ?? Buffer.alloc(0)], 0],
    [
      'wrong sizes after tags',
      (at: number) => [flvTag({ ...(tags[at] ?? metadataTag({})), trailer: 7 })],
      0,
    ],
  ])('%s cost no other tag', async (_, makeDamage) => {
    const at = Math.floor(tags.length / 2)
    const chunks = [...wholeTags.slice(0, at), ...makeDamage(at), ...wholeTags.slice(at)]
    const given = await samplesIn(Buffer.concat([flvFile([]), ...chunks]))
    const wanted = await samplesIn(flvFile(tags))
    const lost = new Set(wanted.map(({ sha1 }) => sha1))
    for (const { sha1 } of given) lost.delete(sha1)
    expect(lost.size).toBe(0)
  })

  it('continues if all sizes after tags are wrong or missing', async () => {
    const wanted = await samplesIn(flvFile(tags))
    for (const trailer of [0, 99, 'none'] as const) {
      expect(await samplesIn(flvFile(tags.map((tag) => ({ ...tag, trailer }))))).toEqual(wanted)
    }
  })

  it('keeps its audio if one frame looks like audio of another codec', async () => {
    const at = Math.floor(tags.length / 2)
    const strange = audioTag({ codec: 0x0f }, 10_000, Buffer.alloc(400, 1))
    const bytes = flvFile([...tags.slice(0, at), strange, ...tags.slice(at)])
    expect(await samplesIn(bytes)).toEqual(await samplesIn(flvFile(tags)))
  })

  it('does not parse bytes inside a tag as one after an invalid size', async () => {
    const at = Math.floor(tags.length / 2)
    const inner = { timeMs: 10_000, isKey: false, data: Buffer.alloc(600, 0xa5) }
    // Inside it: what looks like the header of a tag.
    Buffer.from('0900200000000000000000', 'hex').copy(inner.data, 300)
    const carrier = Buffer.from(flvTag(frameTag({ codec: 7 }, inner)))
    const lie = carrier.indexOf(Buffer.from('0900200000000000000000', 'hex'))
    carrier.writeUIntBE(lie - 15, 1, 3)
    const chunks = [...wholeTags.slice(0, at), carrier, ...wholeTags.slice(at)]
    const samples = await samplesIn(Buffer.concat([flvFile([]), ...chunks]))
    const given = new Set(samples.map(({ sha1 }) => sha1))
    const wanted = await samplesIn(flvFile(tags))
    expect(wanted.filter(({ sha1 }) => !given.has(sha1))).toEqual([])
    expect(given.size).toBe(new Set(wanted.map(({ sha1 }) => sha1)).size)
  })

  it('finds the next tag after an invalid size', async () => {
    const at = Math.floor(tags.length / 2)
    const bytes = flvFile(tags)
    bytes.writeUIntBE(0xfffff0, (offsets[at] ?? 0) + 1, 3)
    const wanted = await samplesIn(flvFile(tags))
    expect(await samplesIn(bytes)).toHaveLength(wanted.length - 1)
  })
})
