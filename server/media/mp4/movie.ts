// The movie box (ISO/IEC 14496-12 8.2): found among the top-level boxes without reading media, and read down to its tracks.
import { AppError } from '../../errors.ts'
import { type Box, brokenBox } from './box.ts'
import { type Edit, MAX_EDIT_LIST_BYTES, parseEditList } from './edit-list.ts'
import type { FileWindow } from './file-window.ts'
import { MAX_MOOV_BYTES, MAX_TRACKS } from './mp4-limits.ts'
import { type SampleTables, locateSampleTables } from './sample-tables.ts'

/** A movie: its clock, and its tracks of pictures and sound that have samples. */
export interface Movie {
  timescale: number
  isFragmented: boolean
  tracks: MovieTrack[]
}

/** One track as the file describes it. */
export interface MovieTrack {
  kind: 'video' | 'audio'
  isEnabled: boolean
  /** tkhd matrix (6.2.2), nine values. */
  matrix: Int32Array
  /** Presentation size in pixels. */
  width: number
  height: number
  timescale: number
  edits: Edit[]
  tables: SampleTables
  /** The stsd box, not read yet. */
  descriptions: Box
}

/** What the first box of an MP4 or MOV file may be. */
const FIRST_BOXES = new Set(
  'ftyp styp moov mdat free skip wide pnot uuid udta pdin meta moof sidx'.split(' '),
)

/** Reads the movie's structure. Throws `unplayable` where the file is no MP4, or its moov is missing or broken. */
export async function readMovie(window: FileWindow): Promise<Movie> {
  const moov = await findMovieBox(window)
  const boxes = await window.children(moov)
  if (boxes.some((box) => box.type === 'cmov')) {
    throw new AppError('unplayable', 'the index (moov box) is compressed, which is not supported')
  }
  const header = boxes.find((box) => box.type === 'mvhd')
  if (header === undefined) throw brokenBox(moov.type, moov.start, "has no 'mvhd' box")
  const { timescale } = await readClock(window, header)
  const trackBoxes = boxes.filter((box) => box.type === 'trak')
  if (trackBoxes.length > MAX_TRACKS) throw brokenBox('moov', moov.start, 'has too many tracks')
  const tracks: MovieTrack[] = []
  for (const box of trackBoxes) {
    const track = await readTrack(window, box)
    if (track !== undefined) tracks.push(track)
  }
  return { timescale, isFragmented: boxes.some((box) => box.type === 'mvex'), tracks }
}

async function findMovieBox(window: FileWindow): Promise<Box> {
  for (let start = 0; ;) {
    const box = await window.boxAt(start, window.sizeBytes)
    if (start === 0 && (box === undefined || !FIRST_BOXES.has(box.type))) {
      throw new AppError('unplayable', 'the file is not an MP4')
    }
    if (box?.type === 'moof') throw fragmented()
    const isWholeMovie = box?.type === 'moov' && box.end <= window.sizeBytes
    if (isWholeMovie && box.end - box.start > MAX_MOOV_BYTES) {
      throw brokenBox(box.type, box.start, 'is too large')
    }
    if (isWholeMovie) return box
    if (box === undefined || box.end >= window.sizeBytes) {
      throw new AppError('unplayable', 'the recording ends before its index (moov box) was written')
    }
    start = box.end
  }
}

/** The failure for a movie whose samples lie in fragments. */
export function fragmented(): AppError {
  return new AppError('unplayable', 'fragmented MP4 is not supported yet')
}

/** Pictures and sound only; undefined for other tracks (text, time code) and for tracks without samples. */
async function readTrack(window: FileWindow, trak: Box): Promise<MovieTrack | undefined> {
  const inTrak = await boxesByType(window, trak)
  const mdia = inTrak('mdia')
  const inMedia = await boxesByType(window, mdia)
  const kind = await readKind(window, inMedia('hdlr'))
  if (kind === undefined) return undefined
  const inInfo = await boxesByType(window, inMedia('minf'))
  const stbl = inInfo('stbl')
  const inTables = await window.children(stbl)
  const descriptions = inTables.find((box) => box.type === 'stsd')
  if (descriptions === undefined) throw brokenBox(stbl.type, stbl.start, "has no 'stsd' box")
  const tables = await locateSampleTables(window, stbl, inTables)
  const { timescale } = await readClock(window, inMedia('mdhd'))
  const edits = await readEdits(window, trak)
  const header = await readTrackHeader(window, inTrak('tkhd'))
  return { kind, ...header, timescale, edits, tables, descriptions }
}

async function boxesByType(window: FileWindow, parent: Box): Promise<(type: string) => Box> {
  const boxes = await window.children(parent)
  return (type) => {
    const box = boxes.find((each) => each.type === type)
    if (box === undefined) throw brokenBox(parent.type, parent.start, `has no '${type}' box`)
    return box
  }
}

/** Handler (8.4.3). */
async function readKind(window: FileWindow, hdlr: Box): Promise<MovieTrack['kind'] | undefined> {
  const bytes = await content(window, hdlr, 12)
  const handler = bytes.getUint32(8)
  if (handler === 0x76_69_64_65) return 'video'
  return handler === 0x73_6f_75_6e ? 'audio' : undefined
}

/** Timescale of mvhd (8.2.2) and mdhd (8.4.2), which begin alike. Durations are not believed: samples tell. */
async function readClock(window: FileWindow, box: Box): Promise<{ timescale: number }> {
  const version = (await content(window, box, 4)).getUint8(0)
  const bytes = await content(window, box, version === 1 ? 32 : 20)
  const timescale = bytes.getUint32(version === 1 ? 20 : 12)
  if (timescale === 0) throw brokenBox(box.type, box.start, 'has a timescale of 0')
  return { timescale }
}

/** tkhd (8.3.2). */
async function readTrackHeader(
  window: FileWindow,
  box: Box,
): Promise<Pick<MovieTrack, 'isEnabled' | 'matrix' | 'width' | 'height'>> {
  const version = (await content(window, box, 4)).getUint8(0)
  const matrixStart = version === 1 ? 52 : 40
  const bytes = await content(window, box, matrixStart + 44)
  const isEnabled = (bytes.getUint8(3) & 1) === 1
  const matrix = Int32Array.from({ length: 9 }, (_, at) => bytes.getInt32(matrixStart + at * 4))
  const fixed = (at: number) => bytes.getUint32(at) / 0x1_00_00
  return {
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
  return parseEditList(await content(window, elst, length), elst)
}

async function content(window: FileWindow, box: Box, length: number): Promise<DataView> {
  if (box.end - box.contentStart < length) throw brokenBox(box.type, box.start, 'is too small')
  return window.view(box.contentStart, length)
}
