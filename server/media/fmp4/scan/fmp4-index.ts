// Makes the index of an MP4 whose samples lie in fragments, or goes on with the one of a shorter file.
import { AppError } from '../../../errors.ts'
import type { OpenFile } from '../../../storage/storage.ts'
import type { Growth, MediaIndex, RecordingLimitation } from '../../media-index.ts'
import type { FileWindow } from '../../mp4/boxes/file-window.ts'
import type { Movie } from '../../mp4/index/movie.ts'
import { assembleIndex, restoreState } from './assemble-index.ts'
import type { Fmp4Source } from '../fmp4-source.ts'
import { type DescribedInit, describeInit, trackKeys } from '../fragments/fragment-init.ts'
import { Gatherer } from './group.ts'
import { keepLimitations } from './fragment-limitations.ts'
import { findHead } from '../fragments/moov-samples.ts'
import { hashMovie, scanFragments } from './scan.ts'
import { createProgress, createScanState, leadTrack } from './scan-state.ts'

/** Indexes a fragmented movie from its beginning. Throws `unplayable` with the reason for a person. */
export async function indexFragments(window: FileWindow, movie: Movie): Promise<MediaIndex> {
  const described = await describeInit(window, movie)
  const index = await indexTracks(window, movie, described)
  if (index !== undefined) return index
  // Pictures may be announced and never come: what there is is served, as a recording of sound. They may still come, so nothing is promised.
  const audio = await indexTracks(window, movie, audioOnly(described))
  if (audio?.growth === undefined) {
    throw new AppError('unplayable', 'the recording ends before its first picture')
  }
  const limitations: RecordingLimitation[] = [NO_VIDEO, ...(audio.limitations ?? [])]
  return { ...audio, growth: NOTHING_STABLE, limitations }
}

const NO_VIDEO: RecordingLimitation = {
  kind: 'pictures-left-out',
  message: 'the pictures that the index (moov) announces do not come',
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

/** Goes on where the index of the same, shorter recording ended. */
export async function growIndex(
  file: OpenFile,
  { previous, source }: { previous: MediaIndex; source: Fmp4Source },
  signal: AbortSignal,
): Promise<MediaIndex> {
  const { resume } = source
  const state = restoreState(previous, source)
  const init = state.inits[resume.init]
  if (init === undefined) throw new AppError('failed', 'the index is damaged')
  const movie = { init, number: resume.init, hash: resume.movieHash }
  const gatherer = new Gatherer(movie, resume)
  const start = { state, gatherer, position: resume.position }
  const scanned = await scanFragments(file, start, signal)
  const kept = keepLimitations(previous.limitations, resume.position)
  return assembleIndex(file.stat.sizeBytes, { ...start, ...scanned, kept })
}

async function indexTracks(
  { file, signal }: FileWindow,
  movie: Movie,
  described: DescribedInit,
): Promise<MediaIndex | undefined> {
  const { init, tracks } = described
  if (init.tracks.every((track) => track === undefined)) return undefined
  const head = await findHead(file, { movie, init }, signal)
  const state = createScanState({ ...described, keys: trackKeys(described) }, head)
  const inForce = { init, number: 0, hash: await hashMovie(file, movie.box) }
  const progress = createProgress(tracks.length)
  const gatherer = new Gatherer(inForce, { progress, lacksTimes: false })
  const position = head === undefined ? movie.box.end : movie.box.start
  const start = { state, gatherer, position }
  const scanned = await scanFragments(file, start, signal)
  const end = { ...start, ...scanned, kept: described.limitations }
  const index = assembleIndex(file.stat.sizeBytes, end)
  if (index.splitPoints.startTicks.length > 0) return index
  const lead = leadTrack(init)
  if (init.tracks[lead]?.kind !== 'video' || gatherer.lookup().progress[lead]?.isSeen !== true) {
    return undefined
  }
  throw new AppError('unplayable', 'the video has no key frame')
}
