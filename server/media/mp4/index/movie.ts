// The movie box (ISO/IEC 14496-12 8.2): located among the top-level boxes, and read down to its
// tracks.
import { type Box, boxType, invalidBox, missingBox } from '../boxes/box.ts'
import { type Edit, MAX_EDIT_LIST_BYTES, parseEditList } from '../boxes/edit-list.ts'
import type { FileWindow } from '../boxes/file-window.ts'
import { type FragmentDefaults, readFragmentDefaults } from '../boxes/fragment-defaults.ts'
import { MAX_MOOV_BYTES, MAX_TRACKS } from '../mp4-limits.ts'
import { type SampleTables, locateSampleTables } from '../sample-tables/sample-tables.ts'
import { readTrackLabels } from '../boxes/track-labels.ts'
import { UnplayableError } from '../../../base/errors.ts'
import type { Limitation, UnplayableReason } from '../../../base/problem.ts'

/** A movie: its timescale, and its video, audio and subtitle tracks. */
export interface Movie {
  timescale: number
  /** The moov box. */
  box: Box
  /** Defaults for fragments (trex, 8.8.3), by track; absent if the movie has no mvex box. */
  fragmentDefaults?: Map<number, FragmentDefaults>
  tracks: MovieTrack[]
  /** Tracks with the chapter titles of other tracks. */
  chapters: MovieTrack[]
  /** Corrupt tracks. */
  limitations: Limitation[]
}

/** One track as described in the file. */
export interface MovieTrack {
  kind: 'video' | 'audio' | 'subtitle'
  id: number
  isEnabled: boolean
  /** ISO 639-2 or BCP 47, if present. */
  language?: string
  /** Title (`name` in the track's user data). */
  name?: string
  /** tkhd matrix (6.2.2), nine values. */
  matrix: Int32Array
  width: number
  height: number
  timescale: number
  /** Duration of mdhd in ticks; undefined if unknown. Only contradicts corrupt tables. */
  mediaTicks: number | undefined
  edits: Edit[]
  tables: SampleTables
  /** The stsd box, not parsed yet. */
  descriptions: Box
}

/** Box types at the start of an MP4 or MOV file. */
const FIRST_BOXES = new Set(
  'ftyp styp moov mdat free skip wide pnot uuid udta pdin meta moof sidx'.split(' '),
)

/**
 * Reads the structure of a movie. Throws `unplayable` if the file is not MP4, or its moov is
 * missing or corrupt.
 */
export async function readMovie(window: FileWindow): Promise<Movie> {
  return readMovieAt(window, await findMovieBox(window))
}

/** Reads the structure of a moov box that is completely in the file. */
export async function readMovieAt(window: FileWindow, moov: Box): Promise<Movie> {
  const boxes = await window.children(moov)
  if (boxes.some((box) => box.type === 'cmov')) {
    throw new UnplayableError({ code: 'moov-compressed' })
  }
  const header = boxes.find((box) => box.type === 'mvhd')
  if (header === undefined) throw missingBox('mvhd', moov)
  const { timescale } = await readClock(window, header)
  const trackBoxes = boxes.filter((box) => box.type === 'trak')
  if (trackBoxes.length > MAX_TRACKS) throw invalidBox(moov, 'too-many-entries', trackBoxes.length)
  const tracks: MovieTrack[] = []
  const limitations: Limitation[] = []
  for (const box of trackBoxes) {
    const track = await readTrack(window, box, limitations)
    if (track !== undefined) tracks.push(track)
  }
  const chapterIds = await readChapterIds(window, trackBoxes)
  const isChapters = ({ kind, id }: MovieTrack): boolean =>
    kind === 'subtitle' && chapterIds.has(id)
  const mvex = boxes.find((box) => box.type === 'mvex')
  const fragmentDefaults = mvex && (await readFragmentDefaults(window, mvex))
  return {
    timescale,
    box: moov,
    tracks: tracks.filter((track) => !isChapters(track)),
    chapters: tracks.filter(isChapters),
    limitations,
    ...(fragmentDefaults && { fragmentDefaults }),
  }
}

/** Ids of tracks with chapter titles of other tracks (tref, 8.3.3), which are not subtitles. */
async function readChapterIds(
  window: FileWindow,
  trackBoxes: readonly Box[],
): Promise<Set<number>> {
  const ids = new Set<number>()
  for (const trak of trackBoxes) {
    const tref = (await window.children(trak)).find((box) => box.type === 'tref')
    const references = tref === undefined ? [] : await window.children(tref)
    const chapters = references.find((box) => box.type === 'chap')
    if (chapters === undefined) continue
    const count = Math.min(Math.floor((chapters.end - chapters.contentStart) / 4), MAX_TRACKS)
    const bytes = await window.content(chapters, count * 4)
    for (let at = 0; at < count; at += 1) ids.add(bytes.getUint32(at * 4))
  }
  return ids
}

/** The first complete moov box. Throws `unplayable` if there is none. */
export async function findMovieBox(window: FileWindow): Promise<Box> {
  for (let start = 0; ;) {
    const box = await window.boxAt(start, window.sizeBytes)
    if (start === 0 && (box === undefined || !FIRST_BOXES.has(box.type))) {
      throw new UnplayableError({ code: 'container-unknown' })
    }
    const isWholeMovie = box?.type === 'moov' && box.end <= window.sizeBytes
    if (isWholeMovie && box.end - box.start > MAX_MOOV_BYTES) {
      throw invalidBox(box, 'too-large')
    }
    if (isWholeMovie) return box
    if (box?.type === 'moof') {
      throw new UnplayableError({ code: 'moov-before-start' })
    }
    if (box === undefined || box.end >= window.sizeBytes) {
      throw new UnplayableError({ code: 'moov-missing', offsetBytes: window.sizeBytes })
    }
    start = box.end
  }
}

/**
 * A video, audio or subtitle track; undefined for other tracks (time code). Corrupt audio and
 * subtitle tracks are omitted and reported.
 */
async function readTrack(
  window: FileWindow,
  trak: Box,
  limitations: Limitation[],
): Promise<MovieTrack | undefined> {
  const trakBox = await boxesByType(window, trak)
  const mdia = trakBox('mdia')
  const mediaBox = await boxesByType(window, mdia)
  const kind = await readKind(window, mediaBox('hdlr'))
  if (kind === undefined) return undefined
  try {
    return await readKnownTrack(window, trak, kind)
  } catch (error) {
    if (kind === 'video' || !(error instanceof UnplayableError)) throw error
    limitations.push(notServed(kind, error.reason))
    return undefined
  }
}

/** The limitation for a corrupt track; its position is that of the cause. */
export function notServed(
  kind: Exclude<MovieTrack['kind'], 'video'>,
  cause: UnplayableReason,
): Limitation {
  return {
    code: kind === 'audio' ? 'audio-not-served' : 'subtitles-not-served',
    cause,
    ...('offsetBytes' in cause && { offsetBytes: cause.offsetBytes }),
  }
}

async function readKnownTrack(
  window: FileWindow,
  trak: Box,
  kind: MovieTrack['kind'],
): Promise<MovieTrack> {
  const trakBox = await boxesByType(window, trak)
  const mdia = trakBox('mdia')
  const mediaBox = await boxesByType(window, mdia)
  const infoBox = await boxesByType(window, mediaBox('minf'))
  const stbl = infoBox('stbl')
  const inTables = await window.children(stbl)
  const descriptions = inTables.find((box) => box.type === 'stsd')
  if (descriptions === undefined) throw missingBox('stsd', stbl)
  const tables = await locateSampleTables(window, stbl, inTables)
  const { timescale, ticks: mediaTicks } = await readClock(window, mediaBox('mdhd'))
  const edits = await readEdits(window, trak)
  const header = await readTrackHeader(window, trakBox('tkhd'))
  const labels = await readTrackLabels(window, trak, mdia)
  return { kind, ...header, ...labels, timescale, mediaTicks, edits, tables, descriptions }
}

async function boxesByType(window: FileWindow, parent: Box): Promise<(type: string) => Box> {
  const boxes = await window.children(parent)
  return (type) => {
    const box = boxes.find((each) => each.type === type)
    if (box === undefined) throw missingBox(type, parent)
    return box
  }
}

/** Handler (8.4.3). */
async function readKind(window: FileWindow, hdlr: Box): Promise<MovieTrack['kind'] | undefined> {
  const bytes = await window.content(hdlr, 12)
  return KINDS.get(boxType(bytes, 8))
}

const KINDS = new Map<string, MovieTrack['kind']>([
  ['vide', 'video'],
  ['soun', 'audio'],
  ['text', 'subtitle'],
  ['sbtl', 'subtitle'],
  ['subt', 'subtitle'],
])

/**
 * Timescale and duration of mvhd (8.2.2) and mdhd (8.4.2), which have the same first fields.
 * Recorders that were killed leave a duration of 0, or of all ones.
 */
async function readClock(
  window: FileWindow,
  box: Box,
): Promise<{ timescale: number; ticks: number | undefined }> {
  const version = (await window.content(box, 4)).getUint8(0)
  const bytes = await window.content(box, version === 1 ? 32 : 20)
  const timescale = bytes.getUint32(version === 1 ? 20 : 12)
  if (timescale === 0) throw invalidBox(box, 'timescale-zero')
  const ticks = version === 1 ? Number(bytes.getBigUint64(24)) : bytes.getUint32(16)
  const isKnown = ticks > 0 && ticks !== 2 ** 32 - 1 && Number.isSafeInteger(ticks)
  return { timescale, ticks: isKnown ? ticks : undefined }
}

/** tkhd (8.3.2). */
async function readTrackHeader(
  window: FileWindow,
  box: Box,
): Promise<Pick<MovieTrack, 'id' | 'isEnabled' | 'matrix' | 'width' | 'height'>> {
  const version = (await window.content(box, 4)).getUint8(0)
  const matrixStart = version === 1 ? 52 : 40
  const bytes = await window.content(box, matrixStart + 44)
  const isEnabled = (bytes.getUint8(3) & 1) === 1
  const matrix = Int32Array.from({ length: 9 }, (_, at) => bytes.getInt32(matrixStart + at * 4))
  const fixed = (at: number) => bytes.getUint32(at) / 0x1_00_00
  return {
    id: bytes.getUint32(version === 1 ? 20 : 12),
    isEnabled,
    matrix,
    width: fixed(matrixStart + 36),
    height: fixed(matrixStart + 40),
  }
}

async function readEdits(window: FileWindow, trak: Box): Promise<Edit[]> {
  const edts = (await window.children(trak)).find((box) => box.type === 'edts')
  if (edts === undefined) return []
  const elst = (await window.children(edts)).find((box) => box.type === 'elst')
  if (elst === undefined) return []
  const length = Math.min(elst.end - elst.contentStart, MAX_EDIT_LIST_BYTES)
  return parseEditList(await window.content(elst, length), elst)
}
