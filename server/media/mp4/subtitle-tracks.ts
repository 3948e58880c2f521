// Text tracks of a movie (3GPP timed text, QuickTime text, WebVTT in ISOBMFF): all their cues, read at once.
import { readExactly } from '../../storage/read-exactly.ts'
import { isAppError } from '../../errors.ts'
import type { SubtitleCue, SubtitleTrack } from '../media-index.ts'
import type { SampleRun } from '../media-reader.ts'
import type { FileWindow } from './file-window.ts'
import type { Movie, MovieTrack } from './movie.ts'
import { MAX_CUES, MAX_DESCRIPTIONS, MAX_TEXT_BYTES, MAX_TEXT_SAMPLE_BYTES } from './mp4-limits.ts'
import { surveySamples } from './sample-map.ts'
import { readSampleRun } from './sample-run.ts'
import { type TextFormat, parseTextSample, textFormat } from './text-sample.ts'
import { createClock } from './timeline.ts'
import { wholeTrack } from './whole-track.ts'

/** Reads every text track that has cues. What is broken is left out: a recording plays without. */
export async function readSubtitleTracks(
  window: FileWindow,
  movie: Movie,
  startSeconds: number,
): Promise<SubtitleTrack[]> {
  const subtitles: SubtitleTrack[] = []
  const left: Budget = { cues: MAX_CUES, bytes: MAX_TEXT_BYTES }
  for (const track of movie.tracks) {
    if (track.kind !== 'text' || track.tables.sampleCount === 0) continue
    const cues = await readCues(window, { movie, track, startSeconds, left })
    if (cues.length === 0) continue
    const { language, name } = track
    subtitles.push({
      ...(language !== undefined && { language }),
      ...(name !== undefined && { name }),
      isDefault: track.isEnabled && !subtitles.some(({ isDefault }) => isDefault),
      cues,
    })
  }
  return subtitles
}

/** How much text more is read of this file. */
interface Budget {
  cues: number
  bytes: number
}

interface TextPlan {
  movie: Movie
  track: MovieTrack
  /** The session's start on the movie's timeline. */
  startSeconds: number
  left: Budget
}

async function readCues(window: FileWindow, plan: TextPlan): Promise<SubtitleCue[]> {
  try {
    const format = await readFormat(window, plan.track)
    return format === undefined ? [] : await readSamples(window, plan, format)
  } catch (error) {
    if (isAppError(error, 'unplayable', 'failed')) return []
    throw error
  }
}

async function readFormat(
  window: FileWindow,
  { descriptions }: MovieTrack,
): Promise<TextFormat | undefined> {
  const box = { ...descriptions, contentStart: descriptions.contentStart + 8 }
  const [entry] = await window.children(box)
  return entry && textFormat(entry.type)
}

async function readSamples(
  window: FileWindow,
  { movie, track, startSeconds, left }: TextPlan,
  format: TextFormat,
): Promise<SubtitleCue[]> {
  const { file, signal } = window
  const survey = await surveySamples(file, track.tables, {
    descriptionCount: MAX_DESCRIPTIONS,
    stopsAtChange: 'go on',
    signal,
  })
  const sampleCount = Math.min(survey.map.sampleCount, MAX_CUES)
  if (sampleCount === 0) return []
  const clock = createClock({
    fileTimescale: track.timescale,
    movieTimescale: movie.timescale,
    edits: track.edits,
    ...survey,
  })
  const whole = wholeTrack(
    { ...survey.map, sampleCount },
    { kind: 'video', timescale: track.timescale },
  )
  const run = await readSampleRun(file, whole, { from: 0, to: 1 })
  if (run === undefined) return []
  const shift = clock.editTicks / clock.timescale - startSeconds
  const cues: SubtitleCue[] = []
  for (const { offset, sizeBytes, start, end } of timedSamples(run, shift)) {
    if (sizeBytes > left.bytes || left.cues === 0) break
    signal.throwIfAborted()
    left.bytes -= sizeBytes
    const subtitles = parseTextSample(format, await readExactly(file, offset, sizeBytes))
    for (const text of subtitles.slice(0, left.cues)) {
      cues.push({ startSeconds: Math.max(start, 0), endSeconds: end, text })
    }
    left.cues -= Math.min(subtitles.length, left.cues)
  }
  return cues
}

interface TimedText {
  offset: number
  sizeBytes: number
  start: number
  end: number
}

/** Samples that may have text and are shown within the session, in order. */
function timedSamples(run: SampleRun, shiftSeconds: number): TimedText[] {
  const samples: TimedText[] = []
  let ticks = run.firstDecodeTicks
  run.sizes.forEach((sizeBytes, at) => {
    const start = ticks / run.timescale + shiftSeconds
    ticks += run.durations[at] ?? 0
    const end = ticks / run.timescale + shiftSeconds
    // Two bytes are the length of no text at all: what stands between cues.
    if (sizeBytes <= 2 || sizeBytes > MAX_TEXT_SAMPLE_BYTES || end <= Math.max(start, 0)) return
    samples.push({ offset: run.offsets?.[at] ?? 0, sizeBytes, start, end })
  })
  return samples
}
