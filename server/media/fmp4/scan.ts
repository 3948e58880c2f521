// Reads the fragments of a file in order, from the beginning or from where an earlier reading ended.
import { createHash } from 'node:crypto'
import { isAppError } from '../../errors.ts'
import { readExactly } from '../../storage/read-exactly.ts'
import type { OpenFile } from '../../storage/storage.ts'
import type { Box } from '../mp4/box.ts'
import { FileWindow } from '../mp4/file-window.ts'
import { type Movie, readMovieAt } from '../mp4/movie.ts'
import { MAX_COMPOSITION_SECONDS, MAX_INITS } from './fmp4-limits.ts'
import type { Fmp4Init } from './fmp4-source.ts'
import { applyGroup } from './apply-group.ts'
import { describeInit, isSameInit, matchInit } from './fragment-init.ts'
import {
  type Fragment,
  type FragmentContext,
  type TrackDefaults,
  parseFragment,
} from './fragment.ts'
import { FragmentWalk, type SkippedBytes, type WalkedMoof } from './fragment-walk.ts'
import type { EndedGroup, Gatherer } from './group.ts'
import { readHead } from './head-fragment.ts'
import type { ScanState } from './scan-state.ts'

/** Where a scan begins. */
export interface ScanStart {
  state: ScanState
  gatherer: Gatherer
  position: number
}

/** What is left when the end of the file is reached. */
export interface ScannedEnd {
  /** The last group, which more may come to, and is not applied. */
  last: EndedGroup | undefined
  skipped: SkippedBytes[]
}

/** Reads on to the end of the file. */
export async function scanFragments(
  file: OpenFile,
  { state, gatherer, position }: ScanStart,
  signal: AbortSignal,
): Promise<ScannedEnd> {
  const { sizeBytes } = file.stat
  const walk = new FragmentWalk(file, { from: position, to: sizeBytes, signal })
  let defaults = defaultsOf(gatherer.movie.init)
  for (let item = walk.next(); item !== undefined; item = walk.next()) {
    if (item === 'more') await walk.load()
    else if (item.kind === 'moov') {
      await takeMovie(file, { state, gatherer, box: item.box }, signal)
      defaults = defaultsOf(gatherer.movie.init)
    } else {
      const fragment = readFragment(item, { defaults, fileBytes: sizeBytes })
      if (fragment === undefined) {
        walk.skip({ kind: 'fragment', from: item.box.start, to: item.box.end })
      }
      take(state, gatherer, fragment)
    }
  }
  return { last: gatherer.finish(sizeBytes), skipped: walk.skipped }
}

function take(state: ScanState, gatherer: Gatherer, fragment: Fragment | undefined): void {
  const ended = fragment && gatherer.take(fragment)
  if (ended !== undefined) applyGroup(state, ended)
}

/** trex of the tracks that are served: others are passed over. */
export function defaultsOf({ tracks }: Fmp4Init): Map<number, TrackDefaults> {
  const served = tracks.filter((track) => track !== undefined)
  return new Map(
    served.map(({ id, defaults, fileTimescale }) => {
      const mostOffsetTicks = fileTimescale * MAX_COMPOSITION_SECONDS
      return [id, { ...defaults, mostOffsetTicks }]
    }),
  )
}

/** Undefined where the fragment is damaged: it costs what is in it. */
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
 * A movie box: the first one again, one that changes what is in force, or, where it announces no fragments, the index that
 * some recorders put behind everything when they are done.
 */
async function takeMovie(
  file: OpenFile,
  { state, gatherer, box }: { state: ScanState; gatherer: Gatherer; box: Box },
  signal: AbortSignal,
): Promise<void> {
  if (state.head?.start === box.start) {
    const { init, number } = gatherer.movie
    if (number === 0) take(state, gatherer, await readHead(file, state.head, init))
    return
  }
  const hash = await hashMovie(file, box)
  if (hash === gatherer.movie.hash) return
  const window = new FileWindow(file, signal)
  const movie = await readMovieOrNone(window, box)
  if (movie?.fragmentDefaults === undefined) return
  const init = await readInit(window, { movie, state })
  const known = state.inits.findIndex((each) => isSameInit(each, init))
  if (known < 0 && state.inits.length >= MAX_INITS) return
  const number = known < 0 ? state.inits.push(init) - 1 : known
  gatherer.takeMovie({ init, number, hash }, box.start)
}

const HASHED_BYTES = 256 * 1024

/** Tells movie boxes apart; what is behind the first 256 KiB of one is not looked at. */
export async function hashMovie(file: OpenFile, box: Box): Promise<string> {
  const length = Math.min(box.end - box.start, HASHED_BYTES)
  const bytes = await readExactly(file, box.start, length)
  return createHash('sha256').update(bytes).digest('base64url')
}

/** A broken movie box in mid-file changes nothing. */
async function readMovieOrNone(window: FileWindow, box: Box): Promise<Movie | undefined> {
  try {
    return await readMovieAt(window, box)
  } catch (error) {
    if (isAppError(error, 'unplayable')) return undefined
    throw error
  }
}

/** Where nothing of the movie is played, it has no tracks for us: nothing is served until the next. */
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
