// Growing recordings of all containers: what is stable stays whatever follows, an index grows as if
// the file was scanned at once, and only appended bytes are read.
import { readFileSync } from 'node:fs'
import { serialize } from 'node:v8'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bytesFile, countingFile } from '../../test/support/bytes-file.ts'
import { corrupt, createRandom } from '../../test/support/make/corrupt.ts'
import { flvFile, flvHeader, metadataTag } from '../../test/support/make/make-flv.ts'
import { element, ID } from '../../test/support/make/make-mkv.ts'
import {
  MadeSession,
  plainSession,
  RECORDERS,
  RECORDING_EVENTS,
} from '../../test/support/make/make-recording.ts'
import type { RecordingEvent } from '../../test/support/make/make-recording.ts'
import { fixturePath } from '../../test/support/temp-library.ts'
import { checkGrowth, checkStable, indexPrefix } from '../../test/support/verify/grow-recording.ts'
import { segmentPlaces } from '../../test/support/verify/served-samples.ts'
import { groupedSplitPoints } from '../../test/support/verify/ts-segments.ts'
import { SPLIT_FORCED, SPLIT_KEY_FRAME } from './media-index.ts'
import type { MediaIndex } from './media-index.ts'
import { createMediaReaders } from './readers.ts'

const readers = createMediaReaders()
const { signal } = new AbortController()
/** Bytes that a growing index may read again: the last packet, tag or fragment, and tables. */
const READ_AGAIN_BYTES = 10_000
/** Of the index, for each split point. */
const INDEX_BYTES = { ts: 28, fmp4: 35, flv: 42, matroska: 75, mp4: NaN }
/** Shares of a recording at which it is indexed, in thousandths. */
const shares = fc.array(fc.nat(1000), { minLength: 2, maxLength: 9, size: 'max' })

/** Where a recorder failed, a sample may be in one of two segments, or in none. */
const FAILURES: RecordingEvent[] = [
  'noise',
  'loss',
  'a wrong time',
  'audio far ahead',
  'late audio',
]
const SOUND_EVENTS = RECORDING_EVENTS.filter((event) => !FAILURES.includes(event))

function anySession(events: readonly RecordingEvent[]): fc.Arbitrary<MadeSession> {
  const several = { minLength: 1, maxLength: 14, size: 'max' } as const
  // The clock of MPEG-TS wraps 3 s after the second start, that of FLV 5 s after the third.
  const startMs = fc.constantFrom(10_000_000, 95_440_700, 2 ** 32 - 5000)
  const tracks = fc.constantFrom(
    'usual' as const,
    'usual' as const,
    'radio' as const,
    'languages' as const,
  )
  return fc
    .tuple(startMs, tracks, fc.array(fc.constantFrom(...events), several))
    .map(([start, announced, list]) => new MadeSession(start, announced).head().add(...list))
}

/** A session that began without one of its tracks, or with frames that do not decode. */
const HARD_STARTS: RecordingEvent[][] = [
  ['audio only', 'gop', 'gop'],
  ['video only', 'gop', 'gop'],
  ['recovery points', 'gop', 'gop', 'audio only'],
  ['no key frame', 'other video', 'gop', 'other audio', 'gop'],
]

async function growBytes(bytes: Uint8Array, thousandths: readonly number[]): Promise<number> {
  const reader = await readers.forFile(bytesFile(bytes))
  const sizes = thousandths.map((share) => Math.floor((share * bytes.length) / 1000))
  const indexes = await checkGrowth(
    { reader, bytes },
    sizes.toSorted((a, b) => a - b),
  )
  return indexes.at(-1)?.growth?.stableSplitPoints ?? 0
}

async function indexOf(bytes: Uint8Array, previous?: MediaIndex): Promise<MediaIndex> {
  const reader = await readers.forFile(bytesFile(bytes))
  return indexPrefix({ reader, bytes }, bytes.length, previous)
}

function seconds({ splitPoints }: MediaIndex): number[] {
  return Array.from(splitPoints.startTicks, (ticks) => ticks / splitPoints.timescale)
}

describe.each(Object.entries(RECORDERS))('a growing recording of %s', (name, record) => {
  const write = (session: MadeSession) => Buffer.concat(record(session))

  it('keeps all that was stable, and ends as if indexed at once, for any steps', async () => {
    let stable = 0
    await fc.assert(
      fc.asyncProperty(anySession(RECORDING_EVENTS), shares, async (session, steps) => {
        stable += await growBytes(write(session), steps)
      }),
      { numRuns: 30 },
    )
    expect(stable).toBeGreaterThan(150)
  })

  it.each(HARD_STARTS)('keeps what was stable from a hard start: %s, …', async (...events) => {
    const bytes = write(new MadeSession().head().add(...events))
    expect(
      await growBytes(
        bytes,
        Array.from({ length: 25 }, (__, i) => 40 * i),
      ),
    ).toBeGreaterThan(1)
  })

  it('keeps what was stable with any corrupt bytes', async () => {
    const bytes = write(plainSession(8).add('other video', 'gop', 'b-frames', 'gop'))
    let stable = 0
    await fc.assert(
      fc.asyncProperty(fc.nat(), shares, async (seed, steps) => {
        stable += await growBytes(corrupt(bytes, createRandom(seed)), steps)
      }),
      { numRuns: 30 },
    )
    expect(stable).toBeGreaterThan(30)
  })

  it('keeps what was stable with corrupt headers', async () => {
    const chunks = record(plainSession(8).add('other video', 'gop'))
    const change = fc.record({
      chunk: fc.nat(chunks.length - 1),
      at: fc.nat(40),
      byte: fc.nat(255),
    })
    const changes = fc.array(change, { minLength: 1, maxLength: 60 })
    let stable = 0
    await fc.assert(
      fc.asyncProperty(changes, shares, async (list, steps) => {
        const corrupted = chunks.map((chunk) => Buffer.from(chunk))
        for (const { chunk, at, byte } of list) corrupted[chunk]?.subarray(at, at + 1).fill(byte)
        stable += await growBytes(Buffer.concat(corrupted), steps)
      }),
      { numRuns: 30 },
    )
    expect(stable).toBeGreaterThan(30)
  })

  it('continues from any byte', async () => {
    const events = [
      'gop',
      'noise',
      'b-frames',
      'a jump within a GOP',
      'gop',
      'loss',
      'gop',
    ] as const
    const bytes = write(new MadeSession().head().add(...events))
    const reader = await readers.forFile(bytesFile(bytes))
    const whole = await reader.index(bytesFile(bytes), signal)
    const middle = Math.floor(bytes.length / 2)
    const each = Array.from({ length: 60 }, (__, i) => middle + i)
    const spread = Array.from({ length: Math.floor(bytes.length / 97) }, (__, i) => i * 97)
    for (const size of [...each, ...spread]) {
      const early = await indexOf(bytes.subarray(0, size)).catch(() => undefined)
      expect(await indexOf(bytes, early)).toEqual(whole)
    }
  })

  it('is read only from where it grew, and has a small index', async () => {
    const bytes = write(plainSession(600))
    const reader = await readers.forFile(bytesFile(bytes))
    const step = Math.ceil(bytes.length / 20)
    let previous = await indexOf(bytes.subarray(0, step))
    for (let size = 2 * step; size < bytes.length; size += step) {
      const { file, counts } = countingFile(bytesFile(bytes.subarray(0, size)))
      previous = await reader.index(file, signal, previous)
      expect(counts.bytes).toBeLessThan(step + READ_AGAIN_BYTES)
      counts.bytes = 0
      expect(await reader.index(file, signal, previous)).toEqual(previous)
      expect(counts.bytes).toBeLessThan(READ_AGAIN_BYTES)
    }
    const index = await reader.index(bytesFile(bytes), signal, previous)
    expect(index.growth?.stableSplitPoints).toBeGreaterThan(597)
    expect(serialize(index).length).toBeLessThan(600 * INDEX_BYTES[index.source.container])
  })

  it('is indexed again if the file became shorter', async () => {
    const bytes = write(plainSession(60))
    const shorter = bytes.subarray(0, bytes.length / 2)
    expect(await indexOf(shorter, await indexOf(bytes))).toEqual(await indexOf(shorter))
  })

  it('plays its video while listed audio is missing', async () => {
    const session = new MadeSession().head()
    for (const frame of Array.from({ length: 12 }, (__, i) => (i % 4 === 0 ? 'key' : 'plain'))) {
      session.unit({ frame, audio: 'none' })
    }
    const early = await indexOf(write(session))
    expect(early.tracks[0]?.kind).toBe('video')
    expect(seconds(early)).toEqual([0, 1, 2])
    const late = await indexOf(write(session.add('gop')))
    expect(late.tracks.map(({ kind }) => kind)).toEqual(['video', 'audio'])
  })

  it('of audio is split about every second, without key frames', async () => {
    const { splitPoints } = await indexOf(
      write(new MadeSession(0, 'radio').head().add('audio only')),
    )
    expect(splitPoints.startTicks).toHaveLength(25)
    expect(splitPoints.flags.every((flags) => flags === 0)).toBe(true)
  })

  it('splits a GOP without end about every two seconds after the fifth', async () => {
    const index = await indexOf(write(new MadeSession().head().gop('key', 80)))
    expect(seconds(index)).toEqual([0, 5.25, 7.25, 9.25, 11.25, 13.25, 15.25, 17.25, 19.25])
    const forced = Array.from({ length: 8 }, () => SPLIT_FORCED)
    expect([...index.splitPoints.flags]).toEqual([SPLIT_KEY_FRAME, ...forced])
    // A frame that is shown before the last one may follow.
    expect([7, 8]).toContain(index.growth?.stableSplitPoints)
  })

  it('splits between B-frames only if no earlier frame follows', async () => {
    const session = new MadeSession().head().gop('key', 1)
    for (let i = 0; i < 60; i += 1) session.unit({ shownAfter: [4, 1, 1][i % 3] ?? 1 })
    const [, first = NaN, ...others] = seconds(await indexOf(write(session)))
    expect(first).toBe(5.25)
    // Groups of three frames, the first of which is shown last.
    const distances = others.map((start, i) => start - (others[i - 1] ?? first))
    expect(distances.length).toBeGreaterThan(3)
    expect([0.75 * 2, 0.75 * 3]).toContain(distances[0])
    expect(new Set(distances).size).toBe(1)
  })

  it('serves each byte once, whatever split points form a segment', async () => {
    const sessions = anySession(name === 'fragmented MP4' ? RECORDING_EVENTS : SOUND_EVENTS)
    // Audio ends after a key frame of another section, which has none.
    const pausedAudio = new MadeSession().head()
    pausedAudio.add('gop', 'other video', 'audio only', 'video only', 'gop')
    let places = 0
    await fc.assert(
      fc.asyncProperty(sessions, fc.integer({ min: 2, max: 9 }), async (session, count) => {
        const bytes = write(session)
        const file = bytesFile(bytes)
        const reader = await readers.forFile(file)
        const index = await reader.index(file, signal).catch(() => undefined)
        if (index === undefined) return
        const [one, several] = [1, count].map(async (splitPoints) => {
          const read = groupedSplitPoints(index, splitPoints).map(async (range) => {
            return segmentPlaces(await reader.readSegment(file, index, range))
          })
          return (await Promise.all(read)).flat().toSorted((a, b) => a - b)
        })
        expect(await several).toEqual(await one)
        expect(new Set(await one).size).toBe((await one)?.length)
        places += (await one)?.length ?? 0
      }),
      { numRuns: 30, examples: [[pausedAudio, 2]] },
    )
    expect(places).toBeGreaterThan(500)
  })
})

describe.each(Object.entries(RECORDERS).filter(([name]) => name !== 'FLV'))(
  'a growing recording of %s, which lists its tracks',
  (_, record) => {
    it('has nothing stable while listed video is missing', async () => {
      const session = new MadeSession().head().add('audio only')
      const size = Buffer.concat(record(session)).length
      const bytes = Buffer.concat(record(session.add('gop', 'gop')))
      const early = await indexOf(bytes.subarray(0, size))
      expect(early.tracks.map(({ kind }) => kind)).toEqual(['audio'])
      expect(early.growth).toEqual({ stableSplitPoints: 0, stableRange: { offset: 0, length: 0 } })
      const late = await indexOf(bytes, early)
      expect(late.tracks.map(({ kind }) => kind)).toEqual(['video', 'audio'])
      expect(late).toEqual(await indexOf(bytes))
    })
  },
)

describe('a growing recording of fragmented MP4', () => {
  it('keeps what was stable where an mdat seems to contain a corrupt moof', async () => {
    const session = plainSession(8).add('other video', 'gop', 'b-frames', 'gop')
    const bytes = Buffer.concat(RECORDERS['fragmented MP4'](session))
    expect(await growBytes(corrupt(bytes, createRandom(87045510)), [276])).toBe(10)
  })

  it('reports an mdat whose size includes later fragments, as before them', async () => {
    const session = plainSession(8).add('other video', 'gop', 'b-frames', 'gop')
    const bytes = Buffer.concat(RECORDERS['fragmented MP4'](session))
    expect(await growBytes(corrupt(bytes, createRandom(223014545)), [514])).toBe(5)
  })
})

describe('a growing real recording', () => {
  it.each([
    ['ts-h264-aac-pts-reset-backwards.ts', 12],
    // Its last split point is forced.
    ['ts-h264-pts-wrap-33bit.ts', 3],
    ['ts-h264-aac-cea608.ts', 3],
    ['ts-h264-aac-pat-not-at-start.ts', 1],
    ['fmp4-h264-aac-18frag.mp4', 9],
    ['flv-h264-aac.flv', 4],
    ['mkv-h264-aac-60s.mkv', 19],
  ])('%s: keeps what was stable at any size', async (name, stable) => {
    const bytes = readFileSync(fixturePath(name))
    // At no boundary of packets.
    const steps = Array.from({ length: 25 }, (_, i) => 40 * i + 0.7)
    expect(await growBytes(bytes, steps)).toBe(stable)
  })
})

/** Matroska with the sizes of its clusters and an index of seeks, as a recorder closes it. */
function closeMatroska(open: Buffer): Buffer {
  const tail = element(ID.cues, Buffer.alloc(300))
  const closed = Buffer.concat([open, tail])
  const mark = Buffer.from('1f43b675', 'hex')
  for (let at = closed.indexOf(mark); at >= 0;) {
    const next = closed.indexOf(mark, at + 12)
    const end = next < 0 ? open.length : next
    closed.writeBigUInt64BE(BigInt(end - at - 12) | (1n << 56n), at + 4)
    at = next
  }
  return closed
}

/** FLV with a metadata tag of the duration, which is rewritten at the end. */
function withMetadata(bytes: Buffer, duration: number): Buffer {
  const head = flvFile([metadataTag({ duration })])
  return Buffer.concat([head, bytes.subarray(flvHeader().length)])
}

describe('a recorder that rewrites its headers on close', () => {
  const write = (name: keyof typeof RECORDERS) => Buffer.concat(RECORDERS[name](plainSession(20)))
  const flv = write('FLV')
  const matroska = write('Matroska with open clusters')

  it.each([
    ['FLV', withMetadata(flv, 0), withMetadata(flv, 20)],
    ['Matroska', matroska, closeMatroska(matroska)],
  ])('changes nothing of %s that is stable', async (_, growing, closed) => {
    const part = growing.subarray(0, growing.length / 2)
    expect(closed.subarray(0, part.length).equals(part)).toBe(false)
    const early = await indexOf(part)
    const reader = await readers.forFile(bytesFile(closed))
    const whole = await reader.index(bytesFile(closed), signal)
    await checkStable({ reader, bytes: closed }, early, { size: part.length, whole })
    const { offset = 0, length = 0 } = early.growth?.stableRange ?? {}
    expect(length).toBeGreaterThan(500)
    const range = (bytes: Buffer) => bytes.subarray(offset, offset + length).toString('hex')
    expect(range(closed)).toBe(range(growing))
  })
})
