import { describe, expect, it } from 'vitest'
import { SPLIT_FORCED, SPLIT_KEY_FRAME } from '../media-index.ts'
import { RULES, timelineRules } from './timeline-rules.ts'

const containers = ['ts', 'flv', 'fmp4', 'matroska', 'mp4'] as const
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
})
