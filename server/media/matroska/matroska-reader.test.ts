// The reader on real recordings, compared with FFmpeg.
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { AV_LOG_QUIET } from 'node-av/constants'
import { Log } from 'node-av/lib'
import { describe, expect, it } from 'vitest'
import { bytesFile, openDiskFile } from '../../../test/support/bytes-file.ts'
import {
  AAC_TRACK,
  H264_TRACK,
  clusters,
  filmBlocks,
  mkvFile,
  type BlockPlan,
} from '../../../test/support/make/make-mkv.ts'
import { makeTempFolder } from '../../../test/support/temp-folder.ts'
import {
  rangesOf,
  readRuns,
  readServedSamples,
} from '../../../test/support/verify/served-samples.ts'
import { readReferencePackets } from '../../../test/support/verify/reference-packets.ts'
import type { MediaIndex } from '../media-index.ts'
import { SPLIT_KEY_FRAME, durationSeconds } from '../media-index.ts'
import { createMediaReaders } from '../readers.ts'
import { createMatroskaReader } from './matroska-reader.ts'

const reader = createMatroskaReader()
const FOLDER = path.resolve(import.meta.dirname, '../../../test/fixtures/media')
const { signal } = new AbortController()
const fixture = (name: string): string => path.join(FOLDER, name)

// FFmpeg parses the frames, whose content is synthetic.
Log.setLevel(AV_LOG_QUIET)

const folder = makeTempFolder('matroska')

async function indexFixture(name: string): Promise<MediaIndex> {
  return reader.index(bytesFile(await readFile(fixture(name))), signal)
}

/**
 * Maximum difference in milliseconds between served and reference times, relative to their first
 * time.
 */
async function compareWithFfmpeg(filePath: string): Promise<{ maxShiftMs: number; count: number }> {
  const packets = await readReferencePackets(filePath)
  const file = await openDiskFile(filePath)
  try {
    const index = await reader.index(file, signal)
    const segments = await readRuns(reader, { file, index }, rangesOf(index, 2))
    const shifts: number[] = []
    for (const kind of ['video', 'audio'] as const) {
      const ofKind = packets.filter((packet) => packet.kind === kind)
      const first = Math.min(...ofKind.map(({ streamIndex }) => streamIndex))
      const source = ofKind.filter(({ streamIndex }) => streamIndex === first)
      const served = await readServedSamples(file, segments, kind)
      expect(served.map(({ sha1 }) => sha1)).toEqual(source.map(({ sha1 }) => sha1))
      expect(served.map(({ isKey }) => isKey)).toEqual(source.map(({ isKey }) => isKey))
      // FFmpeg returns the frames of a lace without times if nothing determines them.
      const differences = served.map((each, i) => each.ptsSeconds - (source[i]?.ptsSeconds ?? NaN))
      shifts.push(...differences.filter((seconds) => !Number.isNaN(seconds)))
      expectDecodable(segments.flatMap(({ runs }) => runs.filter((run) => run.kind === kind)))
    }
    return {
      maxShiftMs: (Math.max(...shifts) - Math.min(...shifts)) * 1000,
      count: shifts.length,
    }
  } finally {
    await file.close()
  }
}

/** Decode times increase from run to run, and none exceeds its presentation time. */
function expectDecodable(runs: Awaited<ReturnType<typeof readRuns>>[number]['runs']): void {
  let end = 0
  for (const run of runs) {
    expect(run.firstDecodeTicks).toBeGreaterThanOrEqual(end)
    end = run.firstDecodeTicks + run.durations.reduce((sum, ticks) => sum + ticks, 0)
    expect(Math.min(0, ...(run.compositionOffsets ?? []))).toBe(0)
  }
}

describe('real recordings', () => {
  it.each([
    ['mkv-h264-aac-60s.mkv', 60.02],
    ['mkv-h264-2s-opus-27s-segment-unknown-size.mkv', 27.2],
    ['mkv-h264-two-audio-subs-truncated.mkv', 0.38],
    ['webm-vp9-odd-size-161x121.webm', 1],
    ['webm-vp9-opus51.webm', 1.02],
  ])('reads frames, key frames and times of %s like FFmpeg', async (name, seconds) => {
    const { maxShiftMs, count } = await compareWithFfmpeg(fixture(name))
    expect(count).toBeGreaterThan(0)
    // One millisecond of the container's clock, in either direction.
    expect(maxShiftMs).toBeLessThanOrEqual(2)
    expect(durationSeconds(await indexFixture(name))).toBeCloseTo(seconds, 1)
  })

  it('reports that no browser plays VP8', async () => {
    const name = 'webm-vp8-opus-mediarecorder-no-cues-no-duration-truncated.webm'
    await expect(indexFixture(name)).rejects.toMatchObject({
      code: 'unplayable',
      reason: { code: 'video-codec-unsupported', codec: 'VP8' },
    })
  })

  it('splits audio that continues after the video about every second', async () => {
    const { splitPoints } = await indexFixture('mkv-h264-2s-opus-27s-segment-unknown-size.mkv')
    const flags = [...splitPoints.flags]
    const lastKey = flags.findLastIndex((each) => (each & SPLIT_KEY_FRAME) !== 0)
    const alone = [...splitPoints.startTicks].slice(lastKey + 1)
    expect(alone.length).toBeGreaterThan(20)
    for (const [i, ticks] of alone.slice(1).entries()) {
      expect((ticks - (alone[i] ?? 0)) / splitPoints.timescale).toBeCloseTo(1, 1)
    }
  })

  it('plays a truncated file with its audio and subtitles, and reports it', async () => {
    const { tracks, subtitles, limitations } = await indexFixture(
      'mkv-h264-two-audio-subs-truncated.mkv',
    )
    expect(tracks.map(({ kind, codec }) => [kind, codec])).toEqual([
      ['video', 'avc1.4d401f'],
      ['audio', 'mp4a.40.2'],
      ['audio', 'mp4a.40.2'],
    ])
    expect(tracks[2]).toMatchObject({ language: 'eng', name: 'Commentary', channels: 1 })
    expect(subtitles?.map(({ language }) => language)).toEqual([
      'eng',
      'hun',
      'ger',
      'fre',
      'spa',
      'ita',
      'jpn',
      undefined,
    ])
    expect(subtitles?.[1]?.cues).toEqual([
      {
        startSeconds: 0.042,
        endSeconds: 3.417,
        text: 'A jobb oldaladon láthatod...\n...tudod mit...',
      },
    ])
    expect(limitations).toMatchObject([{ code: 'truncated', unit: 'element' }])
  })

  it('describes VP9 without a configuration by its first key frame', async () => {
    const { tracks } = await indexFixture('webm-vp9-odd-size-161x121.webm')
    expect(tracks).toMatchObject([{ codec: 'vp09.00.10.08', width: 161, height: 121 }])
  })

  it('reads the key frame of a split point with its decoder configuration', async () => {
    const file = bytesFile(await readFile(fixture('mkv-h264-aac-60s.mkv')))
    const index = await reader.index(file, signal)
    const packets = await readReferencePackets(fixture('mkv-h264-aac-60s.mkv'))
    const [first] = packets.filter(({ kind, isKey }) => kind === 'video' && isKey)
    const frame = await reader.readKeyFrame(file, index, 0)
    expect(frame).toMatchObject({ codec: 'h264', rotationDegrees: 0 })
    expect(
      createHash('sha1')
        .update(frame?.data ?? '')
        .digest('hex'),
    ).toBe(first?.sha1)
    expect(frame?.extradata?.[0]).toBe(1)
  })

  it('is chosen by the first bytes', async () => {
    const file = bytesFile(await readFile(fixture('webm-vp9-opus51.webm')))
    const chosen = await createMediaReaders().forFile(file)
    expect((await chosen.index(file, signal)).source.container).toBe('matroska')
  })
})

describe('synthetic recordings, compared with FFmpeg', () => {
  async function compareMade(blocks: BlockPlan[]): Promise<number> {
    const filePath = path.join(folder, 'made.mkv')
    await writeFile(filePath, mkvFile([H264_TRACK, AAC_TRACK], clusters(blocks)))
    return (await compareWithFfmpeg(filePath)).maxShiftMs
  }

  it.each([0, 1, 3] as const)('%d reordered frames', async (reordered) => {
    expect(await compareMade(filmBlocks({ seconds: 10, reordered }))).toBeLessThanOrEqual(2)
  })

  it.each(['xiph', 'ebml', 'fixed'] as const)('laced audio: %s', async (lacing) => {
    const film = filmBlocks({ seconds: 6 })
    const audioTracks = film.filter(({ track }) => track === 2)
    const laced = film.flatMap((each): BlockPlan[] => {
      if (each.track === 1) return [each]
      const at = audioTracks.indexOf(each)
      if (at % 5 !== 0) return []
      const frames = audioTracks.slice(at, at + 5).flatMap((audio) => audio.frames)
      const equal = frames.map((frame) =>
        Buffer.concat([frame, Buffer.alloc(300)]).subarray(0, 300),
      )
      if (frames.length === 1) return [each]
      return [{ ...each, lacing, frames: lacing === 'fixed' ? equal : frames }]
    })
    expect(await compareMade(laced)).toBeLessThanOrEqual(2)
  })

  it('block groups with and without durations', async () => {
    const blocks = filmBlocks({ seconds: 6, reordered: 1 }).map((each, i): BlockPlan => ({
      ...each,
      form: 'group',
      ...(i % 2 === 0 && { duration: 40 }),
    }))
    expect(await compareMade(blocks)).toBeLessThanOrEqual(2)
  })
})

describe('a growing recording', () => {
  it('is identified by its first segment, although clusters before it do not decode', async () => {
    const blocks = filmBlocks({ seconds: 10, reordered: 1 }).slice(30)
    const bytes = mkvFile([H264_TRACK, AAC_TRACK], clusters(blocks, { ticks: 500 }))
    const { growth } = await reader.index(bytesFile(bytes), signal)
    expect(growth?.stableRange.length).toBeGreaterThan(1000)
  })
})
