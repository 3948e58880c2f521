// Video of every codec, as it is read from a recording, can be encoded.
import { readFile } from 'node:fs/promises'
import { afterAll, expect, test } from 'vitest'
import { bytesFile } from '../../../../test/support/bytes-file.ts'
import { annexB, encodeVideo } from '../../../../test/support/make/encode-video.ts'
import { writeVideo } from '../../../../test/support/make/write-video.ts'
import { patienceMs, patientDecoder } from '../../../../test/support/patience.ts'
import { fixturePath } from '../../../../test/support/temp-library.ts'
import { createVideoEncoder } from '../../../decode/video/video-encoder.ts'
import type { EncodedFormat, EncodedFrames } from '../../../decode/video/video-job.ts'
import { createMediaReaders } from '../../../media/readers.ts'
import { readRecordedVideo } from './recorded-video.ts'

const encoder = createVideoEncoder({ concurrency: 1, limits: patientDecoder })
afterAll(() => encoder.close())
const signal = () => AbortSignal.timeout(patienceMs)

async function formatFor(timescale: number): Promise<EncodedFormat> {
  const [first] = encodeVideo({ codec: 'h264', frames: 1, gop: 1 })
  if (first === undefined) throw new Error('there is no frame')
  const frame = { codec: 'h264', data: annexB(first), rotationDegrees: 0 } as const
  const target = { timescale, maxBitsPerSecond: 900_000 }
  const result = await encoder.describe(
    { kind: 'describe', frame, height: 48, ...target },
    signal(),
  )
  if (result.status !== 'done') throw new Error(result.reason)
  return result.value.value
}

/** Reads split points of a recording, and encodes them. */
async function encode(bytes: Uint8Array, range: { from: number; to: number }) {
  const file = bytesFile(bytes)
  const reader = await createMediaReaders().forFile(file)
  const recorded = await reader.index(file, signal())
  const index = reader.asSamples?.(recorded) ?? recorded
  const video = await readRecordedVideo({ index, reader }, file, range)
  const { timescale } = video
  const target = { timescale, maxBitsPerSecond: 900_000, startTicks: -1 }
  const format = await formatFor(timescale)
  const result = await encoder.encode({ kind: 'encode', video, format, ...target }, signal())
  if (result.status !== 'done') throw new Error(result.reason)
  return { video, encoded: result.value.value }
}

function secondsOf({ ticks }: EncodedFrames, timescale: number): number[] {
  return [...ticks].map((each) => Math.round((each / timescale) * 1000) / 1000)
}

test.each([
  ['h264', 'mp4'],
  ['h264', 'ts'],
  ['h264', 'flv'],
  ['hevc', 'mp4'],
  ['hevc', 'ts'],
  ['hevc', 'mkv'],
] as const)('%s in %s', async (codec, container) => {
  const frames = encodeVideo({ codec, frames: 75, gop: 25 })
  const { video, encoded } = await encode(writeVideo(container, { codec, frames }), {
    from: 1,
    to: 2,
  })
  expect([video.codec, video.leadInSamples]).toEqual([codec, 0])
  const times = Array.from({ length: 25 }, (_, at) => 1 + at * 0.04)
  const seconds = secondsOf(encoded, video.timescale)
  expect(seconds.length).toBe(25)
  seconds.forEach((each, at) => expect(each).toBeCloseTo(times[at] ?? NaN, 2))
})

test('AV1 with ten bits', async () => {
  const bytes = await readFile(fixturePath('mp4-av1-10bit-aac-portrait.mp4'))
  const { video, encoded } = await encode(bytes, { from: 0, to: 1 })
  expect(video.codec).toBe('av1')
  expect(encoded.ticks.length).toBe(video.ticks.length)
})
