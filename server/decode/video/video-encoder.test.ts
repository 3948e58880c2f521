import { afterAll, describe, expect, test } from 'vitest'
import { annexB, encodeVideo } from '../../../test/support/make/encode-video.ts'
import type { EncodedFrame, EncodeOptions } from '../../../test/support/make/encode-video.ts'
import { patienceMs, patientDecoder } from '../../../test/support/patience.ts'
import { decodeKeyFrame } from '../thumbnails/decode-key-frame.ts'
import { createVideoEncoder } from './video-encoder.ts'
import type { VideoEncoder } from './video-encoder.ts'
import type { DescribeJob, EncodedFormat, EncodedFrames, EncodeJob } from './video-job.ts'

/** Ticks of a frame at 25 frames per second. */
const FRAME_TICKS = 3600
const TARGET = { timescale: 90_000, maxBitsPerSecond: 900_000 }
const GOP: EncodeOptions = { codec: 'h264', frames: 50, gop: 25, params: 'bframes=2' }

const encoder = createVideoEncoder({ concurrency: 1, limits: patientDecoder })
afterAll(() => encoder.close())

function describeJob([frame]: readonly EncodedFrame[], changes: Partial<DescribeJob> = {}) {
  if (frame === undefined) throw new Error('there is no frame')
  const keyFrame = { codec: 'h264', data: annexB(frame), rotationDegrees: 0 } as const
  return { kind: 'describe', frame: keyFrame, height: 48, ...TARGET, ...changes } as const
}

async function describeVideo(job: DescribeJob, by = encoder): Promise<EncodedFormat> {
  const result = await by.describe(job, AbortSignal.timeout(patienceMs))
  if (result.status !== 'done') throw new Error(result.reason)
  return result.value.value
}

function encodeJob(
  frames: readonly EncodedFrame[],
  format: EncodedFormat,
  { leadInSamples = 0, codec = 'h264' as const } = {},
): EncodeJob {
  const samples = frames.map(annexB)
  return {
    kind: 'encode',
    format,
    startTicks: 0,
    ...TARGET,
    video: {
      codec,
      rotationDegrees: 0,
      bytes: Buffer.concat(samples),
      sizes: Uint32Array.from(samples, ({ length }) => length),
      ticks: Float64Array.from(frames, ({ pts }) => pts * FRAME_TICKS),
      timescale: TARGET.timescale,
      leadInSamples,
    },
  }
}

async function encode(job: EncodeJob, by: VideoEncoder = encoder): Promise<EncodedFrames> {
  const result = await by.encode(job, AbortSignal.timeout(patienceMs))
  if (result.status !== 'done') throw new Error(result.reason)
  return result.value.value
}

function ticksOf(frames: readonly EncodedFrame[]): number[] {
  return frames.map(({ pts }) => pts * FRAME_TICKS).sort((a, b) => a - b)
}

describe('the format of a rendition', () => {
  test('has the aspect of the video, even sizes, and is never larger', async () => {
    const frames = encodeVideo(GOP)
    const sizeOf = async (changes: Partial<DescribeJob>) => {
      const { width, height } = await describeVideo(describeJob(frames, changes))
      return `${width}x${height}`
    }
    expect(await sizeOf({})).toBe('64x48')
    expect(await sizeOf({ height: 50 })).toBe('66x50')
    expect(await sizeOf({ height: 480 })).toBe('128x96')
    const { frame } = describeJob(frames)
    expect(await sizeOf({ height: 64, frame: { ...frame, rotationDegrees: 90 } })).toBe('48x64')
  })

  test('applies the aspect of pixels', async () => {
    const frames = encodeVideo({ ...GOP, params: 'sar=2/1' })
    expect(await describeVideo(describeJob(frames))).toMatchObject({ width: 128, height: 48 })
  })

  test('prefers the aspect of pixels that the container states', async () => {
    const frames = encodeVideo({ ...GOP, params: 'sar=2/1' })
    const job = describeJob(frames, { pixelAspect: 1 })
    expect(await describeVideo(job)).toMatchObject({ width: 64, height: 48 })
  })

  test('is refused to HDR', async () => {
    const hdr = encodeVideo({ ...GOP, params: 'transfer=smpte2084:colorprim=bt2020' })
    const result = await encoder.describe(describeJob(hdr), AbortSignal.timeout(patienceMs))
    expect(result).toEqual({ status: 'undecodable', reason: 'the video is HDR' })
  })
})

describe('encoded frames', () => {
  test('are those of the segment, at their times', async () => {
    const frames = encodeVideo(GOP)
    const format = await describeVideo(describeJob(frames))
    const encoded = await encode(encodeJob(frames, format))
    expect([...encoded.ticks]).toEqual(ticksOf(frames))
  })

  test('begin with frames that refer to the GOP before', async () => {
    const frames = encodeVideo({ ...GOP, gop: 26, params: 'bframes=2:open-gop=1' })
    const second = frames.findIndex(({ isKey }, at) => at > 0 && isKey)
    const own = frames.slice(second)
    const [first] = own
    expect(ticksOf(own)[0]).toBeLessThan((first?.pts ?? 0) * FRAME_TICKS)
    const format = await describeVideo(describeJob(frames))
    const encoded = await encode(encodeJob(frames, format, { leadInSamples: second }))
    expect([...encoded.ticks]).toEqual(ticksOf(own))
  })

  test('are at most thirty per second', async () => {
    const frames = encodeVideo(GOP)
    const format = await describeVideo(describeJob(frames))
    const job = encodeJob(frames, format)
    const fast = { ...job.video, ticks: job.video.ticks.map((ticks) => ticks / 2.4) }
    const { ticks } = await encode({ ...job, video: fast })
    expect([...ticks]).toEqual(ticksOf(frames).flatMap((each, at) => (at % 2 ? [] : each / 2.4)))
  })

  test('are the frame before, where a segment has none of its own', async () => {
    const frames = encodeVideo(GOP)
    const format = await describeVideo(describeJob(frames))
    const job = encodeJob(frames, format, { leadInSamples: frames.length })
    const { ticks, sizes } = await encode({ ...job, startTicks: 777_777 })
    expect([...ticks]).toEqual([777_777])
    const none = { ...job.video, sizes: new Uint32Array(), ticks: new Float64Array() }
    const black = await encode({ ...job, video: none })
    expect(black.sizes[0]).toBeLessThan(sizes[0] ?? 0)
  })

  test('are upright', async () => {
    const frames = encodeVideo(GOP)
    const { frame } = describeJob(frames)
    const turned = { height: 480, frame: { ...frame, rotationDegrees: 90 } } as const
    const format = await describeVideo(describeJob(frames, turned))
    const job = encodeJob(frames, format)
    const { bytes, sizes } = await encode({ ...job, video: { ...job.video, rotationDegrees: 90 } })
    const data = bytes.subarray(0, sizes[0])
    const sample = { codec: 'h264', extradata: format.config, data, rotationDegrees: 0 } as const
    using decoded = decodeKeyFrame(sample)
    const { width, height } = decoded
    expect({ width, height }).toEqual({ width: 96, height: 128 })
    // The first row begins with a white line.
    const rightEnds = [0, 40, 80, 120].map((row) => decoded.toBuffer()[row * width + width - 1])
    expect(rightEnds.map((luma = 0) => (luma > 128 ? 'white' : 'black'))).toEqual([
      'white',
      'white',
      'black',
      'black',
    ])
  })

  test('have equal bytes in processes with other code for the processor', async () => {
    const frames = encodeVideo({ ...GOP, frames: 100 })
    const hwcaps = '-AVX512F,-AVX2,-AVX,-FMA,-SSE4_1'
    const plain = createVideoEncoder({
      concurrency: 1,
      limits: patientDecoder,
      environment: { GLIBC_TUNABLES: `glibc.cpu.hwcaps=${hwcaps}` },
    })
    try {
      const formats = [
        await describeVideo(describeJob(frames)),
        await describeVideo(describeJob(frames), plain),
      ]
      expect(formats[1]).toEqual(formats[0])
      const [format] = formats
      if (format === undefined) throw new Error('there is no format')
      const job = encodeJob(frames, format)
      const encoded = await encode(job)
      expect(await encode(job, plain)).toEqual(encoded)
      // In a process that has encoded something else.
      await encode(encodeJob(frames.slice(0, 25), format))
      expect(await encode(job)).toEqual(encoded)
    } finally {
      plain.close()
    }
  })
})
