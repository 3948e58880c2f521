// The reader on hostile files: it returns or throws AppError, in time, within the file.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bytesFile } from '../../../test/support/bytes-file.ts'
import { watchCpu } from '../../../test/support/cpu-time.ts'
import { patienceMs } from '../../../test/support/patience.ts'
import { createRandom, corrupt } from '../../../test/support/make/corrupt.ts'
import { exerciseRecording } from '../../../test/support/verify/exercise-recording.ts'
import {
  AAC_TRACK,
  H264_TRACK,
  ID,
  SRT_TRACK,
  claimedElement,
  clusters,
  ebmlHead,
  element,
  filmBlocks,
  info,
  mkvFile,
  openElement,
  tracks,
  uint,
} from '../../../test/support/make/make-mkv.ts'
import type { OpenFile } from '../../storage/recordings/storage.ts'
import { createMatroskaReader } from './matroska-reader.ts'

const TRACKS = [H264_TRACK, AAC_TRACK, SRT_TRACK]
const FILM = filmBlocks({ seconds: 4, reordered: 1, frameBytes: 60 })
/** Of processor time, far above what any recording takes. */
const MAX_MS = 1000
const OUTCOMES = ['read', 'refused']

/** Reads the bytes like the program and returns the outcome; rejects if it takes too long. */
async function exercise(bytes: Uint8Array): Promise<string> {
  const cpuMs = watchCpu()
  const outcome = await exerciseRecording(bytes)
  expect(cpuMs()).toBeLessThan(MAX_MS)
  return outcome
}

const header = [ebmlHead(), openElement(ID.segment), info(), tracks(...TRACKS)]

describe('hostile files', () => {
  it.each([
    ['a block larger than anything', claimedElement(ID.simpleBlock, 2 ** 50)],
    ['a cluster larger than anything', claimedElement(ID.cluster, 2 ** 55)],
    ['tracks larger than anything', claimedElement(ID.tracks, 2 ** 50)],
    ['an unknown element larger than anything', claimedElement(0x4fee, 2 ** 53)],
    ['cues larger than anything', claimedElement(ID.cues, 2 ** 50)],
    ['a block group of unknown size', openElement(ID.blockGroup)],
    ['an empty block', element(ID.simpleBlock)],
    ['a block of only a header', element(ID.simpleBlock, Buffer.from([0x81, 0, 0, 0x80]))],
    ['a lace of more frames than bytes', element(ID.simpleBlock, laced(0x86, [255, 1, 2]))],
    ['a lace of negative sizes', element(ID.simpleBlock, laced(0x86, [2, 0x81, 0x80, 9, 9, 9]))],
    [
      'a lace without an end',
      element(
        ID.simpleBlock,
        laced(
          0x82,
          Array.from({ length: 5000 }, () => 255),
        ),
      ),
    ],
    ['a fixed lace that does not divide', element(ID.simpleBlock, laced(0x84, [2, 1, 2, 3, 4]))],
    ['a time beyond all years', uint(ID.timestamp, 2 ** 52)],
    ['a time of nine bytes', element(ID.timestamp, Buffer.alloc(9, 0xff))],
    ['zeros', Buffer.alloc(100_000)],
    ['ones', Buffer.alloc(100_000, 0xff)],
    ['marks of clusters that are none', Buffer.from('1f43b675'.repeat(20_000), 'hex')],
  ])('lose only what is around %s between clusters', async (_, bad) => {
    const [first = Buffer.alloc(0), ...others] = clusters(FILM)
    const bytes = Buffer.concat([...header, first, bad, ...others])
    expect(await exercise(bytes)).toBe('read')
    const index = await createMatroskaReader().index(
      bytesFile(bytes),
      AbortSignal.timeout(patienceMs),
    )
    // The end of the film is present, unless the element that claims its bytes may be valid.
    expect(index.splitPoints.endTicks / index.splitPoints.timescale).toBeGreaterThan(1.9)
  })

  it.each([
    ['a scale of 0', element(ID.info, uint(ID.timestampScale, 0))],
    ['a scale of years', element(ID.info, uint(ID.timestampScale, 2 ** 50))],
    ['tracks inside of tracks', tracks({ ...H264_TRACK, codecPrivate: tracks(...TRACKS) })],
    ['audio with a rate of 0', tracks({ ...AAC_TRACK, codec: 'A_AC3', sampleRate: 0 })],
    ['audio with an infinite rate', tracks({ ...AAC_TRACK, codec: 'A_AC3', sampleRate: Infinity })],
    ['video of size 0', tracks({ ...H264_TRACK, width: 0 })],
    ['thousands of tracks', tracks(...Array.from({ length: 3000 }, () => SRT_TRACK))],
  ])('%s', async (_, bad) => {
    const bytes = Buffer.concat([ebmlHead(), openElement(ID.segment), bad, ...clusters(FILM)])
    expect(OUTCOMES).toContain(await exercise(bytes))
  })

  it('are abandoned when the signal aborts', async () => {
    const aborted = AbortSignal.abort(new Error('enough'))
    const file = bytesFile(mkvFile(TRACKS, clusters(FILM)))
    await expect(createMatroskaReader().index(file, aborted)).rejects.toThrow('enough')
  })

  it('are reported if they became shorter since they were indexed', async () => {
    const bytes = mkvFile(TRACKS, clusters(FILM))
    const reader = createMatroskaReader()
    const index = await reader.index(bytesFile(bytes), AbortSignal.timeout(patienceMs))
    const shorter = bytesFile(bytes.subarray(0, bytes.length - 1000))
    await expect(reader.readSegment(shorter, index, { from: 0, to: 1 })).rejects.toMatchObject({
      code: 'failed',
    })
    const vanishing: OpenFile = { ...bytesFile(bytes), read: () => Promise.resolve(0) }
    await expect(reader.readSegment(vanishing, index, { from: 0, to: 1 })).rejects.toMatchObject({
      code: 'failed',
    })
  })

  it('are read or refused at every length', async () => {
    const bytes = mkvFile(TRACKS, clusters(FILM.slice(0, 60)))
    for (let length = 4; length < bytes.length; length += 13) {
      expect(OUTCOMES).toContain(await exercise(bytes.subarray(0, length)))
    }
  })

  it.each(['known', 'open'] as const)('corrupt copies, clusters of %s size', async (size) => {
    const original = mkvFile(TRACKS, clusters(FILM, { size, ticks: 500 }))
    const random = createRandom(9559)
    for (let copy = 0; copy < 1200; copy += 1) {
      expect(OUTCOMES).toContain(await exercise(corrupt(original, random)))
    }
  })

  it('any order and nesting of elements', async () => {
    const ids = [...Object.values(ID), 0x81, 0x4fee]
    const leaf = fc
      .tuple(fc.constantFrom(...ids), fc.uint8Array({ maxLength: 40 }))
      .map(([id, content]) => element(id, content))
    const claimed = fc
      .tuple(fc.constantFrom(...ids), fc.integer({ min: 0, max: 2 ** 40 }))
      .map(([id, bytes]) => claimedElement(id, bytes))
    const real = fc.constantFrom(...clusters(FILM, { ticks: 500 }), tracks(...TRACKS), info())
    const open = fc.constantFrom(...ids).map((id) => openElement(id))
    const chunk = fc.oneof(leaf, real, real, claimed, open, fc.uint8Array({ maxLength: 60 }))
    const nested = fc
      .tuple(fc.constantFrom(...ids), fc.array(chunk, { maxLength: 4 }))
      .map(([id, chunks]) => element(id, ...chunks))
    const file = fc.array(fc.oneof(chunk, nested), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(file, async (chunks) => {
        expect(OUTCOMES).toContain(await exercise(Buffer.concat([...header, ...chunks])))
      }),
      { numRuns: 1000, seed: 8794 },
    )
  })
})

/** Content of a SimpleBlock of the audio track with these flags. */
function laced(flags: number, rest: number[]): Buffer {
  return Buffer.from([0x82, 0, 0, flags, ...rest])
}
