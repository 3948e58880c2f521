// Invariants of every index and every segment, whatever the bytes of the recording: for corrupt
// recordings.
import assert from 'node:assert/strict'
import { SPLIT_DISCONTINUITY } from '../../../server/media/media-index.ts'
import type { MediaIndex, SubtitleTrack } from '../../../server/media/media-index.ts'
import type {
  InitTrack,
  Part,
  SampleRun,
  SegmentContent,
} from '../../../server/media/media-reader.ts'

const MAX_SUBTITLES = 64
const MAX_CUES = 200_000
const MAX_TEXT_CHARACTERS = 16 * 1024 * 1024
/** First decode times are raised to the sample's number in ticks; presentation times stay. */
const MAX_LIFTED_SECONDS = 0.1

/** Asserts that split points are in order, and that tracks and subtitles can be offered. */
export function checkIndex({ tracks, splitPoints, subtitles = [], growth }: MediaIndex): void {
  assert(tracks.length > 0, 'an index without tracks')
  const videos = tracks.filter(({ kind }) => kind === 'video').length
  assert(videos <= 1, 'at most one video')
  assert.equal(splitPoints.flags.length, splitPoints.startTicks.length, 'as many flags as cuts')
  assert.equal(splitPoints.startTicks[0], 0, 'the first split point is at the start')
  assert(splitPoints.timescale > 0, 'a timescale')
  const stable = growth?.stableSplitPoints ?? 0
  assert(stable <= splitPoints.startTicks.length, 'no more stable split points than split points')
  splitPoints.startTicks.forEach((ticks, splitPoint) => {
    const next = splitPoints.startTicks[splitPoint + 1] ?? splitPoints.endTicks
    assert(
      Number.isFinite(next) && next >= ticks,
      `times increase at split point ${splitPoint}: ${ticks}, ${next}`,
    )
  })
  checkSubtitles(subtitles)
}

function checkSubtitles(subtitles: readonly SubtitleTrack[]): void {
  assert(subtitles.length <= MAX_SUBTITLES, 'bounded text tracks')
  const cues = subtitles.flatMap((text) => text.cues)
  assert(cues.length <= MAX_CUES, 'bounded cues')
  const characters = cues.reduce((sum, { text }) => sum + text.length, 0)
  assert(characters <= MAX_TEXT_CHARACTERS, 'bounded text')
  for (const text of subtitles) {
    let earliest = 0
    for (const cue of text.cues) {
      const { startSeconds, endSeconds } = cue
      assert(startSeconds >= earliest, `cues are in order: ${earliest}, ${startSeconds}`)
      assert(Number.isFinite(endSeconds) && endSeconds >= startSeconds, 'a cue ends')
      // W3C WebVTT 4.1: what would end the cue.
      assert(!/-->|\n\s*\n|\r/.test(cue.text), `a cue's text: ${JSON.stringify(cue.text)}`)
      earliest = startSeconds
    }
  }
}

/** Asserts that each init track has one complete sample entry. */
export function checkInitTracks(tracks: readonly InitTrack[] | undefined): void {
  for (const { sampleEntry, timescale } of tracks ?? []) {
    assert(timescale > 0, 'a timescale')
    assert(sampleEntry.length > 8, 'a sample entry')
    assert.equal(Buffer.from(sampleEntry).readUInt32BE(0), sampleEntry.length, 'a whole box')
  }
}

/** Asserts that all ranges of a segment are inside the file, with samples in order. */
export function checkContent(content: SegmentContent, sizeBytes: number): void {
  if (content.kind === 'ts') checkParts(content.parts, sizeBytes)
  else for (const run of content.runs) checkRun(run, sizeBytes)
}

function checkParts(parts: readonly Part[], sizeBytes: number): void {
  for (const part of parts) {
    if (part.kind === 'range') checkInside(part.offset, part.length, sizeBytes)
  }
}

function checkRun(run: SampleRun, sizeBytes: number): void {
  const count = run.sizes.length
  assert(count > 0, 'a run has samples')
  assert.equal(run.durations.length, count, 'as many durations as samples')
  assert(run.firstDecodeTicks >= 0, 'no decode time is negative')
  checkCompositionOffsets(run)
  assert.notEqual(run.offsets === undefined, run.bytes === undefined, 'offsets or bytes')
  if (run.bytes !== undefined) {
    const total = run.sizes.reduce((sum, size) => sum + size, 0)
    assert.equal(run.bytes.length, total, 'the bytes are those of the samples')
  }
  run.offsets?.forEach((offset, i) => {
    const prefixBytes = i === 0 ? (run.prefix?.length ?? 0) : 0
    checkInside(offset, (run.sizes[i] ?? NaN) - prefixBytes, sizeBytes)
  })
}

function checkCompositionOffsets(run: SampleRun): void {
  let decodeTicks = run.firstDecodeTicks
  run.compositionOffsets?.forEach((offset, at) => {
    const isLifted = decodeTicks <= MAX_LIFTED_SECONDS * run.timescale && decodeTicks + offset >= 0
    assert(offset >= 0 || isLifted, `sample ${at} is shown ${offset} ticks before it is decoded`)
    decodeTicks += run.durations[at] ?? 0
  })
}

function checkInside(offset: number, length: number, sizeBytes: number): void {
  const isInside = offset >= 0 && length >= 0 && offset + length <= sizeBytes
  assert(isInside, `${length} bytes at ${offset} of ${sizeBytes}`)
}

/** Earliest decode time of the next sample of each kind, in seconds. */
export interface DecodedUpTo {
  video: number
  audio: number
}

/**
 * Start times are in fragments, end times follow from durations. Where corruption makes them differ
 * by less than a discontinuity, segments start where their fragments do, and a later one replaces
 * the end of the one before.
 */
const MAX_FRAGMENT_OVERLAP_SECONDS = 1

/** Asserts that decode times continue from the segment before; returns how far they go. */
export function checkDecodeOrder(
  { source }: MediaIndex,
  content: SegmentContent,
  before: DecodedUpTo,
): DecodedUpTo {
  const overlapSeconds = source.container === 'fmp4' ? MAX_FRAGMENT_OVERLAP_SECONDS : 0
  const upTo = { ...before }
  for (const run of content.kind === 'ts' ? [] : content.runs) {
    const { kind, timescale, firstDecodeTicks, durations } = run
    const first = firstDecodeTicks / timescale
    const isBehind = first >= upTo[kind] - overlapSeconds
    assert(isBehind, `${kind} at ${first} before ${upTo[kind]}`)
    const beforeLast = durations.subarray(0, -1).reduce((sum, ticks) => sum + ticks, 0)
    // Corrupt tables have samples without duration.
    const step = Math.min(durations.at(-1) ?? 0, 1)
    upTo[kind] = (firstDecodeTicks + beforeLast + step) / timescale
  }
  return upTo
}

/** Whether timestamps continue without a discontinuity from one split point to another. */
export function goesOn({ splitPoints }: MediaIndex, from: number, to: number): boolean {
  return splitPoints.flags
    .subarray(from + 1, to + 1)
    .every((flags) => (flags & SPLIT_DISCONTINUITY) === 0)
}

/** Asserts that the index of a longer recording preserves the stable part of the earlier one. */
export function checkKept(early: MediaIndex, late: MediaIndex): void {
  const stable = early.growth?.stableSplitPoints ?? 0
  if (stable === 0) return
  assert.equal(late.splitPoints.timescale, early.splitPoints.timescale)
  assert((late.growth?.stableSplitPoints ?? 0) >= stable, 'stable split points never decrease')
  for (const table of ['startTicks', 'flags'] as const) {
    const [kept, now] = [
      early.splitPoints[table].slice(0, stable),
      late.splitPoints[table].slice(0, stable),
    ]
    assert.deepEqual(now, kept, `stable split points do not change: ${table}`)
  }
}
