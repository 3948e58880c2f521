// Gives every track of an fMP4 segment samples up to its end: players keep sound and pictures in one buffer, and wait where one of them is missing.
import type { AudioTrack, KeyFrame } from '../../media/media-index.ts'
import type { InitTrack, SampleRun } from '../../media/media-reader.ts'
import { silentFrame } from '../../audio/silent-frame.ts'

/** Pictures that end earlier than this before their segment does are held; one without any that is as short has none. */
const MAX_STILL_SECONDS = 0.25
/** Sound lies in the segment of its bytes, so that of a segment may be a little early or late. */
const MAX_SILENCE_SECONDS = 1.5
/** More frames of silence than seven minutes of AAC are not written: the last one then lasts as long as it takes. */
const MAX_SILENT_FRAMES = 20_000
const MAX_TICKS = 2 ** 32 - 1

/** Where a segment lies on the session's timeline. */
export interface SegmentSpan {
  startSeconds: number
  endSeconds: number
  /** `new`: players begin anew with it, so that sound may begin late. */
  start: 'new' | 'joined'
}

/** What the segment's init announces, and what to fill it with. */
export interface FilledTracks {
  inits: readonly InitTrack[]
  /** What is sent as sound. */
  audio: AudioTrack | undefined
  /** A picture to show where the segment has none; undefined where there is none yet. */
  readStill(this: void): Promise<KeyFrame | undefined>
  /** The sound of the segment in front, where there is one without a break in between. */
  readAudioBefore(this: void): Promise<SampleRun | undefined>
}

/**
 * The runs, with the last picture held to the end, or the last key frame shown again where there is no picture, and with silence where there is no sound (of the kinds of sound that silence is known of).
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
          ? stillRun(await before.readStill(), timescale, span)
          : holdLast(run, span)
      filled.push(...frames)
    } else {
      const silence = audio && silenceOf(audio)
      if (run === undefined && silence !== undefined) {
        const from = silenceStart(await before.readAudioBefore(), span)
        filled.push(...silenceIfLong({ ...silence, timescale }, from, span.endSeconds))
      } else if (run !== undefined) filled.push(...withSilence(run, silence, span))
    }
  }
  return filled
}

/** Annex B, which comes without a set-up, is no sample of fMP4. */
function stillRun(
  still: KeyFrame | undefined,
  timescale: number,
  { startSeconds, endSeconds }: SegmentSpan,
): SampleRun[] {
  if (still === undefined) return []
  const isSample = still.extradata !== undefined || still.codec === 'vp9' || still.codec === 'av1'
  if (!isSample || endSeconds - startSeconds <= MAX_STILL_SECONDS) return []
  const firstDecodeTicks = Math.round(startSeconds * timescale)
  const durationTicks = Math.round(endSeconds * timescale) - firstDecodeTicks
  const held: SampleRun = {
    kind: 'video',
    timescale,
    firstDecodeTicks,
    sizes: Uint32Array.of(still.data.length),
    bytes: still.data,
    durations: Uint32Array.of(Math.min(durationTicks, MAX_TICKS)),
    syncs: Uint8Array.of(1),
  }
  return [held]
}

/**
 * The picture that is shown last gets the time up to the end. Others may be decoded behind it: they are a run of their own,
 * whose decode times are their own, so that none moves.
 */
function holdLast(run: SampleRun, { endSeconds }: SegmentSpan): SampleRun[] {
  const { at, endTicks: shownTicks } = lastShown(run)
  const missing = Math.round(endSeconds * run.timescale) - shownTicks
  if (missing <= MAX_STILL_SECONDS * run.timescale) return [run]
  const held = sliceRun(run, 0, at + 1)
  const durations = held.durations.slice()
  durations[at] = Math.min((durations[at] ?? 0) + missing, MAX_TICKS)
  const behind = at + 1 < run.sizes.length ? [sliceRun(run, at + 1, run.sizes.length)] : []
  return [{ ...held, durations }, ...behind]
}

/** The picture that is shown last, and when its own time is over. */
function lastShown(run: SampleRun): { at: number; endTicks: number } {
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

/** The samples from `from` up to, not including, `to`. */
function sliceRun(run: SampleRun, from: number, to: number): SampleRun {
  const { sizes, durations, offsets, bytes, compositionOffsets, syncs } = run
  const startBytes = sumOf(sizes.subarray(0, from))
  const countBytes = sumOf(sizes.subarray(from, to))
  return {
    ...run,
    firstDecodeTicks: run.firstDecodeTicks + sumOf(durations.subarray(0, from)),
    sizes: sizes.subarray(from, to),
    durations: durations.subarray(from, to),
    ...(offsets && { offsets: offsets.subarray(from, to) }),
    ...(bytes && { bytes: bytes.subarray(startBytes, startBytes + countBytes) }),
    ...(compositionOffsets && { compositionOffsets: compositionOffsets.subarray(from, to) }),
    ...(syncs && { syncs: syncs.subarray(from, to) }),
  }
}

function sumOf(values: Uint32Array): number {
  return values.reduce((sum, value) => sum + value, 0)
}

function endTicks({ firstDecodeTicks, durations }: SampleRun): number {
  return firstDecodeTicks + sumOf(durations)
}

/** A frame of silence, and how long it is. */
interface Silence {
  frame: Uint8Array
  frameSeconds: number
}

/** 20 ms of CELT, full band, with no pulses (RFC 6716 3.1): one channel, which decoders of two take too. */
const SILENT_OPUS = Uint8Array.of(0xf8, 0xff, 0xfe)

/** Undefined where we know no silence of its kind. */
function silenceOf({ codec, channels, sampleRate }: AudioTrack): Silence | undefined {
  if (channels !== 1 && channels !== 2) return undefined
  if (codec === 'opus') return { frame: SILENT_OPUS, frameSeconds: 0.02 }
  const samples = AAC_FRAME_SAMPLES.get(codec)
  if (samples === undefined) return undefined
  return { frame: silentFrame(channels), frameSeconds: samples / sampleRate }
}

/** AAC-LC, and with spectral band replication. */
const AAC_FRAME_SAMPLES = new Map([
  ['mp4a.40.2', 1024],
  ['mp4a.40.5', 2048],
])

/** Right behind the sound before, where that ends near the segment: players stop at holes. */
function silenceStart(before: SampleRun | undefined, { startSeconds }: SegmentSpan): number {
  const endSeconds = before === undefined ? startSeconds : endTicks(before) / before.timescale
  return Math.abs(endSeconds - startSeconds) > MAX_SILENCE_SECONDS ? startSeconds : endSeconds
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

/** None where players come over the gap by themselves. */
function silenceIfLong(
  silence: Silence & { timescale: number },
  fromSeconds: number,
  toSeconds: number,
): SampleRun[] {
  return toSeconds - fromSeconds > MAX_SILENCE_SECONDS
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
