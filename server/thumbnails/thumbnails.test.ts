import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readKeyFrames } from '../../test/demux/key-frames.ts'
import { AppError } from '../errors.ts'
import type { KeyFrame } from '../media/media-index.ts'
import { createDecoder } from './decoder.ts'
import type { Decoder } from './decoder.ts'
import { sniffImageType } from './image-format.ts'
import { ThumbnailCache } from './thumbnail-cache.ts'
import { createThumbnails } from './thumbnails.ts'
import type { Thumbnails, ThumbnailSource } from './thumbnails.ts'

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
  decoder = createDecoder()
})
afterAll(() => decoder.close())
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'thumbnails-'))
  thumbnails = createThumbnails({ folder, decoder })
})
afterEach(async () => {
  thumbnails.close()
  await rm(folder, { recursive: true })
})

/** A source that counts which split points were read. */
function source(
  frames: (KeyFrame | undefined)[],
  key = 'a',
): ThumbnailSource & { reads: number[] } {
  const reads: number[] = []
  return {
    key,
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
    const image = await thumbnails.session(recording, 'webp')
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
    expect(await thumbnails.session(recording, 'jpeg')).toBeDefined()
    expect(recording.reads).toEqual([1, 2])
  })

  it('accepts black if all is black, after at most five attempts', async () => {
    const recording = source(Array.from({ length: 100 }, () => black))
    expect(await thumbnails.session(recording, 'jpeg')).toBeDefined()
    expect(recording.reads).toEqual([10, 20, 30, 50, 5])
  })

  it('caches the chosen split point for the other formats', async () => {
    const recording = source([black, black, flower, black])
    await thumbnails.session(recording, 'jpeg')
    recording.reads.length = 0
    expect((await thumbnails.session(recording, 'avif'))?.contentType).toBe('image/avif')
    expect(recording.reads).toEqual([2])
  })

  it('serves from the disk after a restart, with the same version', async () => {
    const first = await thumbnails.session(source([flower]), 'jpeg')
    const recording = source([flower])
    const again = await createThumbnails({ folder, decoder }).session(recording, 'jpeg')
    expect(again).toEqual({ ...first, bytes: Buffer.from(first?.bytes ?? []) })
    expect(recording.reads).toEqual([])
  })

  it('renders an image once for concurrent requests', async () => {
    const recording = source([flower])
    const requested = Array.from({ length: 30 }, () => thumbnails.session(recording, 'jpeg'))
    const images = await Promise.all(requested)
    expect(recording.reads).toEqual([0])
    expect(new Set(images.map((image) => image?.version)).size).toBe(1)
  })

  it('caches that there is no image', async () => {
    const noise: KeyFrame = { codec: 'h264', data: new Uint8Array(99).fill(7), rotationDegrees: 0 }
    const recording = source([noise, undefined])
    expect(await thumbnails.session(recording, 'jpeg')).toBeUndefined()
    recording.reads.length = 0
    expect(await thumbnails.session(recording, 'avif')).toBeUndefined()
    expect(await createThumbnails({ folder, decoder }).session(recording, 'jpeg')).toBeUndefined()
    expect(recording.reads).toEqual([])
  })

  it('does not cache a disk error', async () => {
    const recording = source([flower])
    const failing = {
      ...recording,
      readKeyFrame: () => Promise.reject(new AppError('failed', 'The disk does not answer')),
    }
    await expect(thumbnails.session(failing, 'jpeg')).rejects.toThrow('The disk')
    expect(await thumbnails.session(recording, 'jpeg')).toBeDefined()
  })

  it('rejects as busy beyond the queue limit', async () => {
    const scaled = createThumbnails({ folder, decoder, maxWaiting: 2 })
    const requested = Array.from({ length: 10 }, (_, number) =>
      scaled.session(source([flower], `${number}`), 'jpeg'),
    )
    const outcomes = await Promise.allSettled(requested)
    const refused = outcomes.filter(({ status }) => status === 'rejected')
    expect(refused).toHaveLength(7)
    expect(refused[0]).toMatchObject({ reason: { code: 'busy' } })
  })

  it('still serves if nothing can be written to the disk', async () => {
    const file = join(folder, 'no-folder')
    await writeFile(file, '')
    const uncached = createThumbnails({ folder: file, decoder })
    expect(await uncached.session(source([flower]), 'jpeg')).toBeDefined()
  })

  it('renders a corrupt file again and never serves a half-written one', async () => {
    await thumbnails.session(source([flower]), 'jpeg')
    const [name = ''] = (await cached()).filter((path) => path.endsWith('.jpeg'))
    await writeFile(join(folder, `${name}.0.tmp`), 'half')
    await writeFile(join(folder, name), '')
    const image = await thumbnails.session(source([flower]), 'jpeg')
    expect(image?.bytes.length).toBeGreaterThan(1000)
    expect(await readFile(join(folder, name))).toEqual(Buffer.from(image?.bytes ?? []))
  })

  it('prefers a sidecar', async () => {
    const png = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
    const recording = source([flower])
    const sidecar = { sizeBytes: png.length, read: async () => png }
    expect(await thumbnails.session({ ...recording, sidecar }, 'avif')).toMatchObject({
      bytes: png,
      contentType: 'image/png',
    })
    const gone = { sizeBytes: 1, read: () => Promise.reject(new AppError('not_found', 'gone')) }
    const image = await thumbnails.session({ ...recording, sidecar: gone }, 'jpeg')
    expect(image?.contentType).toBe('image/jpeg')
  })
})

describe('streamer', () => {
  it('shows the newest session that has an image', async () => {
    const sessions = [source([undefined], 'x'), source([], 'y'), source([flower], 'z')]
    expect(await thumbnails.streamer({ sessions }, 'jpeg')).toBeDefined()
    expect(await thumbnails.streamer({ sessions: [] }, 'jpeg')).toBeUndefined()
  })
})

describe('ThumbnailCache', () => {
  const bytes = Buffer.alloc(1000, 1)
  /** Five files in each of the 256 subfolders. */
  const maxBytes = 256 * 5000
  const name = (number: number) => `${number}`.padStart(4, '0')
  const pathOf = (file: string) => join(folder, file.slice(0, 2), file)

  it('evicts the least recently used beyond the share of a subfolder', async () => {
    const cache = new ThumbnailCache({ folder, maxBytes })
    for (let number = 0; number < 5; number++) {
      await cache.write(name(number), bytes)
      // Long ago: the read notes a later use.
      await utimes(pathOf(name(number)), 1e9, 1e9 + number)
    }
    await cache.read(name(0))
    await cache.write(name(5), bytes)
    expect(await cache.read(name(0))).toMatchObject({ modifiedMs: 1e12 })
    expect(await cache.read(name(1))).toBeUndefined()
    expect(await cache.read(name(5))).toBeDefined()
    await cache.write('0006', Buffer.alloc(5001))
    expect(await cache.read('0006')).toBeUndefined()
  })

  it('holds its limit over all processes', async () => {
    const small = 256 * bytes.length
    const workers = Array.from({ length: 4 }, () => new ThumbnailCache({ folder, maxBytes: small }))
    await Promise.all(
      workers.map(async (cache, worker) => {
        for (let number = 0; number < 80; number++) {
          await cache.write(`${number.toString(16).padStart(2, '0')}${worker}`, bytes)
        }
      }),
    )
    const files = await readdir(folder, { recursive: true, withFileTypes: true })
    const stored = files.filter((file) => file.isFile())
    expect(stored.length * bytes.length).toBeLessThanOrEqual(small)
    expect(stored.length).toBeGreaterThan(0)
  })

  it('counts the files of an earlier run, and removes its temporary files', async () => {
    const first = new ThumbnailCache({ folder, maxBytes: 2 * maxBytes })
    for (let number = 0; number < 10; number++) await first.write(name(number), bytes)
    const leftOver = join(folder, '00', 'abcd.1.tmp')
    const underWay = join(folder, '00', 'abcd.2.tmp')
    await writeFile(leftOver, 'half')
    await utimes(leftOver, 1e9, 1e9)
    await writeFile(underWay, 'half')
    const second = new ThumbnailCache({ folder, maxBytes })
    await second.write(name(11), bytes)
    const names = await readdir(join(folder, '00'))
    expect(names.filter((each) => each.endsWith('.tmp'))).toEqual(['abcd.2.tmp'])
    expect(names.length).toBe(6)
  })
})
