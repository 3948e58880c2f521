import type { Frame } from 'node-av/lib'
import { afterAll, describe, expect, test } from 'vitest'
import { bytesFile } from '../../../../test/support/bytes-file.ts'
import { encodeVideo } from '../../../../test/support/make/encode-video.ts'
import type { EncodeOptions } from '../../../../test/support/make/encode-video.ts'
import { makeHlsRecording } from '../../../../test/support/make/make-hls-recording.ts'
import { writeVideo } from '../../../../test/support/make/write-video.ts'
import type { WrittenContainer, WrittenVideo } from '../../../../test/support/make/write-video.ts'
import { patienceMs, patientDecoder } from '../../../../test/support/patience.ts'
import { makeTempFolder } from '../../../../test/support/temp-folder.ts'
import { readFragment } from '../../../../test/support/verify/read-fragment.ts'
import { OwnEncodeSlots } from '../../../base/admission/encode-slots.ts'
import type { EncodeSlots } from '../../../base/admission/encode-slots.ts'
import { createVideoEncoder } from '../../../decode/video/video-encoder.ts'
import type { VideoEncoder } from '../../../decode/video/video-encoder.ts'
import { decodeKeyFrame } from '../../../decode/thumbnails/decode-key-frame.ts'
import { decoderOf } from '../../../media/codec/sample-entry.ts'
import { createMediaReaders } from '../../../media/readers.ts'
import { ClaimedCache } from '../../../storage/artifacts/claimed-cache.ts'
import { FolderArtifacts } from '../../../storage/artifacts/folder-artifacts.ts'
import { LimitedFolder } from '../../../storage/artifacts/limited-folder.ts'
import { SharedArtifacts } from '../../../storage/artifacts/shared-artifacts.ts'
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import { readWholeBody } from '../../delivery/read-body.ts'
import { planSegments } from '../playlist/segment-plan.ts'
import { EncodedVideo } from './encoded-video.ts'
import type { EncodedVideoOptions } from './encoded-video.ts'
import { unpackFormat, unpackFrames } from './video-artifact.ts'

/** Higher than the recording: it keeps its size. */
const RENDITION = { kind: 'encoded', height: 360, number: 0 } as const
const MAIN = { kind: 'main', number: 0 } as const
const bytes = writeVideo('mkv', {
  codec: 'h264',
  frames: encodeVideo({ codec: 'h264', frames: 150, gop: 25 }),
})
const log = { warn: () => undefined }
const { signal } = new AbortController()
const encoder = createVideoEncoder({ concurrency: 1, limits: patientDecoder })
const finished = (): number => encoder.figures.finished

afterAll(() => encoder.close())

interface Node extends Partial<EncodedVideoOptions> {
  /** Folder of its cache. Default one of its own. */
  cached?: string
  shared?: SharedArtifacts
  /** Bytes of the recording. */
  recorded?: Uint8Array
}

/** A process with a cache, and what it sends of a segment. */
async function openNode(
  { cached, shared, recorded = bytes, ...options }: Node = {},
  open = async (): Promise<OpenFile> => bytesFile(recorded),
) {
  const cacheFolder = cached ?? makeTempFolder('encoded')
  const caches = { cache: new LimitedFolder({ folder: cacheFolder, maxBytes: 1024 ** 3 }), shared }
  const encodedVideo = new EncodedVideo({
    encoder,
    heights: [360],
    slots: new OwnEncodeSlots({ concurrency: 1 }),
    cache: new ClaimedCache({
      ...caches,
      kind: 'video-1',
      extension: 'h264',
      isIntact: (stored) => unpackFrames(stored) !== undefined,
    }),
    formatCache: new ClaimedCache({
      ...caches,
      kind: 'video-format-1',
      extension: 'json',
      isIntact: (stored) => unpackFormat(stored) !== undefined,
    }),
    encoderVersion: 'test',
    log,
    waitMs: patienceMs,
    signal,
    ...options,
  })
  const file = bytesFile(recorded)
  const reader = await createMediaReaders().forFile(file)
  const index = await reader.index(file, AbortSignal.timeout(patienceMs))
  const plan = planSegments(index.splitPoints, { segmentSeconds: 2 })
  const recording = makeHlsRecording(
    { file, index, reader },
    { plan, segmentSeconds: 2, encodedVideo },
  )
  const body = async (number: number, request = signal) =>
    recording.segment({ number, rendition: RENDITION, open, signal: request }, file)
  return {
    cacheFolder,
    body,
    codec: index.tracks[0]?.codec ?? '',
    init: async (rendition: typeof RENDITION | typeof MAIN) =>
      recording.init({ segmentNumber: 0, form: 'fmp4', rendition, open }, file),
    encodeAhead: async (number: number) =>
      recording.encodeAhead({ number, rendition: RENDITION, open }),
    segment: async (number: number) => {
      const found = await body(number)
      if (found === undefined) throw new Error('there is no segment')
      return readWholeBody(file, found)
    },
  }
}

describe('a segment of encoded video', () => {
  test('is encoded once for concurrent requests, and then read from the cache', async () => {
    const node = await openNode()
    const before = finished()
    const [first, second] = await Promise.all([node.segment(0), node.segment(0)])
    expect(second).toEqual(first)
    // One job for the format, one for the segment.
    expect(finished() - before).toBe(2)
    const later = await openNode({ cached: node.cacheFolder })
    expect(await later.segment(0)).toEqual(first)
    expect(finished() - before).toBe(2)
  })

  test('has equal bytes when it is encoded again after its eviction', async () => {
    const node = await openNode()
    const first = await node.segment(1)
    const again = await openNode()
    expect(await again.segment(1)).toEqual(first)
  })

  test('is that of the node that encoded it first', async () => {
    const store = makeTempFolder('store')
    const share = () => new SharedArtifacts({ store: new FolderArtifacts(store), log })
    const first = await openNode({ shared: share() })
    const sent = await first.segment(1)
    const before = finished()
    const second = await openNode({ shared: share() })
    expect(await second.segment(1)).toEqual(sent)
    expect(finished() - before).toBe(0)
  })

  test('is not immutable while the artifacts of the nodes are unavailable', async () => {
    const store = new FolderArtifacts('/dev/null/nowhere')
    const node = await openNode({ shared: new SharedArtifacts({ store, log }) })
    expect(await node.body(1)).toMatchObject({ isLasting: false })
  })

  test('is encoded for a visitor who comes while the job of another one is cancelled', async () => {
    const [started, cancelled] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let jobs = 0
    const nodes: EncodedVideoOptions['nodes'] = {
      async encode({ name }, { signal: attempt }) {
        if (name.includes('init')) return false
        jobs += 1
        if (jobs === 2) cancelled.resolve()
        started.resolve()
        await cancelled.promise
        attempt.throwIfAborted()
        return false
      },
    }
    const node = await openNode({ nodes })
    const visit = new AbortController()
    const abandoned = node.body(1, visit.signal)
    await started.promise
    visit.abort(new Error('left'))
    await expect(abandoned).rejects.toThrow('left')
    expect(await node.body(1)).toBeDefined()
  })

  test('is ready when it was encoded ahead', async () => {
    const node = await openNode()
    await node.encodeAhead(1)
    const before = finished()
    await node.segment(1)
    expect(finished() - before).toBe(0)
  })

  test('is encoded before another one that nobody waits for, and that is not lost', async () => {
    const started = Promise.withResolvers<void>()
    const stopped = Promise.withResolvers<never>()
    let isFirst = true
    const held: VideoEncoder = {
      ...encoder,
      encode: async (job, stop) => {
        if (!isFirst) return encoder.encode(job, stop)
        isFirst = false
        stop.addEventListener('abort', () => stopped.reject(stop.reason))
        started.resolve()
        return stopped.promise
      },
    }
    const node = await openNode({ encoder: held })
    const ahead = node.encodeAhead(1)
    await started.promise
    const seeked = node.segment(0)
    await expect(ahead).rejects.toMatchObject({ code: 'busy' })
    await seeked
    const other = await openNode()
    expect(await node.segment(1)).toEqual(await other.segment(1))
  })

  test('is not stopped if a request waits for what was encoded ahead', async () => {
    const started = Promise.withResolvers<AbortSignal>()
    const free = Promise.withResolvers<void>()
    const held: VideoEncoder = {
      ...encoder,
      encode: async (job, stop) => {
        started.resolve(stop)
        await free.promise
        return encoder.encode(job, stop)
      },
    }
    const isWaiting = Promise.withResolvers<void>()
    const own = new OwnEncodeSlots({ concurrency: 1 })
    let admissions = 0
    const slots: EncodeSlots = {
      run: async (encode, request) => {
        const admitted = own.run(encode, request)
        admissions += 1
        // The format, what is encoded ahead, and the other one, which waits.
        if (admissions === 3) isWaiting.resolve()
        return admitted
      },
    }
    const node = await openNode({ encoder: held, slots })
    const ahead = node.encodeAhead(1)
    const stop = await started.promise
    const wanted = node.segment(1)
    const other = node.segment(0)
    await isWaiting.promise
    expect(stop.aborted).toBe(false)
    free.resolve()
    await Promise.all([ahead, wanted, other])
  })

  test('is refused while the encoder is busy, and is there later', async () => {
    const free = Promise.withResolvers<void>()
    const slots: EncodeSlots = {
      run: async (encode) => {
        await free.promise
        return encode(signal)
      },
    }
    const node = await openNode({ slots, waitMs: 1 })
    await expect(node.segment(0)).rejects.toMatchObject({ code: 'busy' })
    free.resolve()
    const isThere = async (): Promise<boolean> => node.segment(0).then(Boolean, () => false)
    await expect.poll(isThere, { timeout: patienceMs }).toBe(true)
  })

  test('is not encoded from a recording that has replaced it', async () => {
    const file = bytesFile(bytes)
    const other = { ...file.stat, version: 'another' }
    const node = await openNode({}, async () => Object.assign(bytesFile(bytes), { stat: other }))
    await expect(node.segment(0)).rejects.toMatchObject({ code: 'gone' })
  })
})

describe('the frames of a rendition', () => {
  const square = { width: 128, height: 96, luma: 17 }
  const wide = { width: 170, height: 96, luma: 17 }
  const h264: EncodeOptions = { codec: 'h264', frames: 50, gop: 25 }
  const screen = { width: 170, height: 96 }
  const sar: EncodeOptions = { ...h264, params: 'sar=4/3' }
  interface Row {
    of: string
    container: WrittenContainer
    encoded?: EncodeOptions
    written?: Partial<WrittenVideo>
    expected: typeof wide
  }
  const rows: Row[] = [
    { of: '4:2:2', container: 'mp4', encoded: { ...h264, pixels: '422' }, expected: square },
    {
      of: '4:2:2 of 10 bits',
      container: 'mkv',
      encoded: { ...h264, pixels: '422 10' },
      expected: square,
    },
    {
      of: 'HEVC of 10 bits',
      container: 'fmp4',
      encoded: { ...h264, codec: 'hevc', pixels: '420 10' },
      expected: square,
    },
    {
      of: 'pixels of 4:3 in MP4',
      container: 'mp4',
      written: { pixelAspect: [4, 3] },
      expected: wide,
    },
    {
      of: 'pixels of 4:3 in fMP4',
      container: 'fmp4',
      written: { pixelAspect: [4, 3] },
      expected: wide,
    },
    { of: 'pixels of 4:3 in H.264', container: 'ts', encoded: sar, expected: wide },
    {
      of: 'square pixels in MP4, others in H.264',
      container: 'mp4',
      encoded: sar,
      written: { pixelAspect: [1, 1] },
      expected: square,
    },
    { of: 'a wider track', container: 'mp4', written: { displaySize: screen }, expected: wide },
    { of: 'a wider display', container: 'mkv', written: { displaySize: screen }, expected: wide },
    {
      of: 'a track without the last rows',
      container: 'mp4',
      written: { displaySize: { width: 128, height: 95.5 } },
      expected: square,
    },
  ]
  test.each(rows)('of $of', async ({ container, encoded = h264, written, expected }) => {
    const { codec } = encoded
    const recorded = writeVideo(container, { codec, frames: encodeVideo(encoded), ...written })
    const node = await openNode({ recorded })
    const init = Buffer.from((await node.init(RENDITION)) ?? [])
    expect(trackSize(init)).toEqual({ width: expected.width, height: expected.height })
    const entryAt = init.indexOf('avc1') - 4
    const entry = init.subarray(entryAt, entryAt + init.readUInt32BE(entryAt))
    const [sample] = readFragment(Buffer.from(await node.segment(0))).samples
    const data = sample?.bytes ?? Buffer.alloc(0)
    using frame = decodeKeyFrame({ ...decoderOf(entry), data, rotationDegrees: 0 })
    const { width, height, sampleAspectRatio } = frame
    expect({ width, height, luma: Math.round(meanLuma(frame)) }).toEqual(expected)
    expect(sampleAspectRatio).toMatchObject({ num: 1, den: 1 })
  })

  test('have the pixels that the original has in its own init segment', async () => {
    const frames = encodeVideo(h264)
    const recorded = writeVideo('mp4', { codec: 'h264', frames, pixelAspect: [4, 3] })
    const init = Buffer.from((await (await openNode({ recorded })).init(MAIN)) ?? [])
    const at = init.indexOf('pasp') + 4
    expect([init.readUInt32BE(at), init.readUInt32BE(at + 4)]).toEqual([4, 3])
  })
})

/** Of the track header, in whole pixels. */
function trackSize(init: Buffer): { width: number; height: number } {
  const at = init.indexOf('tkhd') + 4 + 76
  return { width: init.readUInt16BE(at), height: init.readUInt16BE(at + 4) }
}

function meanLuma(frame: Frame): number {
  const luma = frame.toBuffer().subarray(0, frame.width * frame.height)
  return luma.reduce((sum, value) => sum + value, 0) / luma.length
}
