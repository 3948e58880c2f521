// Growing recordings: they play as far as they go, stable segments stay, and only new bytes are
// read.
import { describe, expect, it } from 'vitest'
import { bytesFile } from '../../../test/support/bytes-file.ts'
import { createRandom } from '../../../test/support/make/corrupt.ts'
import {
  AAC,
  aacConfig,
  flvFile,
  flvTag,
  metadataTag,
  smallStream,
  audioConfigTag,
} from '../../../test/support/make/make-flv.ts'
import type { FlvTag } from '../../../test/support/make/make-flv.ts'
import { readSamples } from '../../../test/support/verify/segment-samples.ts'
import type { OpenFile } from '../../storage/recordings/storage.ts'
import { SPLIT_DISCONTINUITY, SPLIT_KEY_FRAME, SPLIT_FORCED } from '../media-index.ts'
import type { MediaIndex } from '../media-index.ts'
import { createFlvReader } from './flv-reader.ts'

const reader = createFlvReader()
const { signal } = new AbortController()

/** The index so far; undefined while nothing is playable. */
async function indexSoFar(file: OpenFile, previous?: MediaIndex): Promise<MediaIndex | undefined> {
  try {
    return await reader.index(file, signal, previous)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'unplayable') return undefined
    throw error
  }
}

function stablePart({ splitPoints, growth, source }: MediaIndex): unknown {
  const count = growth?.stableSplitPoints ?? 0
  if (source.container !== 'flv') throw new Error('no FLV')
  return {
    starts: splitPoints.startTicks.slice(0, count),
    flags: splitPoints.flags.slice(0, count),
    offsets: source.offsets.slice(0, count),
  }
}

function sameSplitPoints(index: MediaIndex, count: number): unknown {
  return stablePart({
    ...index,
    growth: { stableSplitPoints: count, stableRange: { offset: 0, length: 0 } },
  })
}

/** A stream with every kind of change. */
function eventful(): Buffer {
  const jumping = (tags: FlvTag[], byMs: number) =>
    tags.map((tag) => ({ ...tag, timeMs: tag.timeMs + byMs }))
  const lonely = smallStream({ seconds: 16, startMs: 100_000 }).filter(
    ({ kind, timeMs }) => kind === 'audio' || timeMs < 102_000,
  )
  const audioJumps = smallStream({ seconds: 6, startMs: 0 }).map((tag) =>
    tag.kind === 'audio' && tag.timeMs > 3000 ? { ...tag, timeMs: tag.timeMs + 700_000 } : tag,
  )
  return Buffer.concat([
    flvFile([metadataTag({ duration: 0 }), ...smallStream({ seconds: 5, bFrames: true })]),
    ...jumping(smallStream({ seconds: 5, startMs: 5000, configs: 'none' }), 80_000).map(flvTag),
    Buffer.alloc(3000, 0x5a),
    ...smallStream({ seconds: 4, startMs: 0, level: 0x15 }).map(flvTag),
    flvTag(audioConfigTag(AAC, 4000, aacConfig(48_000))),
    ...smallStream({ seconds: 3, startMs: 4000, configs: 'none', sampleRate: 48_000 }).map(flvTag),
    flvTag({ kind: 'video', timeMs: 7000, body: Buffer.alloc(4000, 0x27) }).subarray(0, 900),
    flvFile(smallStream({ seconds: 13, startMs: 40, gopSeconds: 12 })),
    ...lonely.map(flvTag),
    ...audioJumps.map(flvTag),
    ...smallStream({ seconds: 3, startMs: 2 ** 32 - 2000 }).map((tag) =>
      flvTag({ ...tag, timeMs: tag.timeMs % 2 ** 32 }),
    ),
  ])
}

describe('a growing recording', () => {
  const whole = eventful()

  it('keeps every stable split point, and every segment that ends at one', async () => {
    const random = createRandom(41)
    const final = await reader.index(bytesFile(whole), signal)
    const file = bytesFile(whole)
    expect(
      [...final.splitPoints.flags].filter((flags) => (flags & SPLIT_DISCONTINUITY) !== 0),
    ).toHaveLength(7)
    let previous: MediaIndex | undefined
    let steps = 0
    for (let size = 0; size < whole.length;) {
      size = Math.min(whole.length, size + 1 + random(whole.length / 90))
      const part = bytesFile(whole.subarray(0, size))
      const grownFile = await indexSoFar(part, previous)
      expect(await indexSoFar(part)).toEqual(grownFile)
      if (grownFile === undefined) continue
      steps += 1
      const stable = grownFile.growth?.stableSplitPoints ?? 0
      expect(stable).toBeGreaterThanOrEqual(previous?.growth?.stableSplitPoints ?? 0)
      expect(stablePart(grownFile)).toEqual(sameSplitPoints(final, stable))
      const ranges = Array.from({ length: Math.max(0, stable - 1) }, (_, from) => ({
        from,
        to: from + 1,
      }))
      for (const range of ranges.slice(-3)) {
        expect(reader.initTracks(grownFile, range.from)).toEqual(
          reader.initTracks(final, range.from),
        )
        expect(await reader.readSegment(part, grownFile, range)).toEqual(
          await reader.readSegment(file, final, range),
        )
      }
      previous = grownFile
    }
    expect(steps).toBeGreaterThan(100)
    expect(previous).toEqual(final)
    const all = Array.from(final.splitPoints.flags, (_, from) => ({ from, to: from + 1 }))
    expect(final.growth?.stableSplitPoints).toBe(all.length)
  })

  it('gives the same index for the same bytes, wherever a read ends between two tags', async () => {
    const bytes = flvFile(smallStream({ seconds: 7 }))
    const final = await reader.index(bytesFile(bytes), signal)
    const start = Math.floor(bytes.length / 2)
    for (let size = start; size < start + 200; size += 1) {
      const grownFile = await reader.index(bytesFile(bytes.subarray(0, size)), signal)
      const stable = grownFile.growth?.stableSplitPoints ?? 0
      expect(stablePart(grownFile)).toEqual(sameSplitPoints(final, stable))
      expect(await reader.index(bytesFile(bytes), signal, grownFile)).toEqual(final)
    }
  })

  it('is read only from where it grew', async () => {
    const bytes = flvFile(smallStream({ seconds: 600, frameBytes: 900 }))
    let read = 0
    const counting = (size: number): OpenFile => {
      const file = bytesFile(bytes.subarray(0, size))
      return {
        ...file,
        read: async (buffer, position) => {
          const count = await file.read(buffer, position)
          read += count
          return count
        },
      }
    }
    const half = await reader.index(counting(bytes.length / 2), signal)
    expect(read).toBeLessThan(bytes.length / 2 + 4096)
    read = 0
    await reader.index(counting(bytes.length), signal, half)
    expect(read).toBeLessThan(bytes.length / 2 + 4096)
    read = 0
    const same = await reader.index(counting(bytes.length / 2), signal, half)
    expect(same).toEqual(half)
    expect(read).toBeLessThan(4096)
  })

  it('has forced split points after five seconds without a key frame', async () => {
    const bytes = flvFile(smallStream({ seconds: 14, gopSeconds: 12, bFrames: true }))
    const { splitPoints, growth } = await reader.index(bytesFile(bytes), signal)
    expect([...splitPoints.flags]).toEqual([
      SPLIT_KEY_FRAME,
      SPLIT_FORCED,
      SPLIT_FORCED,
      SPLIT_FORCED,
      SPLIT_FORCED,
      SPLIT_KEY_FRAME,
    ])
    expect(growth?.stableSplitPoints).toBe(6)
    const starts = [...splitPoints.startTicks]
    expect(Math.max(...starts.map((start, i) => start - (starts[i - 1] ?? 0)))).toBeLessThanOrEqual(
      5400,
    )
  })

  it('has a growth mark that stays when its metadata are rewritten', async () => {
    const tags = smallStream({ seconds: 10 })
    const growing = flvFile([metadataTag({ duration: 0 }), ...tags])
    const closed = flvFile([metadataTag({ duration: 10 }), ...tags])
    const before = await reader.index(bytesFile(growing.subarray(0, growing.length / 2)), signal)
    const behind = await reader.index(bytesFile(closed), signal)
    const { offset, length } = before.growth?.stableRange ?? { offset: 0, length: 0 }
    expect(behind.growth?.stableRange).toEqual({ offset, length })
    expect(length).toBeGreaterThan(0)
    const range = (bytes: Buffer) => bytes.subarray(offset, offset + length).toString('hex')
    expect(range(closed)).toBe(range(growing))
  })

  it('plays its video before its audio begins', async () => {
    const tags = smallStream({ seconds: 3 }).filter(({ kind }) => kind === 'video')
    const { tracks, growth } = await reader.index(bytesFile(flvFile(tags)), signal)
    expect(tracks.map(({ kind }) => kind)).toEqual(['video'])
    expect(growth?.stableSplitPoints).toBe(0)
    const index = await reader.index(bytesFile(flvFile(tags)), signal)
    const file = bytesFile(flvFile(tags))
    const samples = await readSamples(
      { reader, file, index },
      { from: 0, to: index.splitPoints.flags.length },
    )
    expect(samples).toHaveLength(30)
  })
})
