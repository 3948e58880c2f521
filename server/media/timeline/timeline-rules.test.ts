import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SPLIT_FORCED, SPLIT_KEY_FRAME } from '../media-index.ts'
import {
  DEFAULT_FRAME_SECONDS,
  MAX_SESSION_SECONDS,
  RULES,
  timelineRules,
} from './timeline-rules.ts'

const containers = ['ts', 'flv', 'fmp4', 'matroska'] as const
const timescales = [1000, 8000, 44_100, 90_000]

describe('timelineRules()', () => {
  it('is exact at its limits, for any timescale and any start', () => {
    for (const timescale of timescales) {
      const { follows, isNear, videoSplitFlags } = timelineRules('flv', timescale)
      for (const start of [0, 1, 977, 2 ** 33 - 1, 10 ** 12]) {
        expect(follows(start + 10 * timescale, start)).toBe(true)
        expect(follows(start + 10 * timescale + 1, start)).toBe(false)
        expect(follows(start - timescale, start)).toBe(true)
        expect(follows(start - timescale - 1, start)).toBe(false)
        expect(isNear(start, start + 10 * timescale)).toBe(true)
        expect(isNear(start, start + 10 * timescale + 1)).toBe(false)
        const distances = { toAnySplitPoint: 0, toKeyFrame: 0, isShownLast: true }
        const least = Math.ceil(0.9 * timescale)
        const flags = (ticks: number) =>
          videoSplitFlags(true, { ...distances, toSplitPoint: start + ticks - start })
        expect([flags(least), flags(least - 1)]).toEqual([SPLIT_KEY_FRAME, 0])
      }
    }
  })

  it('does not treat a pause of the video as a jump if the audio covers it', () => {
    const { videoFollows } = timelineRules('ts', 90_000)
    const minute = 60 * 90_000
    expect(videoFollows(minute, 0, undefined)).toBe(false)
    expect(videoFollows(minute, 0, minute - 90_000)).toBe(true)
    expect(videoFollows(minute, 0, minute + 11 * 90_000)).toBe(false)
    expect(videoFollows(-minute, 0, -minute)).toBe(false)
  })

  it.each(containers)(
    '%s: forces split points two seconds apart, five after a key frame',
    (name) => {
      const { videoSplitFlags } = timelineRules(name, 1000)
      const flags = (toKeyFrame: number, toAnySplitPoint: number, isShownLast = true) =>
        videoSplitFlags(false, { toSplitPoint: 0, toKeyFrame, toAnySplitPoint, isShownLast })
      expect(flags(5000, 2000)).toBe(SPLIT_FORCED)
      expect(flags(4999, 2000)).toBe(0)
      expect(flags(5000, 1999)).toBe(0)
      expect(flags(5000, 2000, false)).toBe(0)
    },
  )

  it.each(containers)('%s: splits audio after its own wait', (name) => {
    const { isAudioSplit } = timelineRules(name, 1000)
    const { audioAloneAfterSeconds, audioSeconds } = RULES[name]
    const toVideo = audioAloneAfterSeconds * 1000
    const toSplitPoint = audioSeconds * 1000
    const toAnySplitPoint = toSplitPoint
    expect(isAudioSplit({ toVideo, toSplitPoint, toAnySplitPoint })).toBe(true)
    expect(isAudioSplit({ toVideo: toVideo - 1, toSplitPoint, toAnySplitPoint })).toBe(false)
    expect(isAudioSplit({ toVideo, toSplitPoint: toSplitPoint - 1, toAnySplitPoint })).toBe(false)
  })

  it('forces split points in audio while the video may continue', () => {
    const { audioSplitFlags } = timelineRules('flv', 1000)
    const flags = (toVideo: number, distance: number) =>
      audioSplitFlags({ toVideo, toSplitPoint: distance, toAnySplitPoint: distance })
    expect(flags(4999, 2000)).toBeUndefined()
    expect(flags(5000, 2000)).toBe(SPLIT_FORCED)
    expect(flags(10_000, 1000)).toBe(0)
    expect(flags(10_000, 999)).toBeUndefined()
  })

  it('compares with limits in exact tenths of a second, whatever the times are', () => {
    const near = fc.tuple(
      fc.constantFrom(-100, -10, 0, 9, 10, 20, 50, 100, 200),
      fc.integer({ min: -2, max: 2 }),
    )
    fc.assert(
      fc.property(
        fc.tuple(
          fc.constantFrom(...containers),
          fc.constantFrom(...timescales, 1, 600, 12_345, 10_000_000),
        ),
        fc.tuple(fc.nat(2 ** 40), fc.array(near, { minLength: 4, maxLength: 4 })),
        fc.tuple(fc.boolean(), fc.boolean()),
        ([name, timescale], [start, nearby], [isKey, isShownLast]) => {
          const rules = timelineRules(name, timescale)
          const [a = 0, b = 0, c = 0, d = 0] = nearby.map(
            ([tenths, more]) => Math.round((tenths * timescale) / 10) + more,
          )
          const is = modelOf(timescale)
          expect(rules.follows(start + a, start)).toBe(is.within(a, -10, 100))
          expect(rules.followsSoon(start + a, start)).toBe(is.within(a, -10, 10))
          expect(rules.isNear(start + a, start + b)).toBe(is.within(a - b, -100, 100))
          const isCovered = a > 0 && is.within(a - b, -100, 100)
          expect(rules.videoFollows(start + a, start, start + b)).toBe(
            is.within(a, -10, 100) || isCovered,
          )
          expect(rules.videoFollows(start + a, start, undefined)).toBe(is.within(a, -10, 100))
          expect(rules.isJump({ back: a, ahead: b })).toBe(!(is.to(a, 10) && is.to(b, 100)))
          const wide = { maxBackSeconds: 2, maxForwardSeconds: 20 }
          expect(rules.isJump({ back: a, ahead: b }, wide)).toBe(!(is.to(a, 20) && is.to(b, 200)))
          const isForced = is.from(c, 50) && is.from(b, 20)
          const distances = { toSplitPoint: a, toAnySplitPoint: b, toKeyFrame: c, isShownLast }
          const isSplit = isKey ? is.from(a, KEY_TENTHS[name]) : isForced && isShownLast
          const flag = isKey ? SPLIT_KEY_FRAME : SPLIT_FORCED
          expect(rules.videoSplitFlags(isKey, distances)).toBe(isSplit ? flag : 0)
          const [alone, apart] = AUDIO_TENTHS[name]
          const audio = { toVideo: d, toSplitPoint: a, toAnySplitPoint: b }
          const isAlone = is.from(d, alone)
          const isAudioSplit = isAlone && is.from(a, apart)
          expect(rules.isAudioSplit(audio)).toBe(isAudioSplit)
          const forced = isForced ? SPLIT_FORCED : undefined
          expect(rules.audioSplitFlags({ ...audio, toKeyFrame: c })).toBe(
            isAlone ? (isAudioSplit ? 0 : undefined) : forced,
          )
        },
      ),
      { numRuns: 300 },
    )
  })

  it('measures in seconds: a year, and 25 frames of video', () => {
    expect(MAX_SESSION_SECONDS).toBe(31_622_400)
    expect(25 * DEFAULT_FRAME_SECONDS).toBe(1)
  })
})

/** Limits in tenths of a second: distance of key frames; audio alone, and its distance. */
const KEY_TENTHS = { ts: 9, flv: 9, fmp4: 9, matroska: 9 }
const AUDIO_TENTHS = {
  ts: [200, 9],
  flv: [100, 10],
  fmp4: [50, 10],
  matroska: [10, 10],
} as const

/** Comparisons of ticks with tenths of a second, in whole numbers. */
function modelOf(timescale: number) {
  const from = (ticks: number, tenths: number) =>
    BigInt(ticks) * 10n >= BigInt(tenths) * BigInt(timescale)
  const to = (ticks: number, tenths: number) =>
    BigInt(ticks) * 10n <= BigInt(tenths) * BigInt(timescale)
  const within = (ticks: number, least: number, most: number) =>
    from(ticks, least) && to(ticks, most)
  return { from, to, within }
}
