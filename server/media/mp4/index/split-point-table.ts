// Merges the split points of video and audio into the table of the index.
import type { SplitPointTable } from '../../media-index.ts'
import type { AudioSplitPoints } from './audio-split-points.ts'
import type { CursorTable, SampleMap } from '../mp4-source.ts'
import type { TrackClock, TrackShift } from './align-tracks.ts'
import type { VideoSplitPoints } from './video-split-points.ts'

interface ShiftedSplitPoints<SplitPoints> {
  clock: TrackClock
  shift: TrackShift
  splitPoints: SplitPoints
}

/** At least one of them is present. */
export interface SplitPointSources {
  video?: ShiftedSplitPoints<VideoSplitPoints>
  audio?: ShiftedSplitPoints<AudioSplitPoints>
}

/**
 * Split points in the timescale of the video, or of the audio without video. The first is at 0,
 * whatever the time of its first frame.
 */
export function makeSplitPointTable({ video, audio }: SplitPointSources): SplitPointTable {
  const timescale = (video ?? audio)?.clock.timescale ?? 1
  const toTicks = (ticks: number, { clock, shift }: ShiftedSplitPoints<unknown>) => {
    const served = ticks * clock.tickScale + shift.presentationShiftTicks
    return clock.timescale === timescale
      ? served
      : Math.round((served / clock.timescale) * timescale)
  }
  const frames = video?.splitPoints.presentationTicks.slice(1).map((ticks) => toTicks(ticks, video))
  const audioTracks = audio?.splitPoints.audioOnlyTicks.map((ticks) => toTicks(ticks, audio))
  const startTicks = Float64Array.from([0, ...(frames ?? []), ...(audioTracks ?? [])])
  makeIncreasing(startTicks)
  const flags = new Uint8Array(startTicks.length)
  flags.set(video?.splitPoints.flags ?? [])
  const ends = [
    video ? toTicks(video.splitPoints.extent.latestEndTicks, video) : 0,
    audio ? toTicks(audio.splitPoints.extent.latestEndTicks, audio) : 0,
    (startTicks.at(-1) ?? 0) + 1,
  ]
  return { timescale, startTicks, endTicks: Math.max(...ends), flags }
}

/**
 * Samples of duration 0 can give two split points the same time; the table requires at least one
 * tick between them.
 */
function makeIncreasing(ticks: Float64Array): void {
  for (let splitPoint = 1; splitPoint < ticks.length; splitPoint += 1) {
    ticks[splitPoint] = Math.max(ticks[splitPoint] ?? 0, (ticks[splitPoint - 1] ?? 0) + 1)
  }
}

/** Appends cursors for `count` split points after the track's last sample. */
export function padCursors(
  cursors: CursorTable,
  count: number,
  { tables, sampleCount }: SampleMap,
): CursorTable {
  const pad = (values: Uint32Array, value: number) => {
    const padded = new Uint32Array(values.length + count).fill(value)
    padded.set(values)
    return padded
  }
  const decodeTicks = new Float64Array(cursors.samples.length + count)
  decodeTicks.set(cursors.decodeTicks)
  return {
    samples: pad(cursors.samples, sampleCount),
    decodeTicks,
    durationRuns: pad(cursors.durationRuns, tables.durations.count),
    durationUsed: pad(cursors.durationUsed, 0),
    ...(cursors.offsetRuns && {
      offsetRuns: pad(cursors.offsetRuns, tables.compositionOffsets?.count ?? 0),
    }),
    ...(cursors.offsetUsed && { offsetUsed: pad(cursors.offsetUsed, 0) }),
    ...(cursors.syncs && { syncs: pad(cursors.syncs, tables.syncs?.count ?? 0) }),
  }
}
