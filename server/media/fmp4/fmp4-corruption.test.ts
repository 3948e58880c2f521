// Corruption found by mutating files: it costs only its own fragment, and the same for a complete
// and a growing file.
import { describe, expect, it } from 'vitest'
import { bytesFile } from '../../../test/support/bytes-file.ts'
import { exerciseRecording } from '../../../test/support/verify/exercise-recording.ts'
import {
  type FragmentSample,
  AAC_TRACK,
  H264_TRACK,
  fragment,
  initSegment,
  plainSamples,
} from '../../../test/support/make/make-fmp4.ts'
import { AVC_C, avc1 } from '../../../test/support/make/make-mp4.ts'
import { createFragmentedMp4Reader } from './fmp4-reader.ts'

const { signal } = new AbortController()
const reader = createFragmentedMp4Reader()
const init = initSegment([H264_TRACK, AAC_TRACK])
const SECONDS = 12

/**
 * One fragment per second, each starting with a key frame; `change` may corrupt the samples of one.
 */
function fragments(
  change: (at: number, frames: FragmentSample[], audio: FragmentSample[]) => void = () => undefined,
): Buffer[] {
  return Array.from({ length: SECONDS }, (_, at) => {
    const frames = plainSamples(25, { duration: 3600, keyEvery: 25, seed: 'v' })
    const audio = plainSamples(50, { duration: 960, keyEvery: 1, seed: 'a', sizeBytes: 8 })
    change(at, frames, audio)
    return fragment([
      { trackId: 1, samples: frames, decodeTicks: at * 90_000 },
      { trackId: 2, samples: audio, decodeTicks: at * 48_000 },
    ])
  })
}

/** Indexes the recording at every size; rejects if the result differs from that of one scan. */
async function growInAllWays(bytes: Buffer): Promise<'read'> {
  for (let size = 8192; size < bytes.length; size += 331) {
    expect(await exerciseRecording(bytes, size)).toBe('read')
  }
  return 'read'
}

async function splitPointSeconds(bytes: Buffer): Promise<number[]> {
  const { splitPoints } = await reader.index(bytesFile(bytes), signal)
  return Array.from(splitPoints.startTicks, (ticks) => ticks / splitPoints.timescale)
}

const everySecond = Array.from({ length: SECONDS }, (_, at) => at)

describe('a corrupt fragment', () => {
  it('with a frame presented hours after its decode time does not move other frames', async () => {
    const made = fragments((at, frames) => {
      const frame = frames[3]
      if (at === 0 && frame !== undefined) frame.offset = 2 ** 31 - 1
    })
    const bytes = Buffer.concat([init, ...made])
    expect(await splitPointSeconds(bytes)).toEqual(everySecond)
    expect(await exerciseRecording(bytes)).toBe('read')
  })

  it('with samples presented before its start does not change the previous segment', async () => {
    const made = fragments((at, frames) => {
      const frame = frames[3]
      if (at === 4 && frame !== undefined) frame.offset = -4 * 90_000
    })
    expect(await exerciseRecording(Buffer.concat([init, ...made]))).toBe('read')
  })

  it('with samples of duration 0 does not start earlier', async () => {
    const made = fragments((at, _, audio) => {
      const still = plainSamples(60_000, { duration: 0, keyEvery: 1, seed: '', sizeBytes: 0 })
      if (at === 4) audio.push(...still)
    })
    expect(await exerciseRecording(Buffer.concat([init, ...made]))).toBe('read')
  })

  it('does not take its samples from later fragments', async () => {
    const made = fragments()
    const [corrupt = Buffer.alloc(0)] = made.splice(6, 1)
    // The first trun: size, type, flags, count, and data offset.
    corrupt.writeInt32BE(3000, corrupt.indexOf('trun') + 12)
    const bytes = Buffer.concat([init, ...made.slice(0, 6), corrupt, ...made.slice(6)])
    expect(await growInAllWays(bytes)).toBe('read')
  })

  it('does not hide the fragments that its mdat seems to contain', async () => {
    const made = fragments()
    const corrupt = made[3] ?? Buffer.alloc(0)
    const sizeAt = corrupt.lastIndexOf('mdat') - 4
    corrupt.writeUInt32BE(corrupt.readUInt32BE(sizeAt) + 4567, sizeAt)
    const bytes = Buffer.concat([init, ...made])
    expect(await splitPointSeconds(bytes)).toEqual(everySecond)
    expect(await growInAllWays(bytes)).toBe('read')
  })

  it('does not hide the fragments that its moof seems to contain', async () => {
    const made = fragments()
    const corrupt = made[6] ?? Buffer.alloc(0)
    // It ends in the second fragment after it.
    corrupt.writeUInt32BE(2 * corrupt.length + 500)
    const bytes = Buffer.concat([init, ...made])
    expect(await splitPointSeconds(bytes)).toEqual(everySecond.filter((second) => second !== 6))
    expect(await growInAllWays(bytes)).toBe('read')
  })

  it('that is truncated plays up to its last complete sample', async () => {
    const made = fragments()
    const whole = made[6] ?? Buffer.alloc(0)
    const moofBytes = whole.readUInt32BE(0)
    const corrupt = Buffer.concat([
      whole.subarray(0, moofBytes - 9),
      whole.subarray(moofBytes + 99),
    ])
    const bytes = Buffer.concat([init, ...made.slice(0, 6), corrupt, ...made.slice(7)])
    expect(await growInAllWays(bytes)).toBe('read')
  })
})

it('a hostile file has no more sections than their limit', async () => {
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
