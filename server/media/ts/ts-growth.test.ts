// The reader against recordings that grow: what was said stays, whatever comes, and only what was added is read.
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { deserialize, serialize } from 'node:v8'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bytesFile } from '../../../test/support/bytes-file.ts'
import {
  AAC_STREAM,
  adtsFrames,
  AUDIO_PID,
  createTsMaker,
  H264_STREAM,
  h264Picture,
  joinPackets,
  VIDEO_PID,
} from '../../../test/support/make-ts.ts'
import type { TsMaker } from '../../../test/support/make-ts.ts'
import { readSegmentBytes } from '../../../test/support/ts-segments.ts'
import { isAppError } from '../../errors.ts'
import type { OpenFile } from '../../storage/storage.ts'
import { CUT_MID } from '../media-index.ts'
import type { MediaIndex } from '../media-index.ts'
import { createTsReader } from './ts-reader.ts'

const reader = createTsReader()
const SECOND = 90_000

/** The index as it comes out of its side file; undefined where the recording cannot be played (so far). */
async function indexPart(
  bytes: Uint8Array,
  previous?: MediaIndex,
): Promise<MediaIndex | undefined> {
  try {
    const index = await reader.index(bytesFile(bytes), AbortSignal.timeout(5000), previous)
    const kept: unknown = deserialize(serialize(index))
    expect(kept).toEqual(index)
    return index
  } catch (error) {
    if (isAppError(error, 'unplayable')) return undefined
    throw error
  }
}

/** What must never change once it was said. */
function stableFacts({ cuts, growth, source }: MediaIndex) {
  if (source.container !== 'ts') throw new Error('no MPEG-TS')
  const count = growth?.stableCuts ?? 0
  return {
    starts: [...cuts.startTicks.subarray(0, count)],
    flags: [...cuts.flags.subarray(0, count)],
    offsets: [...source.offsets.subarray(0, count)],
    counters: [...source.tableCounters.subarray(0, count)],
  }
}

/** Asserts that all that a shorter recording's index calls stable is in the longer one's. */
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
    const before = await readSegmentBytes({ reader, file, index: early }, range)
    const after = await readSegmentBytes({ reader, file, index: late }, range)
    expect(Buffer.compare(after, before)).toBe(0)
  }
}

/** Indexes a recording as it grows through the sizes. Answers how many cuts were stable in the end. */
async function grow(bytes: Uint8Array, sizes: number[]): Promise<number> {
  let previous: MediaIndex | undefined
  for (const size of [...sizes, bytes.length]) {
    const part = bytes.subarray(0, size)
    const index = await indexPart(part, previous)
    expect(index).toEqual(await indexPart(part))
    if (previous !== undefined && index !== undefined) await expectKept(previous, index, part)
    previous = index ?? previous
  }
  return previous?.growth?.stableCuts ?? 0
}

/** One thing that happens in a recording. */
type Event =
  | 'gop'
  | 'dense gop'
  | 'long gop'
  | 'b-frames'
  | 'back'
  | 'forward'
  | 'pause'
  | 'mid-gop jump'
  | 'wrong stamp'
  | 'sound alone'
  | 'pictures alone'
  | 'recovery'
  | 'other parameters'
  | 'plain'
  | 'tables'
  | 'other tables'
  | 'other sound'
  | 'garbage'
  | 'loss'

const EVENTS: Event[] = [
  ...(['gop', 'gop', 'gop', 'dense gop', 'long gop', 'b-frames', 'back', 'forward'] as const),
  ...(['pause', 'mid-gop jump', 'wrong stamp', 'sound alone', 'pictures alone'] as const),
  ...(['recovery', 'other parameters', 'plain', 'tables', 'other tables'] as const),
  ...(['other sound', 'garbage', 'loss'] as const),
]

const OTHER_AUDIO_PID = 0x105

/** Writes a recording from events; pictures 250 ms apart, the sound woven through them. */
class Writer {
  readonly packets: Uint8Array[] = []
  readonly maker: TsMaker = createTsMaker()
  clock: number
  audioPid = AUDIO_PID
  #version = 0

  constructor(startTicks: number) {
    this.clock = startTicks
  }

  tables(): void {
    const audio = { ...AAC_STREAM, pid: this.audioPid }
    const streams = this.#version % 2 === 0 ? [H264_STREAM, audio] : [H264_STREAM, PRIVATE, audio]
    const version = { version: this.#version % 32 }
    this.packets.push(...this.maker.pat(), ...this.maker.pmt(streams, version))
  }

  frame(kind: Parameters<typeof h264Picture>[0] | undefined, sound: 'sound' | 'no sound'): void {
    const pts = this.clock
    this.clock += SECOND / 4
    const stamps = { pts: pts + SECOND / 4, dts: pts }
    const picture = kind && this.maker.pes(VIDEO_PID, stamps, h264Picture(kind, 500))
    const audio =
      sound === 'sound' ? this.maker.pes(this.audioPid, { pts }, adtsFrames(12, 40)) : []
    // A piece of the sound lies behind the next picture's start.
    this.packets.push(...audio.slice(0, 1), ...(picture ?? []).slice(0, 1), ...audio.slice(1))
    this.packets.push(...(picture ?? []).slice(1))
  }

  gop(kind: Parameters<typeof h264Picture>[0], pictures: number): void {
    for (let i = 0; i < pictures; i++) this.frame(i === 0 ? kind : 'plain', 'sound')
  }

  write(event: Event): void {
    ACTIONS[event](this)
  }

  changeTables(): void {
    this.#version++
    this.tables()
  }
}

const PRIVATE = { type: 0x81, pid: 0x110 }

const ACTIONS: Record<Event, (writer: Writer) => void> = {
  gop: (writer) => writer.gop('key', 4),
  'dense gop': (writer) => {
    for (let i = 0; i < 4; i++) writer.gop('key', 2)
  },
  'long gop': (writer) => writer.gop('key', 60),
  'b-frames': (writer) => {
    const start = writer.clock
    for (const [i, shown] of [0, 3, 1, 2, 4, 7, 5, 6].entries()) {
      const dts = start + i * (SECOND / 4)
      const pts = start + (shown + 2) * (SECOND / 4)
      const picture = h264Picture(i === 0 ? 'key' : 'plain', 300)
      writer.packets.push(...writer.maker.pes(VIDEO_PID, { pts, dts }, picture))
      writer.packets.push(...writer.maker.pes(writer.audioPid, { pts: dts }, adtsFrames(12, 30)))
    }
    writer.clock = start + 2 * SECOND
  },
  back: (writer) => {
    writer.clock -= 100 * SECOND
    writer.gop('key', 3)
  },
  forward: (writer) => {
    writer.clock += 3000 * SECOND
    writer.gop('key', 3)
  },
  pause: (writer) => {
    writer.clock += 12 * SECOND
    writer.gop('key', 4)
  },
  'mid-gop jump': (writer) => {
    writer.clock -= 500 * SECOND
    writer.gop('plain', 3)
  },
  'wrong stamp': (writer) => {
    const { clock } = writer
    writer.clock = clock + 77_777 * SECOND
    writer.frame('plain', 'no sound')
    writer.clock = clock
  },
  'sound alone': (writer) => {
    for (let i = 0; i < 100; i++) writer.frame(undefined, 'sound')
  },
  'pictures alone': (writer) => {
    for (let i = 0; i < 45; i++) writer.frame(i % 5 === 0 ? 'key' : 'plain', 'no sound')
  },
  recovery: (writer) => {
    for (let i = 0; i < 9; i++) writer.gop('recovery', 4)
  },
  'other parameters': (writer) => writer.gop('other key', 4),
  plain: (writer) => writer.gop('plain', 2),
  tables: (writer) => writer.tables(),
  'other tables': (writer) => writer.changeTables(),
  'other sound': (writer) => {
    writer.audioPid = writer.audioPid === AUDIO_PID ? OTHER_AUDIO_PID : AUDIO_PID
    writer.tables()
  },
  garbage: ({ packets }) => packets.push(new Uint8Array(301).fill(0x47, 3, 100)),
  loss: ({ maker, packets }) => {
    maker.pes(VIDEO_PID, { pts: 0 }, h264Picture('plain', 300))
    const last = packets.pop()
    if (last !== undefined) packets.push(last.subarray(0, 90))
  },
}

interface Story {
  start: number
  tables: 'first' | 'late'
  events: Event[]
}

const story: fc.Arbitrary<Story> = fc.record({
  start: fc.constantFrom(SECOND, 2 ** 33 - 5 * SECOND, 2 ** 32),
  tables: fc.constantFrom('first', 'late'),
  events: fc.array(fc.constantFrom(...EVENTS), { minLength: 1, maxLength: 14 }),
})

function tell({ start, tables, events }: Story): Uint8Array {
  const writer = new Writer(start)
  if (tables === 'late') writer.write('gop')
  writer.tables()
  for (const event of events) writer.write(event)
  return Buffer.concat(writer.packets)
}

describe('a recording that grows', () => {
  it('keeps all that was stable, and ends as it would have at once, whatever comes in whatever pieces', async () => {
    let stable = 0
    await fc.assert(
      fc.asyncProperty(
        story,
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 8 }),
        async (told, parts) => {
          const bytes = tell(told)
          const sizes = parts.map((part) => Math.floor(part * bytes.length)).sort((a, b) => a - b)
          stable += await grow(bytes, sizes)
        },
      ),
      { numRuns: 300 },
    )
    expect(stable).toBeGreaterThan(300)
  })
})
