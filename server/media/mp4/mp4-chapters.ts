// Chapters of MP4 and MOV: a track with their titles (ISO/IEC 14496-12 8.3.3, QuickTime File
// Format), else the `chpl` box of Nero.
import { UnplayableError } from '../../base/errors.ts'
import { readExactly } from '../../storage/recordings/read-exactly.ts'
import type { OpenFile } from '../../storage/recordings/storage.ts'
import { MAX_CHAPTER_TITLE_BYTES, MAX_RECORDED_CHAPTERS } from '../media-reader.ts'
import type { RecordedChapter } from '../media-reader.ts'
import type { Box } from './boxes/box.ts'
import { FileWindow } from './boxes/file-window.ts'
import { findMovieBox, readMovieAt } from './index/movie.ts'
import type { Movie, MovieTrack } from './index/movie.ts'
import { plainText } from './index/subtitle-sample.ts'
import { locateTextSamples } from './index/subtitle-tracks.ts'

/** Samples of one track: a longer one has no chapters. */
const MAX_TRACK_SAMPLES = 10_000
/** `chpl` has at most 255 entries of at most 264 bytes. */
const MAX_CHPL_BYTES = 9 + 255 * 264
/** Ticks of `chpl` per second. */
const CHPL_TIMESCALE = 10_000_000

/** As `MediaReader.readChapters`. */
export async function readChapters(
  file: OpenFile,
  signal: AbortSignal,
): Promise<RecordedChapter[]> {
  const window = new FileWindow(file, signal)
  const box = await findMovieBox(window)
  const titled = await readTracks(window, box)
  return titled.length > 0 ? titled : readChpl(window, box)
}

/** Of a movie without valid tracks, `chpl` may still be valid. */
async function readTracks(window: FileWindow, box: Box): Promise<RecordedChapter[]> {
  try {
    const movie = await readMovieAt(window, box)
    for (const track of movie.chapters) {
      const chapters = await readTrack(window, movie, track)
      if (chapters.length > 0) return chapters
    }
  } catch (error) {
    if (!(error instanceof UnplayableError)) throw error
  }
  return []
}

async function readTrack(
  window: FileWindow,
  movie: Movie,
  track: MovieTrack,
): Promise<RecordedChapter[]> {
  const { sampleCount } = track.tables
  if (sampleCount === 0 || sampleCount > MAX_TRACK_SAMPLES) return []
  const samples = await locateTextSamples(window, { movie, track, startSeconds: 0 })
  const chapters: RecordedChapter[] = []
  for (const { offset, sizeBytes, start, end } of samples.slice(0, MAX_RECORDED_CHAPTERS)) {
    window.signal.throwIfAborted()
    const length = Math.min(sizeBytes, MAX_CHAPTER_TITLE_BYTES)
    const title = plainText(await readExactly(window.file, offset, length))
    chapters.push({ startSeconds: Math.max(start, 0), endSeconds: end, title })
  }
  return chapters
}

async function readChpl(window: FileWindow, moov: Box): Promise<RecordedChapter[]> {
  for (const udta of await window.children(moov)) {
    const inside = udta.type === 'udta' ? await window.children(udta) : []
    const chpl = inside.find(({ type }) => type === 'chpl')
    if (chpl === undefined) continue
    const length = Math.min(chpl.end - chpl.contentStart, MAX_CHPL_BYTES)
    return parseChpl(await window.content(chpl, length))
  }
  return []
}

/** Version and flags, four reserved bytes from version 1 on, a count, and the entries. */
function parseChpl(bytes: DataView): RecordedChapter[] {
  const chapters: RecordedChapter[] = []
  let at = bytes.byteLength > 0 && bytes.getUint8(0) > 0 ? 9 : 5
  if (bytes.byteLength < at) return []
  for (let left = bytes.getUint8(at - 1); left > 0 && at + 9 <= bytes.byteLength; left -= 1) {
    const length = bytes.getUint8(at + 8)
    if (at + 9 + length > bytes.byteLength) break
    const title = new Uint8Array(bytes.buffer, bytes.byteOffset + at + 9, length)
    chapters.push({
      startSeconds: Number(bytes.getBigUint64(at)) / CHPL_TIMESCALE,
      title: new TextDecoder().decode(title),
    })
    at += 9 + length
  }
  return chapters
}
