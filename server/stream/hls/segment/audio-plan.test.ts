import { describe, expect, it } from 'vitest'
import { SPLIT_DISCONTINUITY, SPLIT_KEY_FRAME } from '../../../media/media-index.ts'
import type { SplitPointTable } from '../../../media/media-index.ts'
import { audioStartRange, frameAtSplitPoint, planAudioRanges } from './audio-plan.ts'

const sampleRate = 48_000

/** Split points at these seconds, with discontinuities at some of them. */
function splitPointsAt(
  seconds: readonly number[],
  breaks: readonly number[] = [],
): SplitPointTable {
  return {
    timescale: 90_000,
    startTicks: Float64Array.from(seconds, (time) => time * 90_000),
    endTicks: ((seconds.at(-1) ?? 0) + 2) * 90_000,
    flags: Uint8Array.from(
      seconds,
      (_, splitPoint) => SPLIT_KEY_FRAME | (breaks.includes(splitPoint) ? SPLIT_DISCONTINUITY : 0),
    ),
  }
}

describe('planAudioRanges', () => {
  it('reads a second before both ends, divided at the points that both sides need', () => {
    const splitPoints = splitPointsAt([0, 2, 4, 6, 8, 10])
    expect(planAudioRanges(splitPoints, { from: 2, to: 5 })).toEqual({
      leadIn: 1,
      nextLeadIn: 4,
      ranges: [
        { from: 1, to: 2 },
        { from: 2, to: 4 },
        { from: 4, to: 5 },
      ],
    })
  })

  it('skips back over split points that are close together', () => {
    const splitPoints = splitPointsAt([0, 0.5, 0.9, 1.4, 1.8, 2.2])
    expect(planAudioRanges(splitPoints, { from: 4, to: 5 })).toEqual({
      leadIn: 1,
      nextLeadIn: 2,
      ranges: [
        { from: 1, to: 2 },
        { from: 2, to: 4 },
        { from: 4, to: 5 },
      ],
    })
  })

  it('reads nothing before the start or a discontinuity, or after the end', () => {
    const splitPoints = splitPointsAt([0, 2, 4, 6], [2])
    expect(planAudioRanges(splitPoints, { from: 0, to: 2 })).toEqual({
      leadIn: 0,
      nextLeadIn: undefined,
      ranges: [{ from: 0, to: 2 }],
    })
    expect(planAudioRanges(splitPoints, { from: 2, to: 4 })).toMatchObject({
      leadIn: 2,
      nextLeadIn: undefined,
    })
    expect(planAudioRanges(splitPoints, { from: 3, to: 4 }).leadIn).toBe(2)
  })
})

describe('frameAtSplitPoint', () => {
  const splitPoints = splitPointsAt([0, 2, 4, 6, 20, 40], [2])
  const at = (splitPoint: number, before: Parameters<typeof frameAtSplitPoint>[2]['before']) =>
    frameAtSplitPoint(splitPoints, splitPoint, { sampleRate, before })

  it('is exact where the audio starts or ends', () => {
    expect(at(0, { status: 'silent' })).toBe(0)
    expect(at(2, { status: 'present', lastSeconds: 3.9 })).toBe(Math.ceil((4 * sampleRate) / 1024))
    expect(at(6, { status: 'present', lastSeconds: 41 })).toBe(Math.ceil((42 * sampleRate) / 1024))
  })

  it('is four frames before the last packet, wherever the video is', () => {
    for (const lastSeconds of [1.4, 1.98, 2.5]) {
      const frame = Math.floor((lastSeconds * sampleRate) / 1024) - 4
      expect(at(1, { status: 'present', lastSeconds })).toBe(frame)
    }
  })

  it('is near the video, whatever the packets contain', () => {
    expect(at(4, { status: 'present', lastSeconds: 0 })).toBe(
      Math.floor((10 * sampleRate) / 1024) - 4,
    )
    expect(at(4, { status: 'present', lastSeconds: 1e9 })).toBe(
      Math.floor((30 * sampleRate) / 1024) - 4,
    )
    expect(at(4, { status: 'silent' })).toBe(Math.floor((20 * sampleRate) / 1024) - 4)
  })

  it('is never before the discontinuity, and is there if the audio is late', () => {
    const begin = Math.ceil((4 * sampleRate) / 1024)
    expect(at(3, { status: 'present', lastSeconds: 3 })).toBe(begin)
    expect(at(3, { status: 'not started' })).toBe(begin)
    expect(audioStartRange(splitPoints, 3)).toEqual({ from: 2, to: 3 })
    expect(audioStartRange(splitPoints, 4)).toBeUndefined()
    expect(audioStartRange(splitPoints, 2)).toBeUndefined()
  })
})
