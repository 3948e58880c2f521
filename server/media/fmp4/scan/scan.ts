// Scans the fragments of a file, from its start or from where the previous scan ended.
import { createHash } from 'node:crypto'
import { isAppError } from '../../../base/errors.ts'
import { readExactly } from '../../../storage/recordings/read-exactly.ts'
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import type { Box } from '../../mp4/boxes/box.ts'
import { FileWindow } from '../../mp4/boxes/file-window.ts'
import { type Movie, readMovieAt } from '../../mp4/index/movie.ts'
import { MAX_COMPOSITION_SECONDS } from '../../mp4/mp4-limits.ts'
import { MAX_INITS } from '../fmp4-limits.ts'
import type { Fmp4Init } from '../fmp4-source.ts'
import { applyGroup } from './apply-group.ts'
import { describeInit, isSameInit, matchInit } from '../fragments/fragment-init.ts'
import {
  type Fragment,
  type FragmentContext,
  type TrackDefaults,
  parseFragment,
} from '../fragments/fragment.ts'
import { FragmentWalk, type SkippedBytes, type WalkedMoof } from '../fragments/fragment-walk.ts'
import type { EndedGroup, FragmentGrouper } from './fragment-grouper.ts'
import {
  hasSetsInBand,
  MAX_SEARCHED_FRAMES,
  readSampleSets,
} from '../../mp4/sample-entries/sample-sets.ts'
import { readMoovSamples } from '../fragments/moov-samples.ts'
import type { ScanState } from './scan-state.ts'

/** Where a scan starts. */
export interface ScanStart {
  state: ScanState
  grouper: FragmentGrouper
  position: number
}

/** Result at the end of the file. */
export interface ScannedEnd {
  /** The last group, not applied yet because it may grow. */
  last: EndedGroup | undefined
  skipped: SkippedBytes[]
}

/** Scans to the end of the file. */
export async function scanFragments(
  file: OpenFile,
  { state, grouper, position }: ScanStart,
  signal: AbortSignal,
): Promise<ScannedEnd> {
  const { sizeBytes } = file.stat
  const walk = new FragmentWalk(file, { from: position, to: sizeBytes, signal })
  let defaults = trackDefaults(grouper.movie.init)
  for (let item = walk.next(); item !== undefined; item = walk.next()) {
    if (item === 'more') await walk.load()
    else if (item.kind === 'moov') {
      await changeMovie(file, { state, grouper, box: item.box }, signal)
      defaults = trackDefaults(grouper.movie.init)
    } else {
      const fragment = readFragment(item, { defaults, fileBytes: sizeBytes })
      if (fragment === undefined) {
        walk.skip({ kind: 'fragment', from: item.box.start, to: item.box.end })
      }
      await take(file, { state, grouper }, fragment)
    }
  }
  return { last: grouper.finish(sizeBytes), skipped: walk.skipped }
}

async function take(
  file: OpenFile,
  { state, grouper }: Omit<ScanStart, 'position'>,
  fragment: Fragment | undefined,
): Promise<void> {
  if (fragment === undefined) return
  state.searchedFrames += await readSets(file, fragment, {
    init: grouper.movie.init,
    limit: MAX_SEARCHED_FRAMES - state.searchedFrames,
  })
  const ended = grouper.take(fragment)
  if (ended !== undefined) applyGroup(state, ended)
}

/**
 * Reads the parameter sets in key frames, for tracks that may have some there. Returns the number
 * of frames read.
 */
async function readSets(
  file: OpenFile,
  { runs }: Fragment,
  { init, limit }: { init: Fmp4Init; limit: number },
): Promise<number> {
  let count = 0
  for (const run of runs) {
    const track = init.tracks.find((each) => each?.id === run.trackId)
    const decoder = track?.descriptions[run.description - 1]?.decoder
    if (!hasSetsInBand(decoder)) continue
    const sets = new Map<number, Uint8Array[]>()
    for (let at = 0; at < run.sizes.length && count < limit; at += 1) {
      if (run.keys[at] !== 1) continue
      const place = { offset: run.offsets[at] ?? 0, sizeBytes: run.sizes[at] ?? 0 }
      sets.set(at, await readSampleSets(file, decoder, place))
      count += 1
    }
    run.sets = sets
  }
  return count
}

/** trex of the served tracks; fragments ignore the others. */
export function trackDefaults({ tracks }: Fmp4Init): Map<number, TrackDefaults> {
  const served = tracks.filter((track) => track !== undefined)
  return new Map(
    served.map(({ id, defaults, fileTimescale }) => {
      const maxOffsetTicks = fileTimescale * MAX_COMPOSITION_SECONDS
      return [id, { ...defaults, maxOffsetTicks }]
    }),
  )
}

/** Undefined for a corrupt fragment, whose samples are lost. */
export function readFragment(
  { box, bytes, dataEnd }: WalkedMoof,
  context: Omit<FragmentContext, 'dataEnd'>,
): Fragment | undefined {
  try {
    return parseFragment(bytes, box, { ...context, dataEnd })
  } catch (error) {
    if (isAppError(error, 'unplayable')) return undefined
    throw error
  }
}

/**
 * Processes a movie box: a repetition, a change of the current movie, or, if it declares no
 * fragments, the sample table that some recorders append on close.
 */
async function changeMovie(
  file: OpenFile,
  { state, grouper, box }: { state: ScanState; grouper: FragmentGrouper; box: Box },
  signal: AbortSignal,
): Promise<void> {
  if (state.moovSamples?.start === box.start) {
    const { init, number } = grouper.movie
    if (number === 0) {
      await take(file, { state, grouper }, await readMoovSamples(file, state.moovSamples, init))
    }
    return
  }
  const hash = await hashMovie(file, box)
  if (hash === grouper.movie.hash) return
  const window = new FileWindow(file, signal)
  const movie = await readMovieOrNone(window, box)
  if (movie?.fragmentDefaults === undefined) return
  const init = await readInit(window, { movie, state })
  const known = state.inits.findIndex((each) => isSameInit(each, init))
  if (known < 0 && state.inits.length >= MAX_INITS) return
  const number = known < 0 ? state.inits.push(init) - 1 : known
  grouper.changeMovie({ init, number, hash }, box.start)
}

const HASHED_BYTES = 256 * 1024

/** Identifies a movie box by its first 256 KiB. */
export async function hashMovie(file: OpenFile, box: Box): Promise<string> {
  const length = Math.min(box.end - box.start, HASHED_BYTES)
  const bytes = await readExactly(file, box.start, length)
  return createHash('sha256').update(bytes).digest('base64url')
}

/** A corrupt movie box in mid-file is ignored. */
async function readMovieOrNone(window: FileWindow, box: Box): Promise<Movie | undefined> {
  try {
    return await readMovieAt(window, box)
  } catch (error) {
    if (isAppError(error, 'unplayable')) return undefined
    throw error
  }
}

/** An unplayable movie has no tracks: nothing is served until the next one. */
async function readInit(
  window: FileWindow,
  { movie, state }: { movie: Movie; state: ScanState },
): Promise<Fmp4Init> {
  try {
    return matchInit(state.keys, await describeInit(window, movie))
  } catch (error) {
    if (isAppError(error, 'unplayable')) return { tracks: state.keys.map(() => undefined) }
    throw error
  }
}
