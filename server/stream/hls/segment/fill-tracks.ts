// Extends each track of an fMP4 segment to the segment's end: players buffer audio and video
// together, and stall if one of them is missing.
import type { AudioTrack, KeyFrame } from '../../../media/media-index.ts'
import type { InitTrack, SampleRun } from '../../../media/media-reader.ts'
import { silentFrame } from '../../../decode/audio/silent-frame.ts'
import { sliceRun, sumOf } from '../fmp4/slice-run.ts'

/** A shorter gap in the video is not filled. */
const MAX_VIDEO_GAP_SECONDS = 0.25
/** A shorter gap is not filled: the audio in a segment's bytes may be early or late. */
const MAX_AUDIO_GAP_SECONDS = 1.5
/** Seven minutes of AAC. In a longer silence, the last frame gets the remaining duration. */
const MAX_SILENT_FRAMES = 20_000
/** Of a sample in a trun box (ISO/IEC 14496-12 8.8.8). */
export const MAX_TICKS = 2 ** 32 - 1

/** Times of a segment on the session's timeline. */
export interface SegmentSpan {
  startSeconds: number
  endSeconds: number
  /** `new`: the first one, or after a discontinuity. Then audio may start late. */
  start: 'new' | 'joined'
  /** The recording ends with it. Without one of its tracks, players would wait for more. */
  isLast: boolean
}

/** The tracks of the segment's init, and samples to fill gaps with, which are read if needed. */
export interface FilledTracks {
  inits: readonly InitTrack[]
  /** The audio track that is sent. */
  audio: AudioTrack | undefined
  /** The key frame to repeat in a segment without video; undefined before the first one. */
  readKeyFrame(this: void): Promise<KeyFrame | undefined>
  /** Audio of the previous segment; undefined after a discontinuity. */
  readAudioBefore(this: void): Promise<SampleRun | undefined>
}

/**
 * The runs without gaps. The last frame is extended to the end, or the last key frame is repeated
 * in a segment without video. Gaps in audio become silence, for codecs with a known silent frame.
 */
export async function fillTracks(
  runs: readonly SampleRun[],
  { inits, audio, ...before }: FilledTracks,
  span: SegmentSpan,
): Promise<SampleRun[]> {
  const filled: SampleRun[] = []
  for (const { kind, timescale } of inits) {
    const run = runs.find((each) => each.kind === kind)
    if (kind === 'video') {
      const frames =
        run === undefined
          ? repeatedRun(await before.readKeyFrame(), timescale, span)
          : extendLast(run, span)
      filled.push(...frames)
    } else {
      const silence = audio && silenceOf(audio)
      if (run === undefined && silence !== undefined) {
        const from = silenceStart(await before.readAudioBefore(), span)
        const silent = { ...silence, timescale }
        const fill = span.isLast ? silentRun : silenceIfLong
        filled.push(...fill(silent, from, span.endSeconds))
      } else if (run !== undefined) filled.push(...withSilence(run, silence, span))
    }
  }
  return filled
}

/** Annex B data, which has no `extradata`, is not a valid fMP4 sample. */
function repeatedRun(
  keyFrame: KeyFrame | undefined,
  timescale: number,
  { startSeconds, endSeconds, isLast }: SegmentSpan,
): SampleRun[] {
  if (keyFrame === undefined) return []
  const isSample =
    keyFrame.extradata !== undefined || keyFrame.codec === 'vp9' || keyFrame.codec === 'av1'
  const isLong = isLast || endSeconds - startSeconds > MAX_VIDEO_GAP_SECONDS
  if (!isSample || !isLong) return []
  const firstDecodeTicks = Math.round(startSeconds * timescale)
  const durationTicks = Math.round(endSeconds * timescale) - firstDecodeTicks
  const repeated: SampleRun = {
    kind: 'video',
    timescale,
    firstDecodeTicks,
    sizes: Uint32Array.of(keyFrame.data.length),
    bytes: keyFrame.data,
    durations: Uint32Array.of(Math.min(durationTicks, MAX_TICKS)),
    syncs: Uint8Array.of(1),
  }
  return [repeated]
}

/**
 * Extends the frame that is displayed last to the segment's end. Frames that are decoded after it
 * become another run, so that their decode times do not change.
 */
function extendLast(run: SampleRun, { endSeconds }: SegmentSpan): SampleRun[] {
  const { at, endTicks: displayedTicks } = lastDisplayed(run)
  const missing = Math.round(endSeconds * run.timescale) - displayedTicks
  if (missing <= MAX_VIDEO_GAP_SECONDS * run.timescale) return [run]
  const extended = sliceRun(run, 0, at + 1)
  const durations = extended.durations.slice()
  durations[at] = Math.min((durations[at] ?? 0) + missing, MAX_TICKS)
  const rest = at + 1 < run.sizes.length ? [sliceRun(run, at + 1, run.sizes.length)] : []
  return [{ ...extended, durations }, ...rest]
}

/** The frame that is displayed last, and when its own duration ends. */
function lastDisplayed(run: SampleRun): { at: number; endTicks: number } {
  const { compositionOffsets, durations } = run
  let last = { at: 0, endTicks: -Infinity }
  let decodeTicks = run.firstDecodeTicks
  durations.forEach((duration, at) => {
    const ticks = decodeTicks + (compositionOffsets?.[at] ?? 0) + duration
    if (ticks > last.endTicks) last = { at, endTicks: ticks }
    decodeTicks += duration
  })
  return last
}

function endTicks({ firstDecodeTicks, durations }: SampleRun): number {
  return firstDecodeTicks + sumOf(durations)
}

/** A silent frame and its duration. */
interface Silence {
  frame: Uint8Array
  frameSeconds: number
}

/** 20 ms of CELT, full band, no pulses (RFC 6716 3.1). Mono; stereo decoders accept it too. */
const SILENT_OPUS = Uint8Array.of(0xf8, 0xff, 0xfe)

/** Undefined for codecs and channel counts without a known silent frame. */
function silenceOf({ codec, channels, sampleRate }: AudioTrack): Silence | undefined {
  if (channels !== 1 && channels !== 2) return undefined
  if (codec === 'opus') return { frame: SILENT_OPUS, frameSeconds: 0.02 }
  const samples = AAC_FRAME_SAMPLES.get(codec)
  if (samples === undefined) return undefined
  return { frame: silentFrame(channels), frameSeconds: samples / sampleRate }
}

/** AAC-LC, and AAC with spectral band replication. */
const AAC_FRAME_SAMPLES = new Map([
  ['mp4a.40.2', 1024],
  ['mp4a.40.5', 2048],
])

/** Directly after the previous segment's audio, if that ends near: players stall at gaps. */
function silenceStart(before: SampleRun | undefined, { startSeconds }: SegmentSpan): number {
  const endSeconds = before === undefined ? startSeconds : endTicks(before) / before.timescale
  return Math.abs(endSeconds - startSeconds) > MAX_AUDIO_GAP_SECONDS ? startSeconds : endSeconds
}

function withSilence(
  run: SampleRun,
  silence: Silence | undefined,
  { startSeconds, endSeconds, start }: SegmentSpan,
): SampleRun[] {
  if (silence === undefined) return [run]
  const fill = (from: number, to: number): SampleRun[] =>
    silenceIfLong({ ...silence, timescale: run.timescale }, from, to)
  const firstSeconds = run.firstDecodeTicks / run.timescale
  const before = start === 'new' ? [] : fill(startSeconds, firstSeconds)
  return [...before, run, ...fill(endTicks(run) / run.timescale, endSeconds)]
}

/** No silence for a gap that players skip by themselves. */
function silenceIfLong(
  silence: Silence & { timescale: number },
  fromSeconds: number,
  toSeconds: number,
): SampleRun[] {
  return toSeconds - fromSeconds > MAX_AUDIO_GAP_SECONDS
    ? silentRun(silence, fromSeconds, toSeconds)
    : []
}

function silentRun(
  { frame, frameSeconds, timescale }: Silence & { timescale: number },
  fromSeconds: number,
  toSeconds: number,
): SampleRun[] {
  const fromTicks = Math.round(fromSeconds * timescale)
  const toTicks = Math.round(toSeconds * timescale)
  if (toTicks <= fromTicks) return []
  const frameTicks = frameSeconds * timescale
  const frames = Math.floor((toTicks - fromTicks) / frameTicks)
  const count = Math.min(Math.max(frames, 1), MAX_SILENT_FRAMES)
  const durations = Uint32Array.from({ length: count }, (_, at) => {
    const end = at === count - 1 ? toTicks - fromTicks : Math.round((at + 1) * frameTicks)
    return Math.min(end - Math.round(at * frameTicks), MAX_TICKS)
  })
  const sizes = new Uint32Array(count).fill(frame.length)
  const bytes = Buffer.alloc(frame.length * count, frame)
  return [{ kind: 'audio', timescale, firstDecodeTicks: fromTicks, sizes, bytes, durations }]
}
