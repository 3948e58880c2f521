import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { annexB, encodeVideo } from '../../../test/support/make/encode-video.ts'
import { makeTempFolder } from '../../../test/support/temp-folder.ts'
import { readJpeg } from '../../../test/support/verify/read-jpeg.ts'
import { Gate } from '../../base/admission/gate.ts'
import { createAdmission } from '../../base/admission/limits.ts'
import { FolderArtifacts } from '../../storage/artifacts/folder-artifacts.ts'
import { SharedArtifacts } from '../../storage/artifacts/shared-artifacts.ts'
import { AppError } from '../../base/errors.ts'
import { SPLIT_KEY_FRAME } from '../../media/media-index.ts'
import type { KeyFrame } from '../../media/media-index.ts'
import { createDecoder } from '../thumbnails/decoder.ts'
import type { Decoder } from '../thumbnails/decoder.ts'
import { planStoryboard, TILE_WIDTH } from './plan-storyboard.ts'
import type { PartFrames } from '../../media/media-reader.ts'
import { listSheets } from './sheets.ts'
import { Storyboards } from './storyboards.ts'
import type { SheetRequest } from './storyboards.ts'
import { patientDecoder } from '../../../test/support/patience.ts'

const SECONDS = 12
const TILE_HEIGHT = 120
const BUSY = 'busy'
const { signal } = new AbortController()

let folder: string
let decoder: Decoder
/** One per second; each is brighter than the one before. */
let frames: KeyFrame[]
const opened: Storyboards[] = []

beforeAll(() => {
  const encoded = encodeVideo({ codec: 'h264', frames: SECONDS * 16, gop: 16 })
  frames = encoded
    .filter(({ isKey }) => isKey)
    .map((frame) => ({ codec: 'h264', data: annexB(frame), rotationDegrees: 0 }))
  decoder = createDecoder({ limits: patientDecoder })
})
afterAll(() => decoder.close())
beforeEach(() => {
  folder = makeTempFolder('storyboards')
})
afterEach(() => {
  for (const storyboards of opened.splice(0)) storyboards.close()
})

interface Source extends SheetRequest {
  /** Split points that were read. */
  reads: number[]
}

/** The only sheet of a recording with a key frame per second. */
function source(
  read: (splitPoint: number) => Promise<KeyFrame | undefined>,
  checkUnchanged = async (): Promise<void> => undefined,
): Source {
  const reads: number[] = []
  const part: PartFrames = {
    identity: 'a',
    isFinal: true,
    durationSeconds: SECONDS,
    splitPoints: {
      timescale: 1,
      startTicks: Float64Array.from({ length: SECONDS }, (_, i) => i),
      endTicks: SECONDS,
      flags: new Uint8Array(SECONDS).fill(SPLIT_KEY_FRAME),
    },
    listedSplitPoints: SECONDS,
    size: () => ({ width: 4, height: 3 }),
    open: async () => ({
      read: async (splitPoint) => {
        reads.push(splitPoint)
        return read(splitPoint)
      },
      checkUnchanged,
      close: async () => undefined,
    }),
  }
  const plan = planStoryboard([part])
  const [sheet] = plan === undefined ? [] : listSheets([part], plan)
  if (sheet === undefined) throw new Error('no sheet')
  return { sheet, parts: [part], reads }
}

const whole = (): Source => source(async (splitPoint) => frames[splitPoint])

/** The frames, except some. */
const without = (missing: readonly number[], instead?: KeyFrame): Source =>
  source(async (splitPoint) => (missing.includes(splitPoint) ? instead : frames[splitPoint]))

function createStoryboards(
  options: {
    gate?: Gate
    imageBytes?: Gate
    decoder?: Decoder
    shared?: SharedArtifacts
    name?: string
  } = {},
): Storyboards {
  const {
    name = 'cache',
    gate = new Gate({ limit: 1, waiting: 8, busyMessage: BUSY }),
    ...rest
  } = options
  const { imageBytes } = { ...createAdmission(), ...options }
  const admission = { storyboards: gate, imageBytes }
  const storyboards = new Storyboards({ folder: join(folder, name), decoder, admission, ...rest })
  opened.push(storyboards)
  return storyboards
}

/** Which frame each tile shows, by its brightness; -1 for a black one. */
function shownFrames(jpeg: Uint8Array): number[] {
  const image = readJpeg(jpeg)
  expect([image.width, image.height]).toEqual([5 * TILE_WIDTH, 3 * TILE_HEIGHT])
  return Array.from({ length: SECONDS }, (_, at) => {
    const x = (at % 5) * TILE_WIDTH
    const y = Math.floor(at / 5) * TILE_HEIGHT
    const luma = image.meanLuma({ x, y, width: TILE_WIDTH, height: TILE_HEIGHT })
    // Frame n has the luma 16 + 16 n of limited range, and the tile is bright at least in part.
    return luma < 1 ? -1 : Math.round((luma * 219) / 255 / 16)
  })
}

async function cachedFiles(): Promise<string[]> {
  const names = await readdir(join(folder, 'cache'), { recursive: true }).catch(() => [])
  return names.filter((name) => name.endsWith('.jpg'))
}

const allFrames = Array.from({ length: SECONDS }, (_, i) => i)

describe('a sheet', () => {
  it('shows each frame in its tile, and is cached', async () => {
    const storyboards = createStoryboards()
    const { bytes, isLasting } = await storyboards.sheet(whole(), signal)
    // The first frame is black itself.
    expect(shownFrames(bytes)).toEqual(allFrames.with(0, -1))
    expect(isLasting).toBe(true)
    expect(bytes.length).toBeLessThan(64 * 1024)
    expect(await cachedFiles()).toHaveLength(1)
    const again = whole()
    const cached = await createStoryboards().sheet(again, signal)
    expect(Buffer.from(cached.bytes).equals(bytes)).toBe(true)
    expect(cached.isLasting).toBe(true)
    expect(again.reads).toEqual([])
  })

  it('shows the nearest frame where one is missing or undecodable', async () => {
    const storyboards = createStoryboards()
    const { bytes, isLasting } = await storyboards.sheet(without([1, 5, 6]), signal)
    expect(shownFrames(bytes)).toEqual(allFrames.with(0, -1).with(1, -1).with(5, 4).with(6, 4))
    expect(isLasting).toBe(true)
    const noise = Uint8Array.from({ length: 500 }, (_, i) => (i * 7919) % 251)
    const hostile = without([0, 1], { codec: 'hevc', data: noise, rotationDegrees: 0 })
    const other = createStoryboards({ name: 'other' })
    expect(shownFrames((await other.sheet(hostile, signal)).bytes)).toEqual(
      allFrames.with(0, 2).with(1, 2),
    )
  })

  it('is black without any frame', async () => {
    const { bytes, isLasting } = await createStoryboards().sheet(without(allFrames), signal)
    expect(shownFrames(bytes)).toEqual(allFrames.map(() => -1))
    expect(isLasting).toBe(true)
  })

  it('is not cached on disk if a decoder was killed, and tries no more than three', async () => {
    let killed = 0
    const killing: Decoder = {
      ...decoder,
      renderTile: async () => {
        killed += 1
        return { status: 'killed', reason: 'it crashed' }
      },
    }
    const storyboards = createStoryboards({ decoder: killing })
    const { bytes, isLasting } = await storyboards.sheet(whole(), signal)
    expect(shownFrames(bytes)).toEqual(allFrames.map(() => -1))
    expect(isLasting).toBe(false)
    // Three frames are in progress at once.
    expect(killed).toBeLessThanOrEqual(5)
    expect(await cachedFiles()).toEqual([])
    const again = whole()
    await storyboards.sheet(again, signal)
    expect(again.reads).toEqual([])
  })

  it('fails if no frame can be read, or the recording was replaced', async () => {
    const failing = (code: 'failed' | 'gone'): Source =>
      source(async () => {
        throw new AppError(code, code)
      })
    for (const code of ['failed', 'gone'] as const) {
      const rejected = createStoryboards().sheet(failing(code), signal)
      await expect(rejected).rejects.toMatchObject({ code })
    }
    expect(await cachedFiles()).toEqual([])
  })

  it('of a recording that changed while it was read is not cached', async () => {
    const storyboards = createStoryboards()
    const changing = source(
      async (splitPoint) => frames[splitPoint],
      async () => {
        throw new AppError('failed', 'it has changed')
      },
    )
    const rejected = storyboards.sheet(changing, signal)
    await expect(rejected).rejects.toMatchObject({ code: 'failed' })
    const again = whole()
    await storyboards.sheet(again, signal)
    expect(again.reads).toHaveLength(SECONDS)
  })

  it('shows the frames that can be read, and the others later', async () => {
    const storyboards = createStoryboards()
    const partly = source(async (splitPoint) => {
      if (splitPoint === 3) throw new AppError('failed', 'the disk failed')
      return frames[splitPoint]
    })
    const { bytes, isLasting } = await storyboards.sheet(partly, signal)
    expect(shownFrames(bytes)).toEqual(allFrames.with(0, -1).with(3, 2))
    expect(isLasting).toBe(false)
    expect(await cachedFiles()).toEqual([])
  })
})

describe('requests', () => {
  it('for the same sheet share one rendering', async () => {
    const storyboards = createStoryboards()
    const request = whole()
    const [first, second] = await Promise.all([
      storyboards.sheet(request, signal),
      storyboards.sheet(request, signal),
    ])
    expect(first.bytes).toBe(second.bytes)
    expect(request.reads).toHaveLength(SECONDS)
  })

  it('charge one buffer for the same sheet, until all of them have sent it', async () => {
    const { imageBytes } = createAdmission()
    const sheets = createStoryboards({ imageBytes })
    const leases = await Promise.all([1, 2, 3].map(async () => sheets.sheet(whole(), signal)))
    const later = await sheets.sheet(whole(), signal)
    expect(new Set([...leases, later].map(({ bytes }) => bytes)).size).toBe(1)
    expect(imageBytes.figures.used).toBe(later.bytes.length)
    for (const { release } of [...leases, later]) release()
    expect(imageBytes.figures.used).toBe(0)
  })

  it('beyond those that wait are refused', async () => {
    const gate = new Gate({ limit: 1, waiting: 0, busyMessage: BUSY })
    const storyboards = createStoryboards({ gate })
    const release = await gate.enter(signal)
    await expect(storyboards.sheet(whole(), signal)).rejects.toMatchObject({ code: 'busy' })
    release()
    expect((await storyboards.sheet(whole(), signal)).isLasting).toBe(true)
  })

  it('that all leave end the rendering; decoded tiles shorten the next one', async () => {
    const storyboards = createStoryboards()
    const leaving = new AbortController()
    const request = source(async (splitPoint) => {
      if (splitPoint === 9) leaving.abort(new Error('left'))
      return frames[splitPoint]
    })
    await expect(storyboards.sheet(request, leaving.signal)).rejects.toThrow('left')
    expect(request.reads.length).toBeLessThan(SECONDS)
    const again = whole()
    await storyboards.sheet(again, signal)
    expect(again.reads.length).toBeLessThanOrEqual(5)
  })
})

it('sheets are shared by nodes', async () => {
  const store = new FolderArtifacts(folder)
  const shared = new SharedArtifacts({ store, log: { warn: () => undefined } })
  const first = await createStoryboards({ shared }).sheet(whole(), signal)
  await shared.close()
  const other = new SharedArtifacts({ store, log: { warn: () => undefined } })
  const request = whole()
  const second = await createStoryboards({ shared: other, name: 'other' }).sheet(request, signal)
  expect(Buffer.from(second.bytes).equals(first.bytes)).toBe(true)
  expect(request.reads).toEqual([])
  await other.close()
})

it('nodes that render a sheet at the same time return the same image', async () => {
  const nodes = ['a', 'b'].map((name) => {
    const store = new FolderArtifacts(folder)
    const shared = new SharedArtifacts({ store, log: { warn: () => undefined } })
    return { shared, storyboards: createStoryboards({ shared, name }) }
  })
  const sheets = await Promise.all(
    nodes.map(async ({ storyboards }, at) =>
      storyboards.sheet(at === 0 ? whole() : without([1, 5, 6]), signal),
    ),
  )
  const [first, second] = sheets.map(({ bytes }) => Buffer.from(bytes).toString('base64'))
  expect(second).toBe(first)
  expect(sheets.map(({ isLasting }) => isLasting)).toEqual([true, true])
  for (const { shared } of nodes) await shared.close()
})

it('a sheet that another node may have rendered differently is not lasting', async () => {
  await writeFile(join(folder, 'unavailable'), '')
  const store = new FolderArtifacts(join(folder, 'unavailable'))
  const shared = new SharedArtifacts({ store, log: { warn: () => undefined } })
  expect(await createStoryboards({ shared }).sheet(whole(), signal)).toMatchObject({
    isLasting: false,
  })
  await shared.close()
})
