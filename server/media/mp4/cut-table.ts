// Puts the cuts of pictures and of sound together into the index's one table.
import type { CutTable } from '../media-index.ts'
import type { AudioCuts } from './audio-cuts.ts'
import type { CursorTable, SampleMap } from './mp4-source.ts'
import type { TrackClock, TrackShift } from './timeline.ts'
import type { VideoCuts } from './video-cuts.ts'

interface ShiftedCuts<Cuts> {
  clock: TrackClock
  shift: TrackShift
  cuts: Cuts
}

/** The tracks that are there: at least one. */
export interface CutSources {
  video?: ShiftedCuts<VideoCuts>
  audio?: ShiftedCuts<AudioCuts>
}

/** Cuts in the pictures' timescale, or the sound's where there are none. The first is at 0, wherever its first picture is. */
export function makeCutTable({ video, audio }: CutSources): CutTable {
  const timescale = (video ?? audio)?.clock.timescale ?? 1
  const toTicks = (ticks: number, { clock, shift }: ShiftedCuts<unknown>) => {
    const served = ticks * clock.tickScale + shift.presentationShiftTicks
    return clock.timescale === timescale
      ? served
      : Math.round((served / clock.timescale) * timescale)
  }
  const pictures = video?.cuts.presentationTicks.slice(1).map((ticks) => toTicks(ticks, video))
  const sounds = audio?.cuts.ownTicks.map((ticks) => toTicks(ticks, audio))
  const startTicks = Float64Array.from([0, ...(pictures ?? []), ...(sounds ?? [])])
  keepGrowing(startTicks)
  const flags = new Uint8Array(startTicks.length)
  flags.set(video?.cuts.flags ?? [])
  const ends = [
    video ? toTicks(video.cuts.extent.latestEndTicks, video) : 0,
    audio ? toTicks(audio.cuts.extent.latestEndTicks, audio) : 0,
    (startTicks.at(-1) ?? 0) + 1,
  ]
  return { timescale, startTicks, endTicks: Math.max(...ends), flags }
}

/** Samples without duration can leave two cuts at one time; a tick apart is the least a table may hold. */
function keepGrowing(ticks: Float64Array): void {
  for (let cut = 1; cut < ticks.length; cut += 1) {
    ticks[cut] = Math.max(ticks[cut] ?? 0, (ticks[cut - 1] ?? 0) + 1)
  }
}

/** Cursors with `count` more cuts behind the track's last sample. */
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
