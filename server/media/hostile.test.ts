// Corrupt and hostile bytes for all readers: they read or refuse them with an AppError, within the
// file, at bounded cost, and corruption costs only what depends on it.
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bytesFile } from '../../test/support/bytes-file.ts'
import { watchCpu } from '../../test/support/cpu-time.ts'
import { corrupt, createRandom } from '../../test/support/make/corrupt.ts'
import {
  fmp4Bombs,
  HOSTILE_FILES,
  mkvBombs,
  strangeElement,
  strangeFragment,
  strangeTag,
} from '../../test/support/make/hostile-bytes.ts'
import { MadeSession, plainSession, RECORDERS } from '../../test/support/make/make-recording.ts'
import { fixturePath } from '../../test/support/temp-library.ts'
import { exerciseRecording } from '../../test/support/verify/exercise-recording.ts'
import { rangesOf, segmentPlaces } from '../../test/support/verify/served-samples.ts'
import { createMediaReaders } from './readers.ts'

const readers = createMediaReaders()
const { signal } = new AbortController()
/** Of processor time, far above what any recording takes. */
const MAX_MS = 1000
const MAX_BOMB_MS = 5000
const COPIES = 300
/** One in this many copies is also tested as a growing recording. */
const GROWN_EVERY = 4

/** Reads the bytes like the program; rejects if that costs too much. */
async function exercise(
  bytes: Uint8Array,
  grownFrom?: number,
  maxMs = MAX_MS,
): Promise<'read' | 'refused'> {
  const cpuMs = watchCpu()
  const outcome = await exerciseRecording(bytes, grownFrom)
  expect(cpuMs()).toBeLessThan(maxMs)
  return outcome
}

async function open(bytes: Uint8Array) {
  const file = bytesFile(bytes)
  const reader = await readers.forFile(file)
  return { file, reader, index: await reader.index(file, signal) }
}

/** Six seconds with every kind of frame. */
function smallSession(): MadeSession {
  return new MadeSession()
    .head()
    .add('gop', 'b-frames', 'the same head', 'gop', 'other video', 'gop')
}

const recordings: [string, Uint8Array[]][] = [
  ...Object.entries(RECORDERS).map(([name, record]): [string, Uint8Array[]] => [
    name,
    record(smallSession()),
  ]),
  ['MP4', splitMp4('mp4-h264-aac-editlist-video-starts-1s.mp4')],
  ['QuickTime', splitMp4('mov-h264-aac-rotated90-audio-first.mov')],
]

/** The movie box in the chunks of its boxes, and the rest. */
function splitMp4(name: string): Uint8Array[] {
  const bytes = readFileSync(fixturePath(name))
  const start = bytes.indexOf('moov') - 4
  const end = start + bytes.readUInt32BE(start)
  const movie = Array.from({ length: Math.ceil((end - start) / 64) }, (_, i) =>
    bytes.subarray(start + i * 64, Math.min(start + i * 64 + 64, end)),
  )
  return [bytes.subarray(0, start), ...movie, bytes.subarray(end)].filter(
    ({ length }) => length > 0,
  )
}

describe.each(recordings)('corrupt copies of %s', (_, chunks) => {
  const original = Buffer.concat(chunks)

  it('that end anywhere are read up to their end, or refused', async () => {
    const outcomes = { read: 0, refused: 0 }
    for (let size = 4; size < original.length; size += Math.ceil(original.length / 150)) {
      outcomes[await exercise(original.subarray(0, size))] += 1
    }
    expect(outcomes.refused).toBeGreaterThan(0)
    expect(outcomes.read + outcomes.refused).toBeGreaterThan(140)
  })

  it('with bytes that are changed, lost or repeated are read or refused', async () => {
    const random = createRandom(20_261_121)
    let read = 0
    for (let copy = 0; copy < COPIES; copy += 1) {
      const bytes = corrupt(original, random)
      const outcome = await exercise(
        bytes,
        copy % GROWN_EVERY === 0 ? random(bytes.length) : undefined,
      )
      if (outcome === 'read') read += 1
    }
    expect(read).toBeGreaterThan(COPIES / 10)
  })

  it('with wrong sizes, counts and times are read or refused', async () => {
    const random = createRandom(20_260_131)
    const words = [0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0x00ffffff]
    let read = 0
    for (let copy = 0; copy < COPIES; copy += 1) {
      const corrupted = chunks.map((chunk) => Buffer.from(chunk))
      for (let wrong = 1 + random(3); wrong > 0; wrong -= 1) {
        const chunk = corrupted[random(chunks.length)] ?? Buffer.alloc(0)
        const at = random(Math.min(chunk.length, 64))
        const isWord = random(2) === 0 && at + 4 <= chunk.length
        if (isWord) chunk.writeUInt32BE(words[random(7)] ?? random(2 ** 31), at)
        else chunk.fill(random(256), at, Math.min(at + 1, chunk.length))
      }
      if ((await exercise(Buffer.concat(corrupted))) === 'read') read += 1
    }
    expect(read).toBeGreaterThan(COPIES / 10)
  })

  it('are not read after an abort', async () => {
    const file = bytesFile(original)
    const aborted = AbortSignal.abort(new Error('enough'))
    const reader = await readers.forFile(file)
    await expect(reader.index(file, aborted)).rejects.toThrow('enough')
  })

  it('have no segments of other split points', async () => {
    const { file, reader, index } = await open(original)
    const count = index.splitPoints.startTicks.length
    const ranges = [
      [0, 0],
      [-1, 1],
      [0, count + 1],
      [count, count + 1],
    ] as const
    for (const [from, to] of ranges) {
      const reading = reader.readSegment(file, index, { from, to })
      await expect(reading).rejects.toMatchObject({ code: 'failed' })
    }
  })
})

/** MPEG-TS segments are ranges of the file, which are read when they are sent. */
const withSamples = Object.entries(RECORDERS).filter(([name]) => !name.startsWith('MPEG-TS'))

describe.each(withSamples)('a recording of %s', (_, record) => {
  it('that became shorter since it was indexed is reported', async () => {
    const bytes = Buffer.concat(record(smallSession()))
    const { file, reader, index } = await open(bytes)
    const shorter = bytesFile(bytes.subarray(0, bytes.length - 100))
    const vanished = { ...file, read: async () => 0, readv: async () => 0 }
    for (const changed of [shorter, vanished]) {
      const reading = reader.readSegment(changed, index, { from: 0, to: 1 })
      await expect(reading).rejects.toMatchObject({ code: 'failed' })
    }
  })
})

describe.each([['MPEG-TS', RECORDERS['MPEG-TS']] as const, ...withSamples])(
  'a long recording of %s',
  (name, record) => {
    it('loses only the corrupt bytes and the frames that depend on them', async () => {
      const session = new MadeSession().head()
      for (let second = 0; second < 60; second += 1) {
        // One byte is enough to lose tables that MPEG-TS has only once.
        if (name === 'MPEG-TS') session.head()
        session.gop('key', 4)
      }
      const long = Buffer.concat(record(session))
      const placesOf = async (bytes: Uint8Array): Promise<number> => {
        const { file, reader, index } = await open(bytes)
        let places = 0
        for (const range of rangesOf(index, 1)) {
          places += segmentPlaces(await reader.readSegment(file, index, range)).length
        }
        return places
      }
      const whole = await placesOf(long)
      const head = record(new MadeSession().head()).reduce((sum, { length }) => sum + length, 0)
      const change = fc.record({
        kind: fc.constantFrom('change', 'remove', 'insert', 'repeat'),
        at: fc.double({ min: 0, max: 1, noNaN: true }),
        length: fc.integer({ min: 1, max: 400 }),
        byte: fc.nat(255),
      })
      await fc.assert(
        fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
          let bytes = long
          for (const { kind, at, length, byte } of changes) {
            const from = head + Math.floor(at * (bytes.length - head))
            const part = bytes.subarray(from, from + length)
            const filled = Buffer.alloc(kind === 'change' ? 1 : length, byte)
            const middle = {
              change: [filled],
              remove: [],
              insert: [filled, part],
              repeat: [part, part],
            }
            const end = kind === 'change' ? from + 1 : from + length
            bytes = Buffer.concat([bytes.subarray(0, from), ...middle[kind], bytes.subarray(end)])
          }
          // At most four seconds for each.
          expect(await placesOf(bytes)).toBeGreaterThan(whole * (1 - (changes.length * 4) / 60))
        }),
        { numRuns: 40, seed: 41 },
      )
    })
  },
)

describe('hostile files', () => {
  it.each(HOSTILE_FILES)('of %s are done with in a moment', async (_, bytes) => {
    expect(await exercise(bytes, undefined, MAX_BOMB_MS)).toMatch(/^(?:read|refused)$/)
  })

  it.each(fmp4Bombs())('do not hide the fragments before %s', async (_, bomb) => {
    const bytes = Buffer.concat([...RECORDERS['fragmented MP4'](smallSession()), bomb])
    expect(await exercise(bytes, undefined, MAX_BOMB_MS)).toBe('read')
  })

  it.each(mkvBombs())('lose only what is around %s between clusters', async (_, bomb) => {
    const [head = Buffer.alloc(0), ...clusters] = RECORDERS['Matroska with clusters of known size'](
      plainSession(4),
    )
    const bytes = Buffer.concat([head, ...clusters.slice(0, 1), bomb, ...clusters.slice(1)])
    expect(clusters.length).toBeGreaterThan(1)
    expect(await exercise(bytes)).toBe('read')
    const { splitPoints } = (await open(bytes)).index
    // The end of the film is present, unless the element that claims its bytes may be valid.
    expect(splitPoints.endTicks / splitPoints.timescale).toBeGreaterThan(1.9)
  })

  it.each([
    ['FLV', strangeTag],
    ['fragmented MP4', strangeFragment],
    ['Matroska with clusters of known size', strangeElement],
  ] as const)(
    'of %s with strange parts in any order are read or refused',
    async (name, strange) => {
      const [head = Buffer.alloc(0), ...chunks] = RECORDERS[name](smallSession())
      const part = fc.oneof({ arbitrary: strange, weight: 3 }, fc.constantFrom(...chunks))
      const outcomes: string[] = []
      await fc.assert(
        fc.asyncProperty(fc.array(part, { maxLength: 40 }), fc.nat(1000), async (parts, share) => {
          const bytes = Buffer.concat([head, ...chunks.slice(0, (share % 3) * 40), ...parts])
          outcomes.push(await exercise(bytes, Math.floor((share * bytes.length) / 1000)))
        }),
        { numRuns: 400 },
      )
      expect(outcomes.filter((outcome) => outcome === 'read').length).toBeGreaterThan(150)
    },
  )

  it('of noise are refused', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 5000 }), async (bytes) => {
        expect(await exercise(bytes)).toBe('refused')
      }),
      { numRuns: 100 },
    )
  })
})
