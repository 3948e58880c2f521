import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bytesFile } from '../../../test/support/bytes-file.ts'
import {
  box,
  ftyp,
  moov,
  PLAIN_MEDIA_AT,
  plainTrack,
  u32,
} from '../../../test/support/make/make-mp4.ts'
import type { TrackPlan } from '../../../test/support/make/make-mp4.ts'
import { isAppError } from '../../base/errors.ts'
import { MAX_RECORDED_CHAPTERS } from '../media-reader.ts'
import { readChapters } from './mp4-chapters.ts'

const { signal } = new AbortController()
const TITLES = ['Intro', 'Größe <b>', '']

/** A sample: its length, and QuickTime's box with the encoding. */
function sample(title: string): Buffer {
  const text = Buffer.from(title)
  return Buffer.concat([Buffer.from([0, text.length]), text, box('encd', u32(0x100))])
}

/** A track of 10 s per title, at the start of the media. */
function chapterTrack(titles: readonly string[], more: Partial<TrackPlan> = {}): TrackPlan {
  const sizes = titles.map((title) => sample(title).length)
  const offsets = sizes.map((_, at) => sizes.slice(0, at).reduce((sum, size) => sum + size, 0))
  return plainTrack('text', titles.length, {
    id: 7,
    sampleEntries: [box('text', Buffer.alloc(59))],
    durations: [[titles.length, 10_000]],
    sizes,
    chunkOffsets: offsets.map((offset) => PLAIN_MEDIA_AT + offset),
    ...more,
  })
}

/** Entries of start in seconds and title. */
function chpl(entries: readonly (readonly [number, string])[], version: 0 | 1 = 1): Buffer {
  const head = version === 0 ? [0, 0, 0, 0] : [1, 0, 0, 0, 0, 0, 0, 0]
  const listed = entries.map(([seconds, title]) => {
    const start = Buffer.alloc(8)
    start.writeBigUInt64BE(BigInt(seconds * 1e7))
    const text = Buffer.from(title)
    return Buffer.concat([start, Buffer.from([text.length]), text])
  })
  return box('udta', box('chpl', Buffer.from([...head, entries.length]), ...listed))
}

function file(movie: Buffer, media: Uint8Array): Buffer {
  const head = Buffer.concat([ftyp(), movie])
  const padding = Buffer.alloc(PLAIN_MEDIA_AT - head.length - 16)
  return Buffer.concat([head, box('free', padding), box('mdat', media)])
}

const read = async (bytes: Uint8Array) => readChapters(bytesFile(bytes), signal)
const video = plainTrack('video', 30, { chapterTracks: [7] })
const media = Buffer.concat(TITLES.map(sample))

describe('readChapters() of MP4', () => {
  it('reads the track of chapter titles', async () => {
    expect(await read(file(moov([video, chapterTrack(TITLES)]), media))).toEqual([
      { startSeconds: 0, endSeconds: 10, title: 'Intro' },
      { startSeconds: 10, endSeconds: 20, title: 'Größe <b>' },
      { startSeconds: 20, endSeconds: 30, title: '' },
    ])
  })

  it.each([0, 1] as const)(
    'reads chpl of version %i if there is no such track',
    async (version) => {
      const udta = chpl(
        [
          [0, 'Intro'],
          [90, 'Größe'],
        ],
        version,
      )
      const expected = [
        { startSeconds: 0, title: 'Intro' },
        { startSeconds: 90, title: 'Größe' },
      ]
      expect(await read(file(moov([plainTrack('video', 30)], udta), media))).toEqual(expected)
      const empty = chapterTrack([], { durations: [] })
      expect(await read(file(moov([video, empty], udta), media))).toEqual(expected)
      const corrupt = chapterTrack(TITLES, { chunkOffsets: [1e9, 1e9, 1e9] })
      expect(await read(file(moov([video, corrupt], udta), media))).toEqual(expected)
    },
  )

  it('has none of a file without chapters, or of text that is not a chapter track', async () => {
    expect(await read(file(moov([plainTrack('video', 30), chapterTrack(TITLES)]), media))).toEqual(
      [],
    )
  })

  it('limits the number of chapters', async () => {
    const titles = Array.from({ length: 1200 }, () => 'x')
    const track = chapterTrack(titles, {
      sizeForm: 'constant',
      chunkRuns: [[1, titles.length, 1]],
      chunkOffsets: [PLAIN_MEDIA_AT],
    })
    const long = file(moov([video, track]), Buffer.concat(titles.map(sample)))
    expect(await read(long)).toHaveLength(MAX_RECORDED_CHAPTERS)
  })

  it('ends with chapters or a known error for corrupt bytes', async () => {
    const udta = chpl([
      [0, 'Intro'],
      [90, 'Größe'],
    ])
    const whole = file(moov([video, chapterTrack(TITLES)], udta), media)
    const headBytes = whole.indexOf('free') - 4
    const edits = fc.array(fc.tuple(fc.nat({ max: headBytes }), fc.nat({ max: 255 })), {
      minLength: 1,
      maxLength: 4,
    })
    await fc.assert(
      fc.asyncProperty(edits, async (changes) => {
        const bytes = Buffer.from(whole)
        for (const [at, byte] of changes) bytes[at] = byte
        const result = await read(bytes).catch((error: unknown) => {
          if (!isAppError(error, 'unplayable', 'failed')) throw error
          return []
        })
        expect(result.length).toBeLessThanOrEqual(MAX_RECORDED_CHAPTERS)
      }),
      { seed: 14, numRuns: 500 },
    )
  })
})
