// What corrupt MPEG-TS loses, packet by packet; hostile.test.ts tests all containers.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { bytesFile } from '../../../test/support/bytes-file.ts'
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
import { rangesOf } from '../../../test/support/verify/served-samples.ts'
import { packetsOfPid, readSegmentBytes } from '../../../test/support/verify/ts-segments.ts'
import { durationSeconds } from '../media-index.ts'
import { createTsReader } from './ts-reader.ts'
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

it('corrupt recordings lose at most the corrupt second', async () => {
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
      for (const range of rangesOf(index, 1)) {
        segments.push(await readSegmentBytes({ reader, file, index }, range))
      }
      for (const pid of [VIDEO_PID, AUDIO_PID]) {
        const served = segments.flatMap((segment) => packetsOfPid(segment, pid))
        expect(missing(packetsOfPid(rest, pid), served)).toEqual([])
      }
      expect(Math.abs(durationSeconds(index) - seconds)).toBeLessThan(2.1)
    }),
    {
      numRuns: 200,
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

it('a frame may have packets of another program between all of its own', async () => {
  const maker = createTsMaker()
  const tables = [
    ...maker.pat([
      [1, 0x1000],
      [7, 0x1001],
    ]),
    ...maker.pmt([{ type: 0x0f, pid: 0x200 }], { pid: 0x1001, program: 7 }),
    ...maker.pmt([H264_STREAM]),
  ]
  const [other = new Uint8Array(188)] = maker.pes(0x200, { pts: SECOND }, adtsFrames(1))
  const frame = maker.pes(VIDEO_PID, { pts: SECOND }, h264Frame('key', 184 * 70_000))
  const packets = [...tables, ...frame.flatMap((packet) => [packet, other])]
  const file = bytesFile(joinPackets(packets))
  const index = await reader.index(file, AbortSignal.timeout(patienceMs))
  const segment = await reader.readSegment(file, index, { from: 0, to: 1 })
  const parts = segment.kind === 'ts' ? segment.parts.filter(({ kind }) => kind === 'range') : []
  expect(parts).toHaveLength(frame.length)
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
