// Uses every operation of a reader on a recording, and asserts the invariants of the results.
import assert from 'node:assert/strict'
import { isAppError } from '../../../server/base/errors.ts'
import type { SplitPointRange, MediaIndex } from '../../../server/media/media-index.ts'
import type { MediaReader, SegmentContent } from '../../../server/media/media-reader.ts'
import { createMediaReaders } from '../../../server/media/readers.ts'
import type { OpenFile } from '../../../server/storage/recordings/storage.ts'
import { bytesFile } from '../bytes-file.ts'
import {
  checkContent,
  checkDecodeOrder,
  checkIndex,
  checkInitTracks,
  checkKept,
  goesOn,
} from './check-recording.ts'

/** Segments to read of one recording: first, middle and last ones. */
const SEGMENTS_READ = 6
const KEY_FRAMES_READ = 3
/** Split points of one segment. */
const SPLIT_POINTS_PER_SEGMENT = 4
/** Audio tracks to read alone. */
const AUDIO_TRACKS_READ = 3
/** A shorter part of a recording is not tested as a growing one. */
const MIN_GROWN_BYTES = 8 * 1024

const readers = createMediaReaders()

interface Exercise {
  reader: MediaReader
  file: OpenFile
  index: MediaIndex
}

/**
 * Indexes the bytes as a recording and reads from it; with `grownFrom`, also as a growing one that
 * had only that many bytes at first. `refused`: the reader threw an AppError. Rejects for any other
 * failure, for an index or segment that breaks an invariant, and for a read outside the file.
 */
export async function exerciseRecording(
  bytes: Uint8Array,
  grownFrom?: number,
): Promise<'read' | 'refused'> {
  const file = guarded(bytesFile(bytes))
  const exercise = await unlessRefused(async () => {
    const reader = await readers.forFile(file)
    return { reader, file, index: await reader.index(file, new AbortController().signal) }
  })
  if (grownFrom !== undefined && grownFrom >= MIN_GROWN_BYTES) {
    await exerciseGrowth(bytes.subarray(0, grownFrom), file, exercise?.index)
  }
  if (exercise === undefined) return 'refused'
  checkIndex(exercise.index)
  const splitPoints = exercise.index.splitPoints.startTicks.length
  for (const from of placesOf(splitPoints, SEGMENTS_READ)) await exerciseSegments(exercise, from)
  for (const splitPoint of placesOf(splitPoints, KEY_FRAMES_READ)) {
    await unlessRefused(() => exercise.reader.readKeyFrame(file, exercise.index, splitPoint))
  }
  return 'read'
}

/** Two consecutive segments, and each audio track alone. */
async function exerciseSegments(exercise: Exercise, from: number): Promise<void> {
  const { reader, index } = exercise
  const splitPoints = index.splitPoints.startTicks.length
  const to = Math.min(from + SPLIT_POINTS_PER_SEGMENT, splitPoints)
  const init = reader.initTracks(index, from)
  checkInitTracks(init)
  const first = await readSegment(exercise, { from, to })
  if (first === undefined) return
  const upTo = checkDecodeOrder(index, first, { video: -1, audio: -1 })
  if (to < splitPoints && goesOn(index, from, to)) {
    const second = await readSegment(exercise, { from: to, to: to + 1 })
    if (second !== undefined) checkDecodeOrder(index, second, upTo)
  }
  if (init === undefined) return
  const audioTracks = [...index.tracks.keys()].filter((at) => index.tracks[at]?.kind === 'audio')
  for (const audio of audioTracks.slice(0, AUDIO_TRACKS_READ)) {
    checkInitTracks(reader.initTracks(index, from, [audio]))
    const alone = await readSegment(exercise, { from, to }, [audio])
    const runs = alone?.kind === 'samples' ? alone.runs : []
    assert(
      runs.every(({ kind }) => kind === 'audio'),
      'audio only',
    )
  }
}

async function readSegment(
  { reader, file, index }: Exercise,
  range: SplitPointRange,
  tracks?: readonly number[],
): Promise<SegmentContent | undefined> {
  return unlessRefused(async () => {
    const asked = { ...range, ...(tracks && { tracks }) }
    const content = await reader.readSegment(file, index, asked)
    checkContent(content, file.stat.sizeBytes)
    return content
  })
}

/** `whole` is the index of the complete file; undefined if it was refused. */
async function exerciseGrowth(
  part: Uint8Array,
  file: OpenFile,
  whole: MediaIndex | undefined,
): Promise<void> {
  const { signal } = new AbortController()
  const partFile = guarded(bytesFile(part))
  const early = await unlessRefused(async () => {
    const reader = await readers.forFile(partFile)
    return { reader, index: await reader.index(partFile, signal) }
  })
  if (early?.index.growth === undefined) return
  const previous = structuredClone(early.index)
  const late = await unlessRefused(() => early.reader.index(file, signal, previous))
  assert.equal(late === undefined, whole === undefined, 'refused at once or never')
  if (late === undefined || whole === undefined) return
  checkIndex(late)
  checkKept(early.index, late)
  assert.deepEqual(late.splitPoints, whole.splitPoints, 'the same cuts as at once')
  const to = early.index.growth.stableSplitPoints - 1
  if (to < 1) return
  const range = { from: Math.max(0, to - SPLIT_POINTS_PER_SEGMENT), to }
  const before = await readSegment({ ...early, file: partFile }, range)
  const after = await readSegment({ reader: early.reader, file, index: late }, range)
  assert.deepEqual(after, before, 'the same segment as before')
}

/** The result; undefined if the reader refused. One corrupt segment does not affect others. */
async function unlessRefused<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (isAppError(error, 'unplayable', 'failed')) return undefined
    throw error
  }
}

function placesOf(count: number, wanted: number): number[] {
  const places = Array.from({ length: Math.min(count, wanted) }, (_, i) =>
    Math.round((i * (count - 1)) / Math.max(1, Math.min(count, wanted) - 1)),
  )
  return [...new Set(places)]
}

/** The file; reads outside it throw an error that no reader catches. */
function guarded(file: OpenFile): OpenFile {
  const check = (position: number): void => {
    if (position >= 0 && position <= file.stat.sizeBytes) return
    throw new RangeError(`a read at ${position} of ${file.stat.sizeBytes}`)
  }
  return {
    ...file,
    read: async (buffer, position) => {
      check(position)
      return file.read(buffer, position)
    },
    readv: async (buffers, position) => {
      check(position)
      return file.readv(buffers, position)
    },
  }
}
