import { describe, expect, it } from 'vitest'
import type { AudioTrack, KeyFrame } from '../../../media/media-index.ts'
import type { InitTrack, SampleRun } from '../../../media/media-reader.ts'
import { fillTracks } from './fill-tracks.ts'
import type { FilledTracks, SegmentSpan } from './fill-tracks.ts'

const SPAN: SegmentSpan = { startSeconds: 12, endSeconds: 18, start: 'joined', isLast: false }
const AAC: AudioTrack = {
  kind: 'audio',
  codec: 'mp4a.40.2',
  codecName: 'AAC',
  channels: 2,
  sampleRate: 48_000,
}
const KEY_FRAME: KeyFrame = {
  codec: 'h264',
  extradata: Uint8Array.of(1),
  data: Uint8Array.of(0, 0, 0, 1, 0x65),
  rotationDegrees: 0,
}
const VIDEO: InitTrack = {
  kind: 'video',
  timescale: 90_000,
  sampleEntry: new Uint8Array(0),
  width: 320,
  height: 180,
}
const AUDIO: InitTrack = { ...VIDEO, kind: 'audio', timescale: 48_000 }

function filling(more: Partial<FilledTracks> = {}): FilledTracks {
  return {
    inits: [VIDEO, AUDIO],
    audio: AAC,
    readKeyFrame: async () => KEY_FRAME,
    readAudioBefore: async () => undefined,
    ...more,
  }
}

/** Samples of 10 ms. */
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
  it('does not change a segment with tracks that end at or near its end', async () => {
    const runs = [run('video', 12, 17.9), run('audio', 11.2, 16.8)]
    expect(await fillTracks(runs, filling(), SPAN)).toEqual(runs)
  })

  it('gives the last segment all tracks, however short it is', async () => {
    const short = { ...SPAN, endSeconds: 12.2 }
    const before = filling({ readAudioBefore: async () => run('audio', 6, 11.9) })
    for (const [kind, missing, span] of [
      ['video', 'audio', [11.9, 12.2]],
      ['audio', 'video', [12, 12.2]],
    ] as const) {
      const runs = [run(kind, 12, 12.2)]
      expect(await fillTracks(runs, before, short)).toEqual(runs)
      const filled = await fillTracks(runs, before, { ...short, isLast: true })
      expect(secondsOf(filled, missing)).toEqual([span])
    }
  })

  it('extends the last frame if the video ends before the segment', async () => {
    const frames = run('video', 12, 14)
    const runs = await fillTracks([frames, run('audio', 12, 18)], filling(), SPAN)
    expect(secondsOf(runs, 'video')).toEqual([[12, 18]])
    expect(runs[0]?.sizes).toEqual(frames.sizes)
    expect(runs[0]?.durations.at(-1)).toBe(900 + 4 * 90_000)
    expect(frames.durations.at(-1)).toBe(900)
  })

  it('extends the frame that is displayed last, if others are decoded after it', async () => {
    const frames = {
      ...run('video', 12, 12.04),
      bytes: Buffer.from('IIIIIIIIIIPPPPPPPPPPbbbbbbbbbbBBBBBBBBBB'),
    }
    // Display order: 0, 2, 3, 1.
    const compositionOffsets = Int32Array.of(900, 2700, 0, 0)
    const filled = filling({ inits: [VIDEO] })
    const runs = await fillTracks([{ ...frames, compositionOffsets }], filled, SPAN)
    const [extended, rest] = runs
    expect(runs).toHaveLength(2)
    expect([...(extended?.durations ?? [])]).toEqual([900, 6 * 90_000 - 4500 + 900])
    expect(rest).toMatchObject({
      firstDecodeTicks: 12 * 90_000 + 1800,
      bytes: frames.bytes.subarray(20),
      durations: Uint32Array.of(900, 900),
      compositionOffsets: Int32Array.of(0, 0),
      syncs: Uint8Array.of(0, 0),
    })
  })

  it('repeats the last key frame in a segment without video', async () => {
    const runs = await fillTracks([run('audio', 12, 18)], filling(), SPAN)
    expect(secondsOf(runs, 'video')).toEqual([[12, 18]])
    expect(runs[0]).toMatchObject({ bytes: KEY_FRAME.data, syncs: Uint8Array.of(1) })
  })

  it.each<[string, Partial<FilledTracks>]>([
    ['there has been none yet', { readKeyFrame: async () => undefined }],
    ['it would be Annex B', { readKeyFrame: async () => ({ ...BARE }) }],
  ])('repeats no key frame if %s', async (_, more) => {
    const runs = await fillTracks([run('audio', 12, 18)], filling(more), SPAN)
    expect(secondsOf(runs, 'video')).toEqual([])
  })

  it('adds whole frames of silence if there is no audio', async () => {
    const runs = await fillTracks([run('video', 12, 18)], filling(), SPAN)
    expect(secondsOf(runs, 'audio')).toEqual([[12, 18]])
    const [, silence] = runs
    expect(silence?.sizes.length).toBe(Math.floor((6 * 48_000) / 1024))
    expect(silence?.bytes?.length).toBe(silence?.sizes.reduce((sum, size) => sum + size, 0))
    expect(Math.min(...(silence?.durations ?? []))).toBe(1024)
    expect(Math.max(...(silence?.durations ?? []))).toBeLessThan(2048)
  })

  it('adds nothing to a segment that is shorter than the gap that players skip', async () => {
    const short: SegmentSpan = { ...SPAN, endSeconds: 12.2 }
    const frames = [run('video', 12, 12.2)]
    expect(await fillTracks(frames, filling(), short)).toEqual(frames)
    const audioTracks = [run('audio', 12, 12.2)]
    expect(await fillTracks(audioTracks, filling(), short)).toEqual(audioTracks)
  })

  it('starts the silence where the audio of the previous segment ended', async () => {
    const readAudioBefore = async () => run('audio', 6, 11.5)
    const runs = await fillTracks([run('video', 12, 18)], filling({ readAudioBefore }), SPAN)
    expect(secondsOf(runs, 'audio')).toEqual([[11.5, 18]])
  })

  it('adds silence in long gaps before and after audio', async () => {
    const parts = [run('video', 12, 18), run('audio', 14, 15)]
    const runs = await fillTracks(parts, filling(), SPAN)
    expect(secondsOf(runs, 'audio')).toEqual([
      [12, 14],
      [14, 15],
      [15, 18],
    ])
  })

  it('allows audio to start late after a discontinuity', async () => {
    const parts = [run('video', 12, 18), run('audio', 15, 18)]
    expect(await fillTracks(parts, filling(), { ...SPAN, start: 'new' })).toEqual(parts)
  })

  it.each<[string, AudioTrack]>([
    ['FLAC', { ...AAC, codec: 'flac' }],
    ['six channels', { ...AAC, channels: 6 }],
  ])('adds no silence for %s', async (_, audio) => {
    const parts = [run('video', 12, 18)]
    expect(await fillTracks(parts, filling({ audio }), SPAN)).toEqual(parts)
  })

  it('limits the frames of hours of silence', async () => {
    const span: SegmentSpan = { ...SPAN, startSeconds: 0, endSeconds: 36_000 }
    const runs = await fillTracks([], filling({ inits: [AUDIO] }), span)
    expect(runs[0]?.sizes.length).toBe(20_000)
    expect(secondsOf(runs, 'audio')).toEqual([[0, 36_000]])
  })
})

const { extradata: _, ...BARE } = KEY_FRAME
