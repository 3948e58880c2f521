// Corrupt or hostile fragmented MP4: it is read or refused with an AppError, in time, within the
// file.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bytesFile } from '../../../test/support/bytes-file.ts'
import { watchCpu } from '../../../test/support/cpu-time.ts'
import { type Random, createRandom, corrupt } from '../../../test/support/make/corrupt.ts'
import { exerciseRecording } from '../../../test/support/verify/exercise-recording.ts'
import {
  AAC_TRACK,
  H264_TRACK,
  fragment,
  initSegment,
  plainSamples,
} from '../../../test/support/make/make-fmp4.ts'
import { AVC_C, avc1, box, fullBox, u32 } from '../../../test/support/make/make-mp4.ts'
import { createFragmentedMp4Reader } from './fmp4-reader.ts'

const reader = createFragmentedMp4Reader()
const { signal } = new AbortController()
/** Of processor time, far above what any recording takes. */
const MAX_MS = 5000

const init = initSegment([H264_TRACK, AAC_TRACK])

/** Twelve fragments of half a second; every second one starts with a key frame. */
function recording(): Buffer {
  const made = Array.from({ length: 12 }, (_, at) =>
    fragment([
      {
        trackId: 1,
        samples: plainSamples(12, { duration: 3750, keyEvery: 12, seed: 'v', sizeBytes: 9 }),
        decodeTicks: at * 45_000,
        fields: at % 2 === 0 ? 'each' : 'defaults',
        truns: 1 + (at % 3),
      },
      {
        trackId: 2,
        samples: plainSamples(23, { duration: 1024, keyEvery: 1, seed: 'a', sizeBytes: 5 }),
        decodeTicks: at * 23_552,
      },
    ]),
  )
  return Buffer.concat([init, ...made])
}

/** Sets one to three words or bytes of the fragment headers to special values. */
function mutateHeaders(original: Buffer, random: Random): Buffer {
  const bytes = Buffer.from(original)
  const moofs: number[] = []
  for (let at = bytes.indexOf('moof'); at >= 0; at = bytes.indexOf('moof', at + 4))
    moofs.push(at - 4)
  for (let wound = 1 + random(3); wound > 0; wound -= 1) {
    const start = moofs[random(moofs.length)] ?? 0
    const at = start + random(bytes.readUInt32BE(start) % 4096)
    if (at + 4 > bytes.length) continue
    const word = [0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0x00ffffff, random(2 ** 31)][random(7)]
    if (random(2) === 0) bytes.writeUInt32BE(word ?? 0, at)
    else bytes[at] = random(256)
  }
  return bytes
}

async function expectQuick(bytes: Uint8Array): Promise<'read' | 'refused'> {
  const cpuMs = watchCpu()
  const outcome = await exerciseRecording(bytes)
  expect(cpuMs()).toBeLessThan(MAX_MS)
  return outcome
}

describe('corrupt copies', () => {
  it.each([
    ['of headers of fragments', mutateHeaders, 1200],
    ['of anything', corrupt, 800],
  ] as const)('%s are read or refused', async (_, harm, rounds) => {
    const original = recording()
    const random = createRandom(20_261_121)
    const outcomes = { read: 0, refused: 0 }
    for (let round = 0; round < rounds; round += 1) {
      outcomes[await expectQuick(harm(original, random))] += 1
    }
    expect(outcomes.read).toBeGreaterThan(rounds / 10)
  })

  it('truncated anywhere are read up to their end', async () => {
    const original = recording()
    const outcomes = { read: 0, refused: 0 }
    for (let size = 0; size < original.length; size += 11) {
      outcomes[await expectQuick(original.subarray(0, size))] += 1
    }
    expect(outcomes.read).toBeGreaterThan(100)
  })
})

describe('a hostile file', () => {
  const tfhd = fullBox('tfhd', 0, u32(1))
  const moof = (...boxes: Uint8Array[]) =>
    box('moof', fullBox('mfhd', 0, u32(1)), box('traf', ...boxes))

  it.each<[string, Buffer]>([
    ['2^32 samples of no size', moof(tfhd, fullBox('trun', 0, u32(0xffffffff)))],
    [
      '2^20 samples of 2 GiB',
      moof(box('tfhd', u32(0x20010, 1, 0x7fffffff)), fullBox('trun', 0, u32(2 ** 20))),
    ],
    [
      'samples before the start of the file',
      moof(box('tfhd', u32(0x20000, 1)), box('trun', u32(0x201, 1, 0x80000000, 8))),
    ],
    [
      'a base of 2^64',
      moof(box('tfhd', u32(1, 1, 0xffffffff, 0xffffffff)), box('trun', u32(0x201, 1, 0, 8))),
    ],
    [
      'a time of 2^64',
      moof(
        box('tfhd', u32(0x20000, 1)),
        fullBox('tfdt', 1, u32(0xffffffff, 0xffffffff)),
        box('trun', u32(0x205, 1, 8, 0, 8)),
      ),
    ],
    ['no tfhd', moof(fullBox('trun', 0, u32(1)))],
    ['a part larger than the whole', moof(box('tfhd', u32(0, 1)), u32(0x7fffffff, 0x7472756e))],
    ['a million empty boxes', Buffer.concat(Array.from({ length: 1_000_000 }, () => box('free')))],
    [
      'a moof of nothing but trafs',
      box(
        'moof',
        fullBox('mfhd', 0, u32(1)),
        ...Array.from({ length: 20_000 }, () => box('traf', tfhd)),
      ),
    ],
    ['zeros', Buffer.alloc(4_000_000)],
  ])('%s', async (_, bytes) => {
    const before = recording()
    await expectQuick(Buffer.concat([init, bytes]))
    // The audio before them plays.
    expect(await expectQuick(Buffer.concat([before, bytes]))).toBe('read')
  })

  it('changes its movie with every fragment: sections, up to their limit', async () => {
    const made = Array.from({ length: 300 }, (_, at) => {
      const entry = avc1(Buffer.from(AVC_C), 16 + (at % 50), 16)
      const samples = plainSamples(2, { duration: 3600, keyEvery: 2, seed: 'v' })
      const movie = initSegment([{ ...H264_TRACK, sampleEntries: [entry] }])
      return Buffer.concat([movie, fragment([{ trackId: 1, samples, decodeTicks: 0 }])])
    })
    const index = await reader.index(bytesFile(Buffer.concat(made)), signal)
    expect(index.splitPoints.startTicks.length).toBe(300)
    const { source } = index
    expect(source.container === 'fmp4' ? source.inits.length : 0).toBe(50)
  })

  it('has random times: the timeline is increasing', async () => {
    const ticks = fc.oneof(
      fc.nat(10_000_000),
      fc.nat(2 ** 31 - 1),
      fc.constantFrom(2 ** 52, 2 ** 63, 0),
    )
    const plan = fc.record({
      ticks,
      count: fc.integer({ min: 1, max: 5 }),
      track: fc.constantFrom(1, 2),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(plan, { minLength: 1, maxLength: 30 }), async (plans) => {
        const made = plans.map(({ ticks: decodeTicks, count, track }) => {
          const samples = plainSamples(count, { duration: 90_000, keyEvery: 2, seed: 's' })
          return fragment([{ trackId: track, samples, decodeTicks }])
        })
        const outcome = await exerciseRecording(Buffer.concat([init, ...made]))
        expect(['read', 'refused']).toContain(outcome)
      }),
      { numRuns: 300, seed: 1 },
    )
  })

  it('stops immediately when aborted', async () => {
    const aborted = AbortSignal.abort(new Error('enough'))
    await expect(reader.index(bytesFile(recording()), aborted)).rejects.toThrow('enough')
  })
})
