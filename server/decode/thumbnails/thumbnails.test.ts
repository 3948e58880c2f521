import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { makeTempFolder } from '../../../test/support/temp-folder.ts'
import { readKeyFrames } from '../../../test/demux/key-frames.ts'
import { Gate } from '../../base/admission/gate.ts'
import { createAdmission } from '../../base/admission/limits.ts'
import { FolderArtifacts } from '../../storage/artifacts/folder-artifacts.ts'
import { SharedArtifacts } from '../../storage/artifacts/shared-artifacts.ts'
import { AppError } from '../../base/errors.ts'
import type { KeyFrame } from '../../media/media-index.ts'
import { createDecoder } from './decoder.ts'
import type { Decoder } from './decoder.ts'
import { sniffImageType } from './image-format.ts'
import { createThumbnails } from './thumbnails.ts'
import type { Thumbnails, ThumbnailSource } from './thumbnails.ts'
import { patientDecoder } from '../../../test/support/patience.ts'

const { signal } = new AbortController()
const JPEG = { format: 'jpeg', signal } as const
const AVIF = { format: 'avif', signal } as const
const WEBP = { format: 'webp', signal } as const

let folder: string
let decoder: Decoder
let thumbnails: Thumbnails
let flower: KeyFrame
let black: KeyFrame

beforeAll(async () => {
  const [bright] = await readKeyFrames('mp4-h264-aac-moov-first.mp4')
  const [dark] = await readKeyFrames('ts-h264-aac-pat-not-at-start.ts')
  if (bright === undefined || dark === undefined) throw new Error('no key frames')
  ;[flower, black] = [bright, dark]
  decoder = createDecoder({ limits: patientDecoder })
})
afterAll(() => decoder.close())
beforeEach(() => {
  folder = makeTempFolder('thumbnails')
  thumbnails = createThumbnails({ folder, decoder, admission: createAdmission() })
})
afterEach(() => thumbnails.close())

/** A source that counts which split points were read. */
function source(
  frames: (KeyFrame | undefined)[],
  key = 'a',
): ThumbnailSource & { reads: number[] } {
  const reads: number[] = []
  return {
    key,
    isFinal: true,
    reads,
    splitPoints: frames.length,
    readKeyFrame: async (splitPoint) => {
      reads.push(splitPoint)
      return frames[splitPoint]
    },
  }
}

async function cached(): Promise<string[]> {
  const names = await readdir(folder, { recursive: true })
  return names.filter((name) => name.includes('.'))
}

describe('session', () => {
  it('shows the key frame at about a tenth', async () => {
    const recording = source(Array.from({ length: 50 }, () => flower))
    const image = await thumbnails.session(recording, WEBP)
    expect(image?.contentType).toBe('image/webp')
    expect(sniffImageType(image?.bytes ?? new Uint8Array())).toBe('image/webp')
    expect(recording.reads).toEqual([5])
  })

  it('tries others if the frame is nearly black', async () => {
    const recording = source([
      black,
      black,
      flower,
      black,
      black,
      black,
      black,
      black,
      black,
      black,
    ])
    expect(await thumbnails.session(recording, JPEG)).toBeDefined()
    expect(recording.reads).toEqual([1, 2])
  })

  it('has none where it must not be nearly black, and tries it once', async () => {
    const [bright, dark] = [source([flower]), source([black])]
    const find = async (recording: typeof dark, key: string) =>
      thumbnails.session({ ...recording, key, mustBeBright: true }, JPEG)
    expect(await find(bright, 'bright')).toBeDefined()
    expect([await find(dark, 'dark'), await find(dark, 'dark')]).toEqual([undefined, undefined])
    expect(dark.reads).toEqual([0])
  })

  it('accepts black if all is black, after at most five attempts', async () => {
    const recording = source(Array.from({ length: 100 }, () => black))
    expect(await thumbnails.session(recording, JPEG)).toBeDefined()
    expect(recording.reads).toEqual([10, 20, 30, 50, 5])
  })

  it('caches the chosen split point for the other formats', async () => {
    const recording = source([black, black, flower, black])
    await thumbnails.session(recording, JPEG)
    recording.reads.length = 0
    expect((await thumbnails.session(recording, AVIF))?.contentType).toBe('image/avif')
    expect(recording.reads).toEqual([2])
  })

  it('serves from the disk after a restart, with the same version', async () => {
    const first = await thumbnails.session(source([flower]), JPEG)
    const recording = source([flower])
    const again = await createThumbnails({ folder, decoder, admission: createAdmission() }).session(
      recording,
      JPEG,
    )
    expect(again).toMatchObject({ version: first?.version, bytes: Buffer.from(first?.bytes ?? []) })
    expect(recording.reads).toEqual([])
  })

  it('renders an image once for concurrent requests', async () => {
    const recording = source([flower])
    const requested = Array.from({ length: 30 }, () => thumbnails.session(recording, JPEG))
    const images = await Promise.all(requested)
    expect(recording.reads).toEqual([0])
    expect(new Set(images.map((image) => image?.version)).size).toBe(1)
  })

  it('caches that there is no image', async () => {
    const noise: KeyFrame = { codec: 'h264', data: new Uint8Array(99).fill(7), rotationDegrees: 0 }
    const recording = source([noise, undefined])
    expect(await thumbnails.session(recording, JPEG)).toBeUndefined()
    recording.reads.length = 0
    expect(await thumbnails.session(recording, AVIF)).toBeUndefined()
    expect(
      await createThumbnails({ folder, decoder, admission: createAdmission() }).session(
        recording,
        JPEG,
      ),
    ).toBeUndefined()
    expect(recording.reads).toEqual([])
  })

  it('does not cache a disk error', async () => {
    const recording = source([flower])
    const failing = {
      ...recording,
      readKeyFrame: () => Promise.reject(new AppError('failed', 'The disk does not answer')),
    }
    await expect(thumbnails.session(failing, JPEG)).rejects.toThrow('The disk')
    expect(await thumbnails.session(recording, JPEG)).toBeDefined()
  })

  it('rejects as busy beyond the queue limit', async () => {
    const gate = new Gate({ limit: 1, waiting: 2, busyMessage: 'busy' })
    const admission = { ...createAdmission(), thumbnails: gate }
    const scaled = createThumbnails({ folder, decoder, admission })
    const requested = Array.from({ length: 10 }, (_, number) =>
      scaled.session(source([flower], `${number}`), JPEG),
    )
    const outcomes = await Promise.allSettled(requested)
    const refused = outcomes.filter(({ status }) => status === 'rejected')
    expect(refused).toHaveLength(7)
    expect(refused[0]).toMatchObject({ reason: { code: 'busy' } })
  })

  it('renders nothing for requests that were abandoned in the queue', async () => {
    const { promise, resolve } = Promise.withResolvers<undefined>()
    const slow = { ...source([flower], 'slow'), readKeyFrame: () => promise }
    const first = thumbnails.session(slow, JPEG)
    const [kept, left] = [source([flower], 'kept'), source([flower], 'left')]
    const abandoned = new AbortController()
    const both = [JPEG, { ...JPEG, signal: abandoned.signal }]
    const images = both.map((request) => thumbnails.session(kept, request))
    const image = thumbnails.session(left, { ...JPEG, signal: abandoned.signal })
    abandoned.abort(new Error('disconnected'))
    await expect(image).rejects.toThrow('disconnected')
    await expect(images[1]).rejects.toThrow('disconnected')
    resolve(undefined)
    expect(await first).toBeUndefined()
    expect(await images[0]).toBeDefined()
    expect(left.reads).toEqual([])
  })

  it('still serves if nothing can be written to the disk', async () => {
    const file = join(folder, 'no-folder')
    await writeFile(file, '')
    const uncached = createThumbnails({ folder: file, decoder, admission: createAdmission() })
    expect(await uncached.session(source([flower]), JPEG)).toBeDefined()
  })

  it('charges one buffer for all requests, until they have sent it', async () => {
    const admission = createAdmission()
    const charged = createThumbnails({ folder, decoder, admission })
    const leases = await Promise.all([1, 2, 3].map(() => charged.session(source([flower]), JPEG)))
    const later = await charged.session(source([flower]), JPEG)
    expect(new Set([...leases, later].map((image) => image?.bytes)).size).toBe(1)
    expect(admission.imageBytes.figures.used).toBe(later?.bytes.length)
    for (const image of [...leases, later]) image?.release()
    expect(admission.imageBytes.figures.used).toBe(0)
  })

  it('renders a corrupt file again and never serves a half-written one', async () => {
    await thumbnails.session(source([flower]), JPEG)
    const [name = ''] = (await cached()).filter((path) => path.endsWith('.jpeg'))
    await writeFile(join(folder, `${name}.0.tmp`), 'half')
    await writeFile(join(folder, name), '')
    const restarted = createThumbnails({ folder, decoder, admission: createAdmission() })
    const image = await restarted.session(source([flower]), JPEG)
    expect(image?.bytes.length).toBeGreaterThan(1000)
    expect(await readFile(join(folder, name))).toEqual(Buffer.from(image?.bytes ?? []))
  })

  it('prefers a sidecar', async () => {
    const png = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
    const recording = source([flower])
    const sidecar = { key: 'a', sizeBytes: png.length, read: async () => png }
    expect(await thumbnails.session({ ...recording, sidecar }, AVIF)).toMatchObject({
      bytes: png,
      contentType: 'image/png',
    })
    const read = () => Promise.reject(new AppError('not_found', 'gone'))
    const gone = { key: 'b', sizeBytes: 1, read }
    const image = await thumbnails.session({ ...recording, sidecar: gone }, JPEG)
    expect(image?.contentType).toBe('image/jpeg')
  })
})

describe('images that nodes share', () => {
  /** A node that has rendered nothing yet. */
  function createNode(data: string): { node: Thumbnails; shared: SharedArtifacts } {
    const log = { warn: () => undefined }
    const shared = new SharedArtifacts({ store: new FolderArtifacts(folder), log })
    const admission = createAdmission()
    const node = createThumbnails({ folder: join(folder, data), decoder, admission, shared })
    return { node, shared }
  }

  it('are rendered by one node, from one choice of the frame', async () => {
    const [first, second] = [createNode('first'), createNode('second')]
    const rendered = await first.node.session(source([black, black, flower, black]), WEBP)
    await first.shared.close()
    const recording = source([black, black, flower, black])
    const found = await second.node.session(recording, WEBP)
    expect(found?.version).toBe(rendered?.version)
    expect(recording.reads).toEqual([])
    await second.node.session(recording, JPEG)
    expect(recording.reads).toEqual([2])
    await second.shared.close()
  })

  it('are not those of growing recordings, and not that there is none', async () => {
    const first = createNode('first')
    await first.node.session({ ...source([flower], 'growing'), isFinal: false }, WEBP)
    const noise: KeyFrame = { codec: 'h264', data: new Uint8Array(99).fill(7), rotationDegrees: 0 }
    await first.node.session(source([noise], 'noise'), WEBP)
    await first.shared.close()
    expect(await cached()).toHaveLength(3)
    expect(await readdir(folder)).toEqual(['first'])
  })
})

describe('streamer', () => {
  it('shows the newest session that has an image', async () => {
    const sessions = [source([undefined], 'x'), source([], 'y'), source([flower], 'z')]
    expect(await thumbnails.streamer({ sessions }, JPEG)).toBeDefined()
    expect(await thumbnails.streamer({ sessions: [] }, JPEG)).toBeUndefined()
  })
})
