import { afterAll, describe, expect, test } from 'vitest'
import { bytesFile } from '../../../../test/support/bytes-file.ts'
import { encodeVideo } from '../../../../test/support/make/encode-video.ts'
import { makeHlsRecording } from '../../../../test/support/make/make-hls-recording.ts'
import { writeVideo } from '../../../../test/support/make/write-video.ts'
import { patienceMs, patientDecoder } from '../../../../test/support/patience.ts'
import { makeTempFolder } from '../../../../test/support/temp-folder.ts'
import { OwnEncodeSlots } from '../../../base/admission/encode-slots.ts'
import type { EncodeSlots } from '../../../base/admission/encode-slots.ts'
import { createVideoEncoder } from '../../../decode/video/video-encoder.ts'
import type { VideoEncoder } from '../../../decode/video/video-encoder.ts'
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
}

/** A process with a cache, and what it sends of a segment. */
async function openNode(
  { cached, shared, ...options }: Node = {},
  open = async (): Promise<OpenFile> => bytesFile(bytes),
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
  const file = bytesFile(bytes)
  const reader = await createMediaReaders().forFile(file)
  const index = await reader.index(file, AbortSignal.timeout(patienceMs))
  const plan = planSegments(index.splitPoints, { segmentSeconds: 2 })
  const recording = makeHlsRecording(
    { file, index, reader },
    { plan, segmentSeconds: 2, encodedVideo },
  )
  const body = async (number: number) =>
    recording.segment({ number, rendition: RENDITION, open }, file)
  return {
    cacheFolder,
    body,
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
