// Samples that the moov box lists before the fragments, as some recorders write their first
// seconds. They are handled like one more fragment.
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import type { Movie } from '../../mp4/index/movie.ts'
import type { Mp4Track } from '../../mp4/mp4-source.ts'
import { surveySamples } from '../../mp4/sample-tables/sample-map.ts'
import { readSampleRun } from '../../mp4/sample-tables/read-sample-run.ts'
import { unsplitTrack } from '../../mp4/sample-tables/unsplit-track.ts'
import { MAX_FRAGMENT_SAMPLES } from '../fmp4-limits.ts'
import type { MoovSamples, Fmp4Init, Fmp4Track } from '../fmp4-source.ts'
import { checkLimit } from '../../../base/errors.ts'
import type { Fragment, TrackSamples } from './fragment.ts'

/** Locates the samples of the moov box; undefined if there are none. */
export async function findMoovSamples(
  file: OpenFile,
  { movie, init }: { movie: Movie; init: Fmp4Init },
  signal: AbortSignal,
): Promise<MoovSamples | undefined> {
  const tracks: (Mp4Track | undefined)[] = []
  for (const track of init.tracks) {
    tracks.push(track && (await surveyTrackSamples(file, { movie, track }, signal)))
  }
  if (tracks.every((track) => track === undefined)) return undefined
  const isTruncated = init.tracks.some((track, at) => {
    const listed = movie.tracks.find(({ id }) => id === track?.id)?.tables.sampleCount ?? 0
    return listed > (tracks[at]?.samples.sampleCount ?? 0)
  })
  return { start: movie.box.start, end: movie.box.end, isTruncated, tracks }
}

async function surveyTrackSamples(
  file: OpenFile,
  { movie, track }: { movie: Movie; track: Fmp4Track },
  signal: AbortSignal,
): Promise<Mp4Track | undefined> {
  const tables = movie.tracks.find(({ id }) => id === track.id)?.tables
  if (tables === undefined || tables.sampleCount === 0) return undefined
  const plan = {
    descriptionCount: track.descriptions.length,
    stopsAtChange: 'stop',
    timescale: track.fileTimescale,
    signal,
  } as const
  const { map } = await surveySamples(file, tables, plan)
  if (map.sampleCount === 0) return undefined
  checkLimit('moov-samples-before-fragments', MAX_FRAGMENT_SAMPLES, map.sampleCount)
  return unsplitTrack(map, { kind: track.kind, timescale: track.fileTimescale })
}

/** Reads the samples as a fragment at the position of the moov box. */
export async function readMoovSamples(
  file: OpenFile,
  moovSamples: MoovSamples,
  { tracks }: Fmp4Init,
): Promise<Fragment> {
  const runs: TrackSamples[] = []
  for (const [at, track] of moovSamples.tracks.entries()) {
    const trackId = tracks[at]?.id
    const run = track && (await readSampleRun(file, track, { from: 0, to: 1 }))
    if (run === undefined || trackId === undefined) continue
    const count = run.sizes.length
    runs.push({
      trackId,
      description: 1,
      decodeTicks: run.firstDecodeTicks,
      sizes: run.sizes,
      offsets: run.offsets ?? new Float64Array(count),
      durations: run.durations,
      compositionOffsets: run.compositionOffsets ?? new Int32Array(count),
      keys: run.syncs ?? new Uint8Array(count).fill(1),
    })
  }
  return {
    start: moovSamples.start,
    end: moovSamples.end,
    runs,
    isTruncated: moovSamples.isTruncated,
  }
}
