import { describe, expect, it } from 'vitest'
import type { Limitation } from '../../../base/problem.ts'
import { bytesFile } from '../../../../test/support/bytes-file.ts'
import { checkGrowth } from '../../../../test/support/verify/grow-recording.ts'
import {
  AAC_TRACK,
  H264_TRACK,
  fragment,
  initSegment,
  plainSamples,
} from '../../../../test/support/make/make-fmp4.ts'
import { AVC_C, avc1 } from '../../../../test/support/make/make-mp4.ts'
import { createFragmentedMp4Reader } from '../fmp4-reader.ts'

const reader = createFragmentedMp4Reader()
const { signal } = new AbortController()
const init = initSegment([H264_TRACK])

/** Fragments of two seconds of video, one GOP each, at these times. */
function fragments(...seconds: number[]): Buffer[] {
  return seconds.map((at) => {
    const samples = plainSamples(50, { duration: 3600, keyEvery: 50, seed: `v${at}` })
    return fragment([{ trackId: 1, samples, decodeTicks: at * 90_000 }])
  })
}

async function limitationsOf(...chunks: Uint8Array[]): Promise<Limitation[] | undefined> {
  return (await reader.index(bytesFile(Buffer.concat(chunks)), signal)).limitations
}

/** Start of the first fragment after these. */
function endOf(...chunks: Uint8Array[]): number {
  return Buffer.concat(chunks).length
}

describe('limitations of a fragmented recording', () => {
  it('are absent if there are none', async () => {
    expect(await limitationsOf(init, ...fragments(0, 2, 4))).toBeUndefined()
  })

  it('contain the truncation: in the media, in a header, in a size', async () => {
    const made = fragments(0, 2, 4)
    const [first = init, second = init, third = init] = made
    const whole = Buffer.concat([init, ...made])
    const lastAt = endOf(init, first, second)
    const mediaAt = lastAt + third.readUInt32BE(0)
    for (const [size, offsetBytes] of [
      [whole.length - 1, mediaAt],
      [mediaAt + 3, mediaAt],
      [mediaAt - 1, lastAt],
      [lastAt + 12, lastAt],
      [lastAt + 5, lastAt],
    ] as const) {
      expect(await limitationsOf(whole.subarray(0, size)), `${size} bytes`).toMatchObject([
        { code: 'truncated', unit: 'box', offsetBytes },
      ])
    }
  })

  it('contain skipped bytes, in the middle and at the end, with the time', async () => {
    const [first = init, second = init, third = init] = fragments(0, 2, 4)
    const noise = Buffer.alloc(700)
    expect(await limitationsOf(init, first, second, noise, third)).toEqual([
      {
        code: 'corrupt',
        lengthBytes: 700,
        offsetBytes: endOf(init, first, second),
        seconds: 2,
      },
    ])
    expect(await limitationsOf(init, first, noise)).toMatchObject([
      { code: 'corrupt', lengthBytes: 700, offsetBytes: endOf(init, first), seconds: 0 },
    ])
  })

  it('contain a fragment that contradicts itself', async () => {
    const [first = init, second = init, third = init] = fragments(0, 2, 4)
    const corrupt = Buffer.from(second)
    corrupt.writeUInt32BE(0xffff, corrupt.indexOf('traf') - 4)
    expect(await limitationsOf(init, first, corrupt, third)).toMatchObject([
      { code: 'fragment-invalid', offsetBytes: endOf(init, first) },
    ])
  })

  it('contain timestamp jumps, but not the start of another movie', async () => {
    const before = [init, ...fragments(100, 102)]
    expect(await limitationsOf(...before, ...fragments(0, 2))).toEqual([
      {
        code: 'gap',
        jumpSeconds: -104,
        offsetBytes: endOf(...before),
        seconds: 4,
      },
    ])
    const other = initSegment([{ ...H264_TRACK, sampleEntries: [avc1(AVC_C, 640, 360)] }])
    expect(await limitationsOf(...before, other, ...fragments(104, 106))).toBeUndefined()
  })

  it('contain tracks that are not served', async () => {
    const bare = { ...AAC_TRACK, sampleEntries: [avc1(AVC_C)] }
    expect(await limitationsOf(initSegment([H264_TRACK, bare]), ...fragments(0, 2))).toMatchObject([
      { code: 'audio-not-served', cause: { code: 'audio-codec-unsupported', codec: 'avc1' } },
    ])
    const second = { ...H264_TRACK, id: 3 }
    expect(
      await limitationsOf(initSegment([H264_TRACK, second]), ...fragments(0, 2)),
    ).toMatchObject([{ code: 'video-not-served', cause: { code: 'track-limit', tracks: 1 } }])
  })

  it('are equal for one scan and for a growing file', async () => {
    const [first = init, second = init, third = init, fourth = init] = fragments(0, 2, 50, 52)
    const noise = Buffer.alloc(300)
    const opening = initSegment([H264_TRACK, { ...H264_TRACK, id: 3 }])
    const bytes = Buffer.concat([opening, first, noise, second, third, noise, fourth])
    const from = opening.length + first.length
    const count = Math.ceil((bytes.length - from) / 997)
    const sizes = Array.from({ length: count }, (_, i) => from + i * 997)
    const last = (await checkGrowth({ reader, bytes }, sizes)).at(-1)
    expect(last?.limitations?.map(({ code }) => code)).toEqual([
      'video-not-served',
      'corrupt',
      'gap',
      'corrupt',
    ])
  })
})
