// The reader on growing recordings: stable split points stay whatever follows, and only appended
// bytes are read.
import { deserialize, serialize } from 'node:v8'
import { describe, expect, it } from 'vitest'
import { bytesFile } from '../../../test/support/bytes-file.ts'
import { createRandom, corrupt } from '../../../test/support/make/corrupt.ts'
import {
  AAC_TRACK,
  H264_TRACK,
  ID,
  SRT_TRACK,
  claimedElement,
  clusters,
  element,
  filmBlocks,
  mkvFile,
  type BlockPlan,
} from '../../../test/support/make/make-mkv.ts'
import { isAppError } from '../../base/errors.ts'
import type { OpenFile } from '../../storage/recordings/storage.ts'
import {
  SPLIT_DISCONTINUITY,
  SPLIT_KEY_FRAME,
  SPLIT_FORCED,
  type MediaIndex,
} from '../media-index.ts'
import { createMatroskaReader } from './matroska-reader.ts'

const reader = createMatroskaReader()
const { signal } = new AbortController()

/**
 * The index of the first bytes, as read from its index file; undefined while nothing is playable.
 */
async function indexPart(
  bytes: Uint8Array,
  previous?: MediaIndex,
): Promise<MediaIndex | undefined> {
  try {
    const index = await reader.index(bytesFile(bytes), signal, previous)
    const restored: unknown = deserialize(serialize(index))
    expect(restored).toEqual(index)
    return index
  } catch (error) {
    if (isAppError(error, 'unplayable')) return undefined
    throw error
  }
}

/** Asserts that the longer recording's index contains all that the shorter one's calls stable. */
async function expectStable(early: MediaIndex, late: MediaIndex, bytes: Uint8Array): Promise<void> {
  const count = early.growth?.stableSplitPoints ?? 0
  expect(late.growth?.stableSplitPoints).toBeGreaterThanOrEqual(count)
  for (const list of ['startTicks', 'flags'] as const) {
    expect([...late.splitPoints[list].subarray(0, count)]).toEqual([
      ...early.splitPoints[list].subarray(0, count),
    ])
  }
  const { growth } = count >= 2 ? early : late
  expect(late.growth?.stableRange).toEqual(growth?.stableRange)
  const file = bytesFile(bytes)
  for (let from = Math.max(0, count - 4); from + 1 < count; from += 1) {
    const range = { from, to: from + 1, tracks: late.tracks.map((_, track) => track) }
    expect(await reader.readSegment(file, early, range)).toEqual(
      await reader.readSegment(file, late, range),
    )
    expect(reader.initTracks(early, from)).toEqual(reader.initTracks(late, from))
  }
}

/**
 * Indexes random prefixes, each from the previous index and each from the start, and compares both
 * with the whole.
 */
async function expectSameInChunks(bytes: Uint8Array, chunks: number): Promise<MediaIndex> {
  const whole = await indexPart(bytes)
  if (whole === undefined) throw new Error('the whole recording is unplayable')
  const random = createRandom(chunks)
  const sizes = Array.from({ length: chunks }, () => random(bytes.length)).toSorted((a, b) => a - b)
  let previous: MediaIndex | undefined
  for (const size of [...sizes, bytes.length]) {
    const part = bytes.subarray(0, size)
    const growing = await indexPart(part, previous)
    expect(growing).toEqual(size % 5 === 0 ? await indexPart(part) : growing)
    if (growing === undefined) continue
    await expectStable(growing, whole, bytes)
    previous = growing
  }
  expect(previous).toEqual(whole)
  return whole
}

const TRACKS = [H264_TRACK, AAC_TRACK, SRT_TRACK]

function cue(time: number, words: string): BlockPlan {
  return { track: 3, time, frames: [Buffer.from(words)], form: 'group', duration: 900 }
}

function withCues(blocks: BlockPlan[]): BlockPlan[] {
  return blocks.flatMap((each, i) => (i % 40 === 7 ? [each, cue(each.time, `line ${i}`)] : [each]))
}

describe('growing recordings', () => {
  it.each([
    ['a void', element(0xec, Buffer.alloc(0)), 0xec],
    ['tags', element(0x1254c367, Buffer.alloc(0)), 0x1254c367],
  ])('retain the clusters inside %s of wrong size', async (_, right, id) => {
    const [first = Buffer.alloc(0), ...others] = clusters(
      filmBlocks({ seconds: 20, frameBytes: 400 }),
      { size: 'known', ticks: 1000 },
    )
    const wrong = claimedElement(id, 20_001)
    const bytes = mkvFile(TRACKS, [first, wrong, ...others])
    const whole = await expectSameInChunks(bytes, 60)
    const audio = await reader.index(bytesFile(mkvFile(TRACKS, [first, right, ...others])), signal)
    expect(whole.splitPoints).toEqual(audio.splitPoints)
  })

  it.each([
    ['key frames every two seconds', filmBlocks({ seconds: 20, reordered: 3 })],
    ['no key frame for long', filmBlocks({ seconds: 40, keyEveryMs: 20_000, reordered: 1 })],
    ['video that ends', withoutVideo(filmBlocks({ seconds: 40 }), 4000, 40_000)],
    ['video with a pause', withoutVideo(filmBlocks({ seconds: 30 }), 4000, 14_000)],
    ['video with a long pause', withoutVideo(filmBlocks({ seconds: 50 }), 4000, 34_500)],
    ['timestamps that jump ahead', jumping(filmBlocks({ seconds: 20 }), 5000, 60_000)],
    [
      'timestamps that jump back',
      jumping(filmBlocks({ seconds: 20, startMs: 9000 }), 15_500, -7000),
    ],
    ['a start without its key frame', filmBlocks({ seconds: 10, reordered: 1 }).slice(30)],
    ['time that begins late', filmBlocks({ seconds: 10, startMs: 3_600_000 })],
  ])('%s: equal in steps and at once', async (_, blocks) => {
    const bytes = mkvFile(TRACKS, clusters(withCues(blocks), { size: 'open' }))
    const index = await expectSameInChunks(bytes, 60)
    expect(index.growth?.stableSplitPoints).toBe(index.splitPoints.startTicks.length - 1)
  })

  it('audio only', async () => {
    const blocks = filmBlocks({ seconds: 20 }).filter(({ track }) => track === 2)
    const index = await expectSameInChunks(mkvFile([AAC_TRACK], clusters(blocks)), 40)
    expect(index.splitPoints.startTicks).toHaveLength(20)
    expect([...index.splitPoints.flags].every((flags) => flags === 0)).toBe(true)
  })

  it('concatenated files with corrupt bytes between them', async () => {
    const film = mkvFile(TRACKS, clusters(filmBlocks({ seconds: 8, reordered: 1 })))
    const corruption = Buffer.alloc(5000, 0x07)
    const bytes = Buffer.concat([film, film.subarray(0, 60_000), corruption, film])
    const { splitPoints } = await expectSameInChunks(bytes, 60)
    expect(
      [...splitPoints.flags].filter((flags) => (flags & SPLIT_DISCONTINUITY) !== 0),
    ).toHaveLength(2)
  })

  it.each(['known', 'open'] as const)(
    'are equal when corrupted while growing, clusters of %s size',
    async (size) => {
      const blocks = filmBlocks({ seconds: 8, reordered: 1, keyEveryMs: 1000, frameBytes: 60 })
      const original = mkvFile(TRACKS, clusters(blocks, { size, ticks: 500 }))
      const random = createRandom(7)
      let compared = 0
      for (let copy = 0; copy < 100; copy += 1) {
        const bytes = corrupt(original, random)
        const whole = await indexPart(bytes)
        let previous: MediaIndex | undefined
        for (
          let length = random(9000);
          whole !== undefined && length < bytes.length;
          length += random(30_000)
        ) {
          previous = (await indexPart(bytes.subarray(0, length), previous)) ?? previous
          if (previous !== undefined) await expectStable(previous, whole, bytes)
          compared += 1
        }
      }
      expect(compared).toBeGreaterThan(200)
    },
  )

  it('are read from the appended bytes only', async () => {
    const blocks = filmBlocks({ seconds: 60, frameBytes: 20_000 })
    const bytes = mkvFile(TRACKS, clusters(blocks, { size: 'open' }))
    const before = await indexPart(bytes.subarray(0, bytes.length - 500_000))
    let readBytes = 0
    const file = bytesFile(bytes)
    const counted: OpenFile = {
      ...file,
      read: async (buffer, position) => {
        const count = await file.read(buffer, position)
        readBytes += count
        return count
      },
    }
    await reader.index(counted, signal, before)
    expect(bytes.length).toBeGreaterThan(20_000_000)
    expect(readBytes).toBeLessThan(600_000)
  })

  it('do not treat as stable what a recorder rewrites on close', async () => {
    const blocks = filmBlocks({ seconds: 20 })
    const open = mkvFile(TRACKS, clusters(blocks, { size: 'open' }))
    const growing = await indexPart(open.subarray(0, 200_000))
    const { offset, length } = growing?.growth?.stableRange ?? { offset: 0, length: 0 }
    expect(length).toBeGreaterThan(1000)
    const tail = element(ID.cues, Buffer.alloc(300))
    const closed = Buffer.concat([mkvFile(TRACKS, clusters(blocks, { size: 'open' })), tail])
    // The sizes of segment and clusters are filled in, in place.
    const sized = Buffer.from(closed)
    for (let at = sized.indexOf('1f43b675', 'hex'); at >= 0;) {
      const next = sized.indexOf('1f43b675', at + 12, 'hex')
      const end = next < 0 ? closed.length - tail.length : next
      sized.writeBigUInt64BE(BigInt(end - at - 12) | (1n << 56n), at + 4)
      at = next
    }
    expect(sized.equals(closed)).toBe(false)
    const range = [offset, offset + length] as const
    expect(sized.subarray(...range).equals(open.subarray(...range))).toBe(true)
    const [early, late] = [growing, await indexPart(sized)]
    if (early === undefined || late === undefined) throw new Error('unplayable')
    await expectStable(early, late, sized)
  })

  it('get forced split points in long GOPs', async () => {
    const blocks = filmBlocks({ seconds: 30, keyEveryMs: 20_000, reordered: 3 })
    const index = await indexPart(mkvFile(TRACKS, clusters(blocks)))
    const seconds = [...(index?.splitPoints.startTicks ?? [])].map((ticks) => ticks / 90_000)
    expect(seconds[1]).toBeCloseTo(5, 0)
    expect(seconds[9]).toBe(20)
    for (const at of [2, 3, 4, 5, 6, 7, 8, 11, 12]) {
      expect((seconds[at] ?? 0) - (seconds[at - 1] ?? 0)).toBeCloseTo(2, 0)
    }
    expect(index?.splitPoints.flags[1]).toBe(SPLIT_FORCED)
    expect(index?.splitPoints.flags[9]).toBe(SPLIT_KEY_FRAME)
  })
})

/** The film without the frames of a time range. */
function withoutVideo(blocks: BlockPlan[], fromMs: number, toMs: number): BlockPlan[] {
  return blocks.filter(({ track, time }) => track !== 1 || time < fromMs || time >= toMs)
}

/** The film with all times from one on shifted. */
function jumping(blocks: BlockPlan[], fromMs: number, byMs: number): BlockPlan[] {
  const first = blocks.findIndex(({ time }) => time >= fromMs)
  return blocks.map((each, i) => (i < first ? each : { ...each, time: each.time + byMs }))
}
