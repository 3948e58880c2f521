// Growing recordings: what is stable stays, and only added bytes are read.
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { deserialize, serialize } from 'node:v8'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bytesFile } from '../../../test/support/bytes-file.ts'
import {
  adtsFrames,
  AUDIO_PID,
  h264Frame,
  joinPackets,
  VIDEO_PID,
} from '../../../test/support/make/make-ts.ts'
import { TS_EVENTS, TsStory } from '../../../test/support/make/make-ts-story.ts'
import type { TsEvent } from '../../../test/support/make/make-ts-story.ts'
import { isAppError } from '../../base/errors.ts'
import type { OpenFile } from '../../storage/recordings/storage.ts'
import { SPLIT_FORCED } from '../media-index.ts'
import type { MediaIndex } from '../media-index.ts'
import { createTsReader } from './ts-reader.ts'
import { patienceMs } from '../../../test/support/patience.ts'

const reader = createTsReader()
const SECOND = 90_000

/** The index as restored from its index file; undefined while the recording is unplayable. */
async function indexPart(
  bytes: Uint8Array,
  previous?: MediaIndex,
): Promise<MediaIndex | undefined> {
  try {
    const index = await reader.index(bytesFile(bytes), AbortSignal.timeout(patienceMs), previous)
    const kept: unknown = deserialize(serialize(index))
    expect(kept).toEqual(index)
    return index
  } catch (error) {
    if (isAppError(error, 'unplayable')) return undefined
    throw error
  }
}

/** The values that must never change once stable. */
function stableFacts({ splitPoints, growth, source }: MediaIndex) {
  if (source.container !== 'ts') throw new Error('no MPEG-TS')
  const count = growth?.stableSplitPoints ?? 0
  return {
    starts: [...splitPoints.startTicks.subarray(0, count)],
    flags: [...splitPoints.flags.subarray(0, count)],
    offsets: [...source.offsets.subarray(0, count)],
    counters: [...source.tableCounters.subarray(0, count)],
  }
}

/** Asserts that the index of a longer recording keeps what was stable. */
async function expectKept(early: MediaIndex, late: MediaIndex, bytes: Uint8Array): Promise<void> {
  const said = stableFacts(early)
  const now = stableFacts(late)
  const count = said.starts.length
  expect(now.starts.length).toBeGreaterThanOrEqual(count)
  expect(now.starts.slice(0, count)).toEqual(said.starts)
  expect(now.flags.slice(0, count)).toEqual(said.flags)
  expect(now.offsets.slice(0, count)).toEqual(said.offsets)
  expect(now.counters.slice(0, count)).toEqual(said.counters)
  if (count >= 2) expect(late.growth?.stableRange).toEqual(early.growth?.stableRange)
  const file = bytesFile(bytes)
  for (let from = 0; from + 1 < count; from++) {
    const range = { from, to: from + 1 }
    const before = await reader.readSegment(file, early, range)
    expect(await reader.readSegment(file, late, range)).toEqual(before)
    expect(reader.initTracks(late, from)).toEqual(reader.initTracks(early, from))
  }
}

/** Indexes a recording at each size. Returns the final number of stable split points. */
async function grow(bytes: Uint8Array, sizes: number[]): Promise<number> {
  let previous: MediaIndex | undefined
  for (const size of [...sizes, bytes.length]) {
    const part = bytes.subarray(0, size)
    const index = await indexPart(part, previous)
    expect(index).toEqual(await indexPart(part))
    if (previous !== undefined && index !== undefined) await expectKept(previous, index, part)
    previous = index ?? previous
  }
  return previous?.growth?.stableSplitPoints ?? 0
}

interface Story {
  start: number
  tables: 'first' | 'late' | 'radio' | 'languages'
  events: TsEvent[]
}

const story: fc.Arbitrary<Story> = fc.record({
  start: fc.constantFrom(SECOND, 2 ** 33 - 5 * SECOND, 2 ** 32),
  tables: fc.constantFrom('first', 'late', 'radio', 'languages'),
  events: fc.array(fc.constantFrom(...TS_EVENTS), { minLength: 1, maxLength: 14, size: 'max' }),
})

function writeStory({ start, tables, events }: Story): Uint8Array {
  const writer = new TsStory(start)
  if (tables === 'late') writer.write('gop')
  if (tables === 'radio' || tables === 'languages') writer.kind = tables
  writer.tables()
  for (const event of events) writer.write(event)
  return Buffer.concat(writer.packets)
}

describe('a growing recording', () => {
  it('keeps all that was stable, and ends as if indexed at once, for any chunks', async () => {
    let stable = 0
    await fc.assert(
      fc.asyncProperty(
        story,
        // In thousandths of the whole.
        fc.array(fc.nat(1000), { minLength: 2, maxLength: 9, size: 'max' }),
        async (plan, parts) => {
          const bytes = writeStory(plan)
          const sizes = parts
            .map((part) => Math.floor((part * bytes.length) / 1000))
            .sort((a, b) => a - b)
          stable += await grow(bytes, sizes)
        },
      ),
      { numRuns: 60 },
    )
    expect(stable).toBeGreaterThan(600)
  })
})

/** Bytes that count reads. */
function countingFile(bytes: Uint8Array): { file: OpenFile; readBytes: () => number } {
  const inner = bytesFile(bytes)
  let total = 0
  const file: OpenFile = {
    ...inner,
    async read(buffer, position) {
      const length = await inner.read(buffer, position)
      total += length
      return length
    },
  }
  return { file, readBytes: () => total }
}

/** `minutes` with a GOP a second and audio. */
function plainMinutes(minutes: number): Uint8Array {
  const writer = new TsStory(SECOND)
  writer.tables()
  for (let second = 0; second < minutes * 60; second++) writer.gop('key', 4)
  return joinPackets(writer.packets)
}

async function indexOf(bytes: Uint8Array, previous?: MediaIndex): Promise<MediaIndex> {
  return reader.index(bytesFile(bytes), AbortSignal.timeout(patienceMs), previous)
}

describe('growing', () => {
  it('reads the added bytes, and almost nothing again', async () => {
    const bytes = plainMinutes(30)
    let previous = await indexOf(bytes.subarray(0, 100_000))
    for (let size = 200_000; size < bytes.length; size += 100_000) {
      const { file, readBytes } = countingFile(bytes.subarray(0, size))
      previous = await reader.index(file, AbortSignal.timeout(patienceMs), previous)
      // The last packet, for sync, and the last PES packet of audio, for its duration.
      expect(readBytes()).toBeLessThan(100_000 + 10_000)
    }
    expect(previous.growth?.stableSplitPoints).toBeGreaterThan(30 * 55)
  })

  it('needs a small index for ten hours', async () => {
    const bytes = plainMinutes(60)
    const index = await indexOf(bytes)
    expect(index.splitPoints.startTicks.length).toBe(3600)
    expect(serialize(index).length * 10).toBeLessThan(1_000_000)
  })

  it.each([
    ['ts-h264-aac-pts-reset-backwards.ts', 12],
    // Its last split point is forced.
    ['ts-h264-pts-wrap-33bit.ts', 3],
    ['ts-h264-aac-cea608.ts', 3],
    ['ts-h264-aac-pat-not-at-start.ts', 1],
  ])('%s: keeps what was stable at any size', async (name, stable) => {
    const fixtures = path.join(import.meta.dirname, '../../../test/fixtures/media')
    const bytes = await readFile(path.join(fixtures, name))
    const step = Math.ceil(bytes.length / 25 / 188) * 188 + 61
    const sizes = Array.from({ length: 25 }, (_, i) => Math.min(bytes.length, (i + 1) * step))
    expect(await grow(bytes, sizes)).toBe(stable)
  })

  it('continues from any byte', async () => {
    const writer = new TsStory(SECOND)
    writer.tables()
    for (const event of ['gop', 'garbage', 'gop', 'mid-gop jump', 'gop', 'loss', 'gop'] as const) {
      writer.write(event)
    }
    const bytes = Buffer.concat(writer.packets)
    const whole = await indexOf(bytes)
    for (let size = 1000; size < bytes.length; size += 97) {
      const early = await indexPart(bytes.subarray(0, size))
      expect(await indexOf(bytes, early)).toEqual(whole)
    }
  })

  it('continues with packets of 192 bytes', async () => {
    const writer = new TsStory(SECOND)
    writer.tables()
    for (let i = 0; i < 8; i++) writer.gop('key', 4)
    const bytes = joinPackets(writer.packets, 192)
    expect(await grow(bytes, [3000, 9000, 9100, 20_001])).toBe(8)
  })

  it('continues with any corrupt bytes', async () => {
    let stable = 0
    const bytes = plainMinutes(1).subarray(0, 120_000)
    const flip = fc.record({ at: fc.nat(bytes.length - 1), byte: fc.nat(255) })
    const parts = fc.array(fc.nat(bytes.length), { minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(
        fc.array(flip, { minLength: 1, maxLength: 60 }),
        parts,
        async (flips, sizes) => {
          const damaged = bytes.slice()
          for (const { at, byte } of flips) damaged[at] = byte
          // Headers are a small part of all bytes, and the most sensitive.
          for (const { at, byte } of flips) damaged[at - (at % 188) + 1 + (byte % 30)] = byte
          sizes.sort((a, b) => a - b)
          stable += await grow(damaged, sizes)
        },
      ),
      {
        numRuns: 60,
        examples: [
          // Another SPS, of which the section has to gather its parameter sets.
          [
            [
              { at: 5137, byte: 80 },
              { at: 377, byte: 0 },
            ],
            [5264],
          ],
        ],
      },
    )
    expect(stable).toBeGreaterThan(60)
  })

  it('starts again if the file became shorter', async () => {
    const bytes = plainMinutes(1)
    const shorter = bytes.subarray(0, 100_000)
    expect(await indexOf(shorter, await indexOf(bytes))).toEqual(await indexOf(shorter))
  })

  it('has nothing stable while listed video is missing', async () => {
    const writer = new TsStory(SECOND)
    writer.tables()
    writer.write('audio only')
    const early = await indexOf(joinPackets(writer.packets))
    expect(early.tracks.map(({ kind }) => kind)).toEqual(['audio'])
    expect(early.growth).toEqual({ stableSplitPoints: 0, stableRange: { offset: 0, length: 0 } })
    writer.write('audio only')
    const later = await indexOf(joinPackets(writer.packets), early)
    expect(later.splitPoints.startTicks.length).toBeGreaterThan(45)
    writer.gop('key', 4)
    writer.gop('key', 4)
    const late = await indexOf(joinPackets(writer.packets), later)
    expect(late.tracks.map(({ kind }) => kind)).toEqual(['video', 'audio'])
    expect(late).toEqual(await indexOf(joinPackets(writer.packets)))
  })

  it('has nothing stable while a preferred program may come', async () => {
    const writer = new TsStory(SECOND)
    const radio = { type: 0x0f, pid: AUDIO_PID }
    const programs: [number, number][] = [
      [7, 0x1001],
      [1, 0x1000],
    ]
    writer.packets.push(
      ...writer.maker.pat(programs),
      ...writer.maker.pmt([radio], { pid: 0x1001, program: 7 }),
    )
    writer.write('audio only')
    const early = await indexOf(joinPackets(writer.packets))
    expect(early.growth?.stableSplitPoints).toBe(0)
    writer.packets.push(...writer.maker.pat(programs))
    writer.packets.push(...writer.maker.pmt([{ type: 0x1b, pid: VIDEO_PID }, radio]))
    for (let i = 0; i < 3; i++) writer.gop('key', 4)
    const late = await indexOf(joinPackets(writer.packets), early)
    expect(late.tracks.map(({ kind }) => kind)).toEqual(['video', 'audio'])
    expect(late.growth?.stableSplitPoints).toBe(3)
  })

  it('waits ten seconds for listed audio, and begins a section when it comes later', async () => {
    const writer = new TsStory(SECOND)
    writer.tables()
    for (let i = 0; i < 40; i++) writer.frame(i % 4 === 0 ? 'key' : 'plain', 'no audio')
    const waiting = await indexOf(joinPackets(writer.packets))
    expect(waiting.growth?.stableSplitPoints).toBe(1)
    for (let i = 0; i < 20; i++) writer.frame(i % 4 === 0 ? 'key' : 'plain', 'no audio')
    const silent = await indexOf(joinPackets(writer.packets), waiting)
    expect(silent.growth?.stableSplitPoints).toBe(15)
    for (let i = 0; i < 4; i++) writer.gop('key', 4)
    const late = await indexOf(joinPackets(writer.packets), silent)
    expect(late.tracks.map(({ kind }) => kind)).toEqual(['video', 'audio'])
    expect([...late.splitPoints.flags.subarray(14)]).toEqual([1, 3, 1, 1, 1])
  })

  it('splits a GOP without end about every two seconds after the fifth', async () => {
    const writer = new TsStory(SECOND)
    writer.tables()
    writer.gop('key', 80)
    const { splitPoints, growth } = await indexOf(joinPackets(writer.packets))
    const mid = [...splitPoints.startTicks].map((ticks) => ticks / SECOND)
    expect(mid).toEqual([0, 5.25, 7.25, 9.25, 11.25, 13.25, 15.25, 17.25, 19.25])
    expect([...splitPoints.flags.subarray(1)].every((flag) => flag === SPLIT_FORCED)).toBe(true)
    // A frame that is shown before the last one may follow.
    expect(growth?.stableSplitPoints).toBe(8)
  })

  it('splits between B-frames only if no earlier frame follows', async () => {
    const writer = new TsStory(SECOND)
    writer.tables()
    writer.gop('key', 1)
    const start = writer.clock
    const order = [3, 1, 2]
    for (let i = 0; i < 60; i++) {
      const dts = start + i * (SECOND / 4)
      const pts = start + (3 * Math.floor(i / 3) + (order[i % 3] ?? 0)) * (SECOND / 4)
      writer.packets.push(
        ...writer.maker.pes(VIDEO_PID, { pts, dts }, h264Frame('plain', 300)),
        ...writer.maker.pes(AUDIO_PID, { pts: dts }, adtsFrames(12, 30)),
      )
    }
    const { splitPoints } = await indexOf(joinPackets(writer.packets))
    // Groups of three frames, the first of which is shown last: a group begins with the time of its
    // second, here 0.75 s apart.
    const times = [...splitPoints.startTicks].map((ticks) => ticks / SECOND)
    expect(times).toEqual([0, 5.75, 8, 10.25, 12.5, 14.75])
  })
})
