// The reader with corrupt and hostile bytes, and with long recordings.
import { open, rm, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { serialize } from 'node:v8'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bytesFile, openDiskFile } from '../../../test/support/bytes-file.ts'
import { exerciseRecording } from '../../../test/support/verify/exercise-recording.ts'
import {
  AAC,
  avcConfig,
  flvFile,
  flvHeader,
  flvTag,
  madeFrame,
  madeAudio,
  frameTag,
  smallStream,
  audioTag,
  videoConfigTag,
} from '../../../test/support/make/make-flv.ts'
import type { FlvTag } from '../../../test/support/make/make-flv.ts'
import { isAppError } from '../../base/errors.ts'
import { durationSeconds } from '../media-index.ts'
import type { MediaIndex } from '../media-index.ts'
import { createFlvReader } from './flv-reader.ts'
import { watchCpu } from '../../../test/support/cpu-time.ts'
import { patienceMs } from '../../../test/support/patience.ts'

const reader = createFlvReader()
/** File header and two configurations. */
const HEAD_BYTES = 100

interface Damage {
  kind: 'change' | 'remove' | 'insert' | 'repeat'
  /** Ten-thousandths of the file. */
  at: number
  length: number
  byte: number
}

const damage: fc.Arbitrary<Damage> = fc.record({
  kind: fc.constantFrom('change', 'remove', 'insert', 'repeat'),
  at: fc.integer({ min: 0, max: 9999 }),
  length: fc.integer({ min: 1, max: 400 }),
  byte: fc.integer({ min: 0, max: 255 }),
})

function applyDamage(bytes: Uint8Array, { kind, at, length, byte }: Damage): Uint8Array {
  const from = Math.floor((at * bytes.length) / 10_000)
  if (kind === 'change') return bytes.with(Math.min(from, bytes.length - 1), byte)
  const chunk = bytes.subarray(from, from + length)
  const middle = { remove: [], insert: [new Uint8Array(length).fill(byte)], repeat: [chunk, chunk] }
  const behind = kind === 'insert' ? from : from + length
  return Buffer.concat([bytes.subarray(0, from), ...middle[kind], bytes.subarray(behind)])
}

/** The file header and the configurations stay. */
function corruptAfterHead(bytes: Uint8Array, damages: Damage[]): Uint8Array {
  const head = bytes.subarray(0, HEAD_BYTES)
  return Buffer.concat([head, damages.reduce(applyDamage, bytes.subarray(HEAD_BYTES))])
}

/** Bodies of tags that are almost valid. */
const strangeBody = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  fc
    .tuple(
      fc.constantFrom(
        0x17,
        0x27,
        0x57,
        0x1c,
        0x2c,
        0x90,
        0x91,
        0x93,
        0x96,
        0x97,
        0xa1,
        0xaf,
        0x2f,
        0x95,
        0x9f,
        0xb2,
        0x3e,
      ),
      fc.constantFrom(0, 1, 2, 0x10, 0x21, 0xff),
      fc.constantFrom(
        '',
        'avc1',
        'hvc1',
        'av01',
        'vp09',
        'Opus',
        'fLaC',
        'ac-3',
        'ec-3',
        '.mp3',
        'mp4a',
      ),
      fc.uint8Array({ maxLength: 60 }),
    )
    .map(([first, second, code, rest]) =>
      Buffer.concat([Uint8Array.of(first, second), Buffer.from(code), rest]),
    ),
  fc
    .constantFrom(avcConfig(), avcConfig(0x20))
    .map((config) => videoConfigTag({ codec: 7 }, 0, config).body),
  fc
    .boolean()
    .map((isKey) => frameTag({ codec: 7 }, { timeMs: 0, isKey, data: madeFrame(1) }).body),
)

const strangeTag: fc.Arbitrary<FlvTag> = fc.record(
  {
    kind: fc.constantFrom('audio', 'video', 'video', 'script'),
    timeMs: fc.oneof(
      fc.integer({ min: 0, max: 20_000 }),
      fc.constantFrom(0, 2 ** 24 - 1, 2 ** 24, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1),
    ),
    body: strangeBody,
    trailer: fc.constantFrom<number | 'none'>(0, 11, 'none'),
    isEncrypted: fc.boolean(),
  },
  { requiredKeys: ['kind', 'timeMs', 'body'] },
)

/** Video that continues earlier than a split point of audio. */
const videoAfterLateAudio: Damage[] = [
  { kind: 'change', at: 6533, length: 1, byte: 35 },
  { kind: 'repeat', at: 6398, length: 358, byte: 0 },
  { kind: 'change', at: 1, length: 1, byte: 0 },
]

describe('corrupt recordings', () => {
  const whole = flvFile(smallStream({ seconds: 6, bFrames: true }))
  const long = flvFile(smallStream({ seconds: 60, frameBytes: 200 }))

  it('are played or rejected, whatever is changed, lost, added or repeated', async () => {
    const seen = { read: 0, refused: 0 }
    await fc.assert(
      fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 12 }), async (damages) => {
        seen[await exerciseRecording(corruptAfterHead(whole, damages))] += 1
      }),
      { numRuns: 400, examples: [[videoAfterLateAudio]] },
    )
    expect(seen.read).toBeGreaterThan(300)
  })

  it('are played or rejected, whatever their tags contain', async () => {
    const seen = { read: 0, refused: 0 }
    const tags = fc.array(strangeTag, { maxLength: 60 })
    await fc.assert(
      fc.asyncProperty(tags, fc.boolean(), async (strange, hasStream) => {
        const stream = hasStream ? smallStream({ seconds: 2 }) : []
        seen[await exerciseRecording(flvFile([...stream, ...strange]))] += 1
      }),
      { numRuns: 500 },
    )
    expect(seen.read).toBeGreaterThan(200)
    expect(seen.refused).toBeGreaterThan(0)
  })

  it('lose only the corrupt bytes and the frames that depend on them', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 3 }), async (damages) => {
        const bytes = corruptAfterHead(long, damages)
        const index = await reader.index(bytesFile(bytes), AbortSignal.timeout(patienceMs))
        const file = bytesFile(bytes)
        let count = 0
        for (let splitPoint = 0; splitPoint < index.splitPoints.flags.length; splitPoint += 1) {
          const content = await reader.readSegment(file, index, {
            from: splitPoint,
            to: splitPoint + 1,
          })
          if (content.kind === 'samples')
            count += content.runs.reduce((sum, { sizes }) => sum + sizes.length, 0)
        }
        // 10 frames of video and 43 of audio a second; a removed range is up to 2 seconds long.
        expect(count).toBeGreaterThan(60 * 53 - damages.length * 4 * 53)
      }),
      { numRuns: 40, seed: 41 },
    )
  })
})

describe('corrupt growing recordings', () => {
  async function indexSoFar(
    bytes: Uint8Array,
    previous?: MediaIndex,
  ): Promise<MediaIndex | undefined> {
    try {
      return await reader.index(bytesFile(bytes), AbortSignal.timeout(patienceMs), previous)
    } catch (error) {
      if (isAppError(error, 'unplayable')) return undefined
      throw error
    }
  }

  function firstSplitPoints({ splitPoints, source }: MediaIndex, count: number): unknown {
    if (source.container !== 'flv') throw new Error('not FLV')
    const lists = [
      splitPoints.startTicks,
      splitPoints.flags,
      source.offsets,
      source.leadMs,
      source.audioEnds,
    ]
    return lists.map((list) => list.slice(0, count))
  }

  it('have the same split points as when they are read at once', async () => {
    const places = fc.array(fc.integer({ min: 0, max: 9999 }), { minLength: 1, maxLength: 8 })
    const strange = fc.array(strangeTag, { maxLength: 40 })
    const damages = fc.array(damage, { maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(strange, damages, places, async (tags, wounds, ends) => {
        const stream = smallStream({ seconds: 3, gopSeconds: 1 })
        const calm = flvFile([...stream, ...tags, ...stream])
        const bytes = corruptAfterHead(calm, wounds)
        const whole = await indexSoFar(bytes)
        let previous: MediaIndex | undefined
        for (const end of [...ends.toSorted((a, b) => a - b), 10_000]) {
          const part = bytes.subarray(0, Math.floor((end * bytes.length) / 10_000))
          const growing = await indexSoFar(part, previous)
          expect(await indexSoFar(part)).toEqual(growing)
          const stable = growing?.growth?.stableSplitPoints ?? 0
          expect(growing && firstSplitPoints(growing, stable)).toEqual(
            whole && growing && firstSplitPoints(whole, stable),
          )
          previous = growing ?? previous
        }
        expect(previous).toEqual(whole)
      }),
      { numRuns: 100 },
    )
  })
})

describe('hostile recordings', () => {
  it.each([
    ['zeros', Buffer.concat([flvHeader(), Buffer.alloc(20_000_000)])],
    [
      'what looks like tags everywhere',
      Buffer.concat([
        flvHeader(),
        Buffer.alloc(3_000_000, Buffer.from('0900000100000000000000', 'hex')),
      ]),
    ],
    ['file headers alone', Buffer.alloc(2_600_000, flvHeader())],
    [
      'the smallest tags',
      Buffer.concat([
        flvHeader(),
        Buffer.alloc(3_000_000, flvTag({ kind: 'audio', timeMs: 0, body: new Uint8Array() })),
      ]),
    ],
    [
      'alternating configurations',
      flvFile(
        Array.from({ length: 20_000 }, (_, i) =>
          videoConfigTag({ codec: 7 }, i, avcConfig(i & 0xff)),
        ),
      ),
    ],
    [
      'clocks that jump with every tag',
      flvFile([
        videoConfigTag({ codec: 7 }, 0, avcConfig()),
        ...Array.from({ length: 60_000 }, (_, i) =>
          frameTag({ codec: 7 }, { timeMs: (i % 2) * 1_000_000, isKey: true, data: madeFrame(i) }),
        ),
      ]),
    ],
    [
      'audio that jumps with every tag',
      flvFile([
        ...smallStream({ seconds: 1 }),
        ...Array.from({ length: 60_000 }, (_, i) => audioTag(AAC, (i % 7) * 100_000, madeAudio(i))),
      ]),
    ],
  ])('of %s are done with in a moment', async (_, bytes) => {
    const cpuMs = watchCpu()
    await expect(exerciseRecording(bytes)).resolves.toMatch(/^(?:read|refused)$/)
    expect(cpuMs()).toBeLessThan(5000)
  })

  it('stop being read after an abort', async () => {
    const controller = new AbortController()
    const bytes = flvFile(smallStream({ seconds: 60, frameBytes: 20_000 }))
    const file = bytesFile(bytes)
    let reads = 0
    const stopping = {
      ...file,
      read: async (buffer: Uint8Array, position: number) => {
        reads += 1
        if (reads === 3) controller.abort(new Error('enough'))
        return file.read(buffer, position)
      },
    }
    await expect(reader.index(stopping, controller.signal)).rejects.toThrow('enough')
    expect(reads).toBe(3)
  })

  it('are rejected after they became shorter', async () => {
    const bytes = flvFile(smallStream({ seconds: 6 }))
    const index = await reader.index(bytesFile(bytes), AbortSignal.timeout(patienceMs))
    const shorter = bytesFile(bytes.subarray(0, 10_000))
    await expect(reader.readSegment(shorter, index, { from: 0, to: 1 })).rejects.toMatchObject({
      code: 'failed',
    })
    const whole = bytesFile(bytes)
    for (const range of [
      { from: 0, to: 0 },
      { from: -1, to: 1 },
      { from: 0, to: 99 },
      { from: 5, to: 6 },
    ]) {
      await expect(reader.readSegment(whole, index, range)).rejects.toMatchObject({
        code: 'failed',
      })
    }
  })
})

describe('long recordings', () => {
  it('need little memory, a small index, and few reads per segment', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'flv-long-'))
    try {
      const target = path.join(folder, 'long.flv')
      const handle = await open(target, 'w')
      const minute = smallStream({ seconds: 60, frameBytes: 6000, framesPerSecond: 25 })
      await handle.write(flvHeader())
      for (let at = 0; at < 10; at += 1) {
        const shifted = minute.map((tag) => flvTag({ ...tag, timeMs: tag.timeMs + at * 60_000 }))
        await handle.write(Buffer.concat(shifted))
      }
      await handle.close()
      const file = await openDiskFile(target)
      const before = process.memoryUsage().arrayBuffers
      const index = await reader.index(file, AbortSignal.timeout(patienceMs))
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * 1024 * 1024)
      expect(durationSeconds(index)).toBeCloseTo(600, 0)
      expect(index.splitPoints.flags.length).toBe(300)
      expect(serialize(index).length).toBeLessThan(300 * 32 + 4096)
      let reads = 0
      const counting = {
        ...file,
        read: async (buffer: Uint8Array, position: number) => {
          reads += 1
          return file.read(buffer, position)
        },
      }
      await reader.readSegment(counting, index, { from: 200, to: 203 })
      expect(reads).toBeLessThanOrEqual(4)
      await file.close()
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
