// Subtitle tracks of a movie (3GPP timed text, QuickTime text, WebVTT in ISOBMFF): all cues, read
// when the movie is indexed.
import { readExactly } from '../../../storage/recordings/read-exactly.ts'
import { isAppError } from '../../../base/errors.ts'
import type { SubtitleCue, SubtitleTrack } from '../../media-index.ts'
import type { SampleRun } from '../../media-reader.ts'
import type { FileWindow } from '../boxes/file-window.ts'
import type { Movie, MovieTrack } from './movie.ts'
import {
  MAX_CUES,
  MAX_DESCRIPTIONS,
  MAX_SUBTITLE_BYTES,
  MAX_SUBTITLE_SAMPLE_BYTES,
} from '../mp4-limits.ts'
import { surveySamples } from '../sample-tables/sample-map.ts'
import { readSampleRun } from '../sample-tables/read-sample-run.ts'
import { type SampleFormat, parseSubtitleSample, sampleFormat } from './subtitle-sample.ts'
import { createClock } from './align-tracks.ts'
import { unsplitTrack } from '../sample-tables/unsplit-track.ts'

/**
 * Reads each subtitle track that has cues. Corrupt ones are omitted: the recording plays without
 * them.
 */
export async function readSubtitleTracks(
  window: FileWindow,
  movie: Movie,
  startSeconds: number,
): Promise<SubtitleTrack[]> {
  const subtitles: SubtitleTrack[] = []
  const budget: Budget = { cues: MAX_CUES, bytes: MAX_SUBTITLE_BYTES }
  for (const track of movie.tracks) {
    if (track.kind !== 'subtitle' || track.tables.sampleCount === 0) continue
    const cues = await readCues(window, { movie, track, startSeconds, budget })
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

/** How much more subtitle data of this file may be read. */
interface Budget {
  cues: number
  bytes: number
}

interface SubtitlePlan {
  movie: Movie
  track: MovieTrack
  /** Session start on the movie timeline. */
  startSeconds: number
  budget: Budget
}

async function readCues(window: FileWindow, plan: SubtitlePlan): Promise<SubtitleCue[]> {
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
): Promise<SampleFormat | undefined> {
  const box = { ...descriptions, contentStart: descriptions.contentStart + 8 }
  const [entry] = await window.children(box)
  return entry && sampleFormat(entry.type)
}

async function readSamples(
  window: FileWindow,
  { movie, track, startSeconds, budget }: SubtitlePlan,
  format: SampleFormat,
): Promise<SubtitleCue[]> {
  const cues: SubtitleCue[] = []
  for (const sample of await locateTextSamples(window, { movie, track, startSeconds })) {
    const { offset, sizeBytes, start, end } = sample
    if (sizeBytes > budget.bytes || budget.cues === 0) break
    window.signal.throwIfAborted()
    budget.bytes -= sizeBytes
    const subtitles = parseSubtitleSample(format, await readExactly(window.file, offset, sizeBytes))
    for (const text of subtitles.slice(0, budget.cues)) {
      cues.push({ startSeconds: Math.max(start, 0), endSeconds: end, text })
    }
    budget.cues -= Math.min(subtitles.length, budget.cues)
  }
  return cues
}

/** The samples of a text track that may have text, in order. Throws `unplayable`, `failed`. */
export async function locateTextSamples(
  { file, signal }: FileWindow,
  { movie, track, startSeconds }: Omit<SubtitlePlan, 'budget'>,
): Promise<TimedSample[]> {
  const survey = await surveySamples(file, track.tables, {
    descriptionCount: MAX_DESCRIPTIONS,
    timescale: track.timescale,
    stopsAtChange: 'continue',
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
  const unsplit = unsplitTrack(
    { ...survey.map, sampleCount },
    { kind: 'video', timescale: track.timescale },
  )
  const run = await readSampleRun(file, unsplit, { from: 0, to: 1 })
  return run === undefined
    ? []
    : timedSamples(run, clock.editTicks / clock.timescale - startSeconds)
}

/** Where a sample is in the file, and when it is shown, in seconds. */
export interface TimedSample {
  offset: number
  sizeBytes: number
  start: number
  end: number
}

/** Samples that may have text and are visible within the session, in order. */
function timedSamples(run: SampleRun, shiftSeconds: number): TimedSample[] {
  const samples: TimedSample[] = []
  let ticks = run.firstDecodeTicks
  run.sizes.forEach((sizeBytes, at) => {
    const start = ticks / run.timescale + shiftSeconds
    ticks += run.durations[at] ?? 0
    const end = ticks / run.timescale + shiftSeconds
    // A two-byte sample is an empty text, which clears the previous cue.
    if (sizeBytes <= 2 || sizeBytes > MAX_SUBTITLE_SAMPLE_BYTES || end <= Math.max(start, 0)) return
    samples.push({ offset: run.offsets?.[at] ?? 0, sizeBytes, start, end })
  })
  return samples
}
