import { describe, expect, it } from 'vitest'
import type { AudioTrack, KeyFrame } from '../../media/media-index.ts'
import type { InitTrack, SampleRun } from '../../media/media-reader.ts'
import { fillTracks } from './fill-tracks.ts'
import type { FilledTracks, SegmentSpan } from './fill-tracks.ts'

const SPAN: SegmentSpan = { startSeconds: 12, endSeconds: 18, start: 'joined' }
const AAC: AudioTrack = {
  kind: 'audio',
  codec: 'mp4a.40.2',
  codecName: 'AAC',
  channels: 2,
  sampleRate: 48_000,
}
const STILL: KeyFrame = {
  codec: 'h264',
  extradata: Uint8Array.of(1),
  data: Uint8Array.of(0, 0, 0, 1, 0x65),
  rotationDegrees: 0,
}
const FRAMES: InitTrack = {
  kind: 'video',
  timescale: 90_000,
  sampleEntry: new Uint8Array(0),
  width: 320,
  height: 180,
}
const AUDIO: InitTrack = { ...FRAMES, kind: 'audio', timescale: 48_000 }

function filling(more: Partial<FilledTracks> = {}): FilledTracks {
  return {
    inits: [FRAMES, AUDIO],
    audio: AAC,
    readStill: async () => STILL,
    readAudioBefore: async () => undefined,
    ...more,
  }
}

/** Samples of a hundredth of a second. */
function run(kind: SampleRun['kind'], fromSeconds: number, toSeconds: number): SampleRun {
  const timescale = kind === 'video' ? 90_000 : 48_000
  const count = Math.round((toSeconds - fromSeconds) * 100)
  return {
    kind,
    timescale,
    firstDecodeTicks: fromSeconds * timescale,
    sizes: new Uint32Array(count).fill(10),
    offsets: Float64Array.from({ length: count }, (_, at) => at * 10),
    durations: new Uint32Array(count).fill(timescale / 100),
    ...(kind === 'video' && { syncs: new Uint8Array(count).fill(1, 0, 1) }),
  }
}

function secondsOf(runs: readonly SampleRun[], wanted: SampleRun['kind']): [number, number][] {
  return runs
    .filter(({ kind }) => kind === wanted)
    .map(({ firstDecodeTicks, durations, timescale }) => {
      const end = durations.reduce((sum, duration) => sum + duration, firstDecodeTicks)
      return [firstDecodeTicks / timescale, end / timescale]
    })
}

describe('fillTracks', () => {
  it('leaves a segment alone whose tracks go to its end, or nearly so', async () => {
    const runs = [run('video', 12, 17.9), run('audio', 11.2, 16.8)]
    expect(await fillTracks(runs, filling(), SPAN)).toEqual(runs)
  })

  it('holds the last picture where pictures end before the segment does', async () => {
    const frames = run('video', 12, 14)
    const runs = await fillTracks([frames, run('audio', 12, 18)], filling(), SPAN)
    expect(secondsOf(runs, 'video')).toEqual([[12, 18]])
    expect(runs[0]?.sizes).toEqual(frames.sizes)
    expect(runs[0]?.durations.at(-1)).toBe(900 + 4 * 90_000)
    expect(frames.durations.at(-1)).toBe(900)
  })

  it('holds the picture that is shown last, where others are decoded behind it', async () => {
    const frames = {
      ...run('video', 12, 12.04),
      bytes: Buffer.from('IIIIIIIIIIPPPPPPPPPPbbbbbbbbbbBBBBBBBBBB'),
    }
    // Shown in the order 0, 2, 3, 1.
    const compositionOffsets = Int32Array.of(900, 2700, 0, 0)
    const filled = filling({ inits: [FRAMES] })
    const runs = await fillTracks([{ ...frames, compositionOffsets }], filled, SPAN)
    const [held, behind] = runs
    expect(runs).toHaveLength(2)
    expect([...(held?.durations ?? [])]).toEqual([900, 6 * 90_000 - 4500 + 900])
    expect(behind).toMatchObject({
      firstDecodeTicks: 12 * 90_000 + 1800,
      bytes: frames.bytes.subarray(20),
      durations: Uint32Array.of(900, 900),
      compositionOffsets: Int32Array.of(0, 0),
      syncs: Uint8Array.of(0, 0),
    })
  })

  it('shows the last key frame again where there is no picture', async () => {
    const runs = await fillTracks([run('audio', 12, 18)], filling(), SPAN)
    expect(secondsOf(runs, 'video')).toEqual([[12, 18]])
    expect(runs[0]).toMatchObject({ bytes: STILL.data, syncs: Uint8Array.of(1) })
  })

  it.each<[string, Partial<FilledTracks>]>([
    ['there has been none yet', { readStill: async () => undefined }],
    ['it would be Annex B', { readStill: async () => ({ ...BARE }) }],
  ])('shows no key frame where %s', async (_, more) => {
    const runs = await fillTracks([run('audio', 12, 18)], filling(more), SPAN)
    expect(secondsOf(runs, 'video')).toEqual([])
  })

  it('is silent where there is no sound, in whole frames', async () => {
    const runs = await fillTracks([run('video', 12, 18)], filling(), SPAN)
    expect(secondsOf(runs, 'audio')).toEqual([[12, 18]])
    const [, silence] = runs
    expect(silence?.sizes.length).toBe(Math.floor((6 * 48_000) / 1024))
    expect(silence?.bytes?.length).toBe(silence?.sizes.reduce((sum, size) => sum + size, 0))
    expect(Math.min(...(silence?.durations ?? []))).toBe(1024)
    expect(Math.max(...(silence?.durations ?? []))).toBeLessThan(2048)
  })

  it('adds nothing to a segment that is over before a player waits', async () => {
    const short: SegmentSpan = { ...SPAN, endSeconds: 12.2 }
    const frames = [run('video', 12, 12.2)]
    expect(await fillTracks(frames, filling(), short)).toEqual(frames)
    const audioTracks = [run('audio', 12, 12.2)]
    expect(await fillTracks(audioTracks, filling(), short)).toEqual(audioTracks)
  })

  it('is silent from where the sound of the segment before ended', async () => {
    const readAudioBefore = async () => run('audio', 6, 11.5)
    const runs = await fillTracks([run('video', 12, 18)], filling({ readAudioBefore }), SPAN)
    expect(secondsOf(runs, 'audio')).toEqual([[11.5, 18]])
  })

  it('is silent before and behind sound that has long gaps there', async () => {
    const parts = [run('video', 12, 18), run('audio', 14, 15)]
    const runs = await fillTracks(parts, filling(), SPAN)
    expect(secondsOf(runs, 'audio')).toEqual([
      [12, 14],
      [14, 15],
      [15, 18],
    ])
  })

  it('lets sound begin late where the player begins anew', async () => {
    const parts = [run('video', 12, 18), run('audio', 15, 18)]
    expect(await fillTracks(parts, filling(), { ...SPAN, start: 'new' })).toEqual(parts)
  })

  it.each<[string, AudioTrack]>([
    ['FLAC', { ...AAC, codec: 'flac' }],
    ['six channels', { ...AAC, channels: 6 }],
  ])('knows no silence of %s', async (_, audio) => {
    const parts = [run('video', 12, 18)]
    expect(await fillTracks(parts, filling({ audio }), SPAN)).toEqual(parts)
  })

  it('bounds the frames of a silence of hours', async () => {
    const span: SegmentSpan = { startSeconds: 0, endSeconds: 36_000, start: 'joined' }
    const runs = await fillTracks([], filling({ inits: [AUDIO] }), span)
    expect(runs[0]?.sizes.length).toBe(20_000)
    expect(secondsOf(runs, 'audio')).toEqual([[0, 36_000]])
  })
})

const { extradata: _, ...BARE } = STILL
