// The time of every video frame of the fixtures is that of FFmpeg's demuxer: no repair and no clock
// of a reader changes a valid recording. `npm run frame-times -- DIR` checks a folder of others.
import { readdir } from 'node:fs/promises'
import { AV_LOG_QUIET } from 'node-av/constants'
import { Log } from 'node-av/lib'
import { beforeAll, describe, expect, it } from 'vitest'
import { fixturePath } from './support/temp-library.ts'
import { compareFrameTimes } from './support/verify/frame-times.ts'

/** Fixtures without video that is served: refused codecs, a broken file, audio only. */
const WITHOUT_FRAMES = [
  'flv-h263-mp3.flv',
  'mp4-unreadable-malformed-box.mp4',
  'ts-ac3-51-audio-only.ts',
  'ts-mpeg2-1080i-422-dts-mp2-two-audio.ts',
  'webm-vp8-opus-mediarecorder-no-cues-no-duration-truncated.webm',
]

const names = (await readdir(fixturePath('.'))).filter((name) => name !== 'README.md')

beforeAll(() => {
  Log.setLevel(AV_LOG_QUIET)
})

describe('the times of video frames', () => {
  it.each(names)('%s', async (name) => {
    const { outcome, ...more } = await compareFrameTimes(fixturePath(name))
    const expected = WITHOUT_FRAMES.includes(name) ? /^(refused|no-video)$/ : /^equal$/
    expect(outcome, JSON.stringify(more)).toMatch(expected)
  })
})
