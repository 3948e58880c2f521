// The reader with corrupt and hostile bytes, and with long recordings.
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { serialize } from 'node:v8'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bytesFile, openDiskFile } from '../../../test/support/bytes-file.ts'
import {
  AAC_STREAM,
  adtsFrames,
  AUDIO_PID,
  createTsMaker,
  H264_STREAM,
  h264Frame,
  joinPackets,
  VIDEO_PID,
} from '../../../test/support/make/make-ts.ts'
import {
  everyChunk,
  packetsOfPid,
  pidsOf,
  readSegmentBytes,
} from '../../../test/support/verify/ts-segments.ts'
import { isAppError } from '../../base/errors.ts'
import { durationSeconds } from '../media-index.ts'
import { createTsReader } from './ts-reader.ts'
import { watchCpu } from '../../../test/support/cpu-time.ts'
import { patienceMs } from '../../../test/support/patience.ts'

const reader = createTsReader()
const SECOND = 90_000
const KEY_FRAME = h264Frame('key', 500)
const PLAIN_FRAME = h264Frame('plain', 150)
const AUDIO = adtsFrames(47, 20)

/** Video and audio of `seconds`, two frames a second, tables each second. */
function smallRecording(seconds: number, startTicks: number): Uint8Array[] {
  const maker = createTsMaker()
  return Array.from({ length: seconds }, (_, i) => {
    const pts = startTicks + i * SECOND
    const key = maker.pes(VIDEO_PID, { pts }, KEY_FRAME)
    const audio = maker.pes(AUDIO_PID, { pts }, AUDIO)
    const plain = maker.pes(VIDEO_PID, { pts: pts + SECOND / 2 }, PLAIN_FRAME)
    return [...maker.pat(), ...maker.pmt([H264_STREAM, AAC_STREAM]), ...key, ...audio, ...plain]
  }).flat()
}

interface Damage {
  kind: 'change' | 'remove' | 'insert' | 'repeat'
  at: number
  length: number
  byte: number
}

const damage: fc.Arbitrary<Damage> = fc.record({
  kind: fc.constantFrom('change', 'remove', 'insert', 'repeat'),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.integer({ min: 1, max: 400 }),
  byte: fc.integer({ min: 0, max: 255 }),
})

function applyDamage(bytes: Uint8Array, { kind, at, length, byte }: Damage): Uint8Array {
  const from = Math.floor(at * bytes.length)
  if (kind === 'change') return bytes.with(Math.min(from, bytes.length - 1), byte)
  const chunk = bytes.subarray(from, from + length)
  const middle = { remove: [], insert: [new Uint8Array(length).fill(byte)], repeat: [chunk, chunk] }
  const behind = kind === 'insert' ? from : from + length
  return Buffer.concat([bytes.subarray(0, from), ...middle[kind], bytes.subarray(behind)])
}

/**
 * Indexes, and reads every segment and key frame; returns whether that succeeded or was rejected.
 */
async function readAll(bytes: Uint8Array): Promise<'played' | 'refused'> {
  const file = bytesFile(bytes)
  try {
    const index = await reader.index(file, AbortSignal.timeout(patienceMs))
    expect(durationSeconds(index)).toBeGreaterThan(0)
    const { startTicks, endTicks } = index.splitPoints
    startTicks.forEach((ticks, i) => expect(ticks).toBeLessThan(startTicks[i + 1] ?? endTicks))
    for (const range of everyChunk(index)) {
      const segment = await readSegmentBytes({ reader, file, index }, range)
      expect(segment.length % 188).toBe(0)
      for (let at = 0; at < segment.length; at += 188) expect(segment[at]).toBe(0x47)
      await reader.readKeyFrame(file, index, range.from)
    }
    return 'played'
  } catch (error) {
    if (isAppError(error)) return 'refused'
    throw error
  }
}

describe('corrupt recordings', () => {
  const whole = joinPackets(smallRecording(6, SECOND))

  it('are played or rejected, whatever is changed, lost, added or repeated', async () => {
    const seen = { played: 0, refused: 0 }
    await fc.assert(
      fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 12 }), async (damages) => {
        seen[await readAll(damages.reduce(applyDamage, whole))]++
      }),
      { numRuns: 500 },
    )
    expect(seen.played).toBeGreaterThan(250)
  })

  it('are played or rejected if only headers are corrupt', async () => {
    const flip = fc.record({
      packet: fc.nat(),
      at: fc.integer({ min: 1, max: 40 }),
      byte: fc.nat(255),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(flip, { minLength: 1, maxLength: 30 }), async (flips) => {
        const bytes = whole.slice()
        for (const { packet, at, byte } of flips) {
          bytes[(packet % (bytes.length / 188)) * 188 + at] = byte
        }
        expect(['played', 'refused']).toContain(await readAll(bytes))
      }),
      { numRuns: 500 },
    )
  })

  it('lose at most the corrupt second', async () => {
    const seconds = 8
    const packets = smallRecording(seconds, SECOND)
    const perSecond = packets.length / seconds
    const harm = fc.record({
      second: fc.integer({ min: 1, max: seconds - 2 }),
      packet: fc.nat(perSecond - 4),
      // Headers of packets, PES packets and frames, or any byte.
      at: fc.oneof(fc.nat(40), fc.nat(187)),
      bytes: fc.oneof(
        fc.uint8Array({ minLength: 1, maxLength: 4 }),
        fc.uint8Array({ minLength: 1, maxLength: 500, size: 'max' }),
      ),
    })
    await fc.assert(
      fc.asyncProperty(harm, async ({ second, packet, at, bytes }) => {
        const from = second * perSecond
        const damaged = joinPackets(packets)
        damaged.set(bytes, (from + packet) * 188 + at)
        const file = bytesFile(damaged)
        const index = await reader.index(file, AbortSignal.timeout(patienceMs))
        const rest = joinPackets([...packets.slice(0, from), ...packets.slice(from + perSecond)])
        const segments: Uint8Array[] = []
        for (const range of everyChunk(index)) {
          segments.push(await readSegmentBytes({ reader, file, index }, range))
        }
        for (const pid of [VIDEO_PID, AUDIO_PID]) {
          const served = segments.flatMap((segment) => packetsOfPid(segment, pid))
          expect(missing(packetsOfPid(rest, pid), served)).toEqual([])
        }
        expect(Math.abs(durationSeconds(index) - seconds)).toBeLessThan(2.1)
      }),
      {
        numRuns: 400,
        examples: [
          // A key frame with a stamp some seconds too late, and one with a stamp too early.
          [{ second: 1, packet: 2, at: 15, bytes: new Uint8Array([20, 0]) }],
          [{ second: 2, packet: 2, at: 11, bytes: new Uint8Array([192, 10, 2]) }],
          // A later frame with a stamp of after the end.
          [{ second: 1, packet: 5, at: 15, bytes: new Uint8Array([63, 0]) }],
        ],
      },
    )
  })

  it('of noise are rejected', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 5000 }), async (bytes) => {
        expect(await readAll(bytes)).toBe('refused')
      }),
      { numRuns: 100 },
    )
  })
})

/** The elements of `wanted` that are missing in `served`, with their counts. */
function missing(wanted: string[], served: string[]): string[] {
  const counts = new Map<string, number>()
  for (const packet of served) counts.set(packet, (counts.get(packet) ?? 0) + 1)
  return wanted.filter((packet) => {
    const left = counts.get(packet) ?? 0
    counts.set(packet, left - 1)
    return left <= 0
  })
}

describe('a recording of ten hours', () => {
  it('is indexed in seconds, over the wrap of its clock', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'ts-long-'))
    try {
      const seconds = 36_000
      // Two hours before the clock wraps.
      const startTicks = 2 ** 33 - 7200 * SECOND
      const recording = path.join(folder, 'long.ts')
      await writeLong(recording, seconds, startTicks)
      const file = await openDiskFile(recording)
      const cpuMs = watchCpu()
      const index = await reader.index(file, AbortSignal.timeout(patienceMs))
      expect(cpuMs()).toBeLessThan(5000)
      expect(index.splitPoints.startTicks).toEqual(
        Float64Array.from({ length: seconds }, (_, i) => i * SECOND),
      )
      expect(index.splitPoints.flags.every((flag) => flag === 1)).toBe(true)
      expect(durationSeconds(index)).toBeCloseTo(seconds, 1)
      expect(serialize(index.source).length).toBeLessThan(10 * 60_000)
      const last = await readSegmentBytes(
        { reader, file, index },
        { from: seconds - 6, to: seconds },
      )
      expect(pidsOf(last).slice(0, 3)).toEqual([0, 0x1000, VIDEO_PID])
      expect(packetsOfPid(last, VIDEO_PID).length).toBe(6 * 4)
      await file.close()
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})

/** Writes `seconds` in chunks. */
async function writeLong(recording: string, seconds: number, startTicks: number): Promise<void> {
  const handle = await open(recording, 'w')
  for (let done = 0; done < seconds; done += 600) {
    await handle.write(joinPackets(smallRecording(600, startTicks + done * SECOND)))
  }
  await handle.close()
}
