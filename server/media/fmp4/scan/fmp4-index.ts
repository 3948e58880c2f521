// Indexes a fragmented MP4, from its start or from the index of a shorter file.
import { AppError, UnplayableError } from '../../../base/errors.ts'
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import type { Growth, MediaIndex } from '../../media-index.ts'
import type { FileWindow } from '../../mp4/boxes/file-window.ts'
import type { Movie } from '../../mp4/index/movie.ts'
import type { Limitation } from '../../../base/problem.ts'
import { assembleIndex, restoreState } from './assemble-index.ts'
import type { Fmp4Source } from '../fmp4-source.ts'
import { type DescribedInit, describeInit, trackKeys } from '../fragments/fragment-init.ts'
import { FragmentGrouper } from './fragment-grouper.ts'
import { retainLimitations } from './fragment-limitations.ts'
import { findMoovSamples } from '../fragments/moov-samples.ts'
import { hashMovie, scanFragments } from './scan.ts'
import { createProgress, createScanState, leadTrack } from './scan-state.ts'

/** Indexes a fragmented movie from its start. Throws `unplayable` with the reason. */
export async function indexFragments(window: FileWindow, movie: Movie): Promise<MediaIndex> {
  const described = await describeInit(window, movie)
  const index = await indexTracks(window, movie, described)
  if (index !== undefined) return index
  // If the declared video has no samples, the recording is served as audio. Nothing is stable,
  // because the video may still follow.
  const audio = await indexTracks(window, movie, audioOnly(described))
  if (audio?.growth === undefined) {
    throw new UnplayableError({ code: 'frames-missing' })
  }
  const limitations: Limitation[] = [NO_VIDEO, ...(audio.limitations ?? [])]
  return { ...audio, growth: NOTHING_STABLE, limitations }
}

const NO_VIDEO: Limitation = {
  code: 'video-not-served',
  cause: { code: 'track-empty' },
}
const NOTHING_STABLE: Growth = { stableSplitPoints: 0, stableRange: { offset: 0, length: 0 } }

function audioOnly({ init, tracks, limitations }: DescribedInit): DescribedInit {
  const isAudio = (_: unknown, at: number) => tracks[at]?.kind === 'audio'
  return {
    init: { tracks: init.tracks.filter(isAudio) },
    tracks: tracks.filter(isAudio),
    limitations,
  }
}

/** Resumes from the index of the same recording when it was shorter. */
export async function growIndex(
  file: OpenFile,
  { previous, source }: { previous: MediaIndex; source: Fmp4Source },
  signal: AbortSignal,
): Promise<MediaIndex> {
  const { resume } = source
  const state = restoreState(previous, source)
  const init = state.inits[resume.init]
  if (init === undefined) throw new AppError('failed', 'the index is corrupt')
  const movie = { init, number: resume.init, hash: resume.movieHash }
  const grouper = new FragmentGrouper(movie, resume)
  const start = { state, grouper, position: resume.position }
  const scanned = await scanFragments(file, start, signal)
  const earlierLimitations = retainLimitations(previous.limitations, resume.position)
  return assembleIndex(file.stat.sizeBytes, { ...start, ...scanned, earlierLimitations })
}

async function indexTracks(
  { file, signal }: FileWindow,
  movie: Movie,
  described: DescribedInit,
): Promise<MediaIndex | undefined> {
  const { init, tracks } = described
  if (init.tracks.every((track) => track === undefined)) return undefined
  const moovSamples = await findMoovSamples(file, { movie, init }, signal)
  const state = createScanState({ ...described, keys: trackKeys(described) }, moovSamples)
  const inForce = { init, number: 0, hash: await hashMovie(file, movie.box) }
  const progress = createProgress(tracks.length)
  const grouper = new FragmentGrouper(inForce, { progress, lacksDecodeTimes: false })
  const position = moovSamples === undefined ? movie.box.end : movie.box.start
  const start = { state, grouper, position }
  const scanned = await scanFragments(file, start, signal)
  const end = { ...start, ...scanned, earlierLimitations: described.limitations }
  const index = assembleIndex(file.stat.sizeBytes, end)
  if (index.splitPoints.startTicks.length > 0) return index
  const lead = leadTrack(init)
  if (init.tracks[lead]?.kind !== 'video' || grouper.snapshot().progress[lead]?.isSeen !== true) {
    return undefined
  }
  throw new UnplayableError({ code: 'key-frame-missing' })
}
