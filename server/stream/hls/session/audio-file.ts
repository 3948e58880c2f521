// The audio of a recording as one file: its segments of sound only, in the clear, after an index of
// their positions. They are read when they are sent.
import { isDeepStrictEqual } from 'node:util'
import { AppError } from '../../../base/errors.ts'
import type { BufferLease } from '../../delivery/buffer-pool.ts'
import { eachChunk } from '../../delivery/chunk-source.ts'
import { readBody } from '../../delivery/read-body.ts'
import { sliceBody } from '../../delivery/segment-body.ts'
import type { ByteWindow } from '../../delivery/segment-body.ts'
import type { InitTrack } from '../../../media/media-reader.ts'
import { formatInitSegment, TRACK_IDS } from '../fmp4/init-segment.ts'
import { MAX_TICKS } from '../segment/fill-tracks.ts'
import { formatSegmentIndex, MAX_REFERENCES } from '../fmp4/segment-index.ts'
import { SOUND } from '../playlist/segment-names.ts'
import { createAudioSegment } from './audio-table.ts'
import type { AudioTable, SoleRecording } from './audio-table.ts'
import type { HlsRecording } from './hls-recording.ts'

export interface AudioFile {
  name: string
  sizeBytes: number
  /** The init segment and the index. */
  head: Uint8Array
  table: AudioTable
  source: SoleRecording
}

/**
 * Identifies the file's bytes. Undefined if there is none: the audio is missing, is transcoded, has
 * another format later, or has more segments than an index can list.
 */
export function audioFileName(recording: HlsRecording): string | undefined {
  const { segments } = recording.planOf(SOUND)
  if (segments.length === 0 || segments.length > MAX_REFERENCES) return undefined
  if (recording.hasTranscodedAudio(SOUND) || initTrackOf(recording) === undefined) return undefined
  // If a recording that was listed while it grew is continued, its last segment has another tail.
  const tailBytes = segments.at(-1)?.tailBytes
  return `${recording.urlVersion}${tailBytes === undefined ? '' : `-${tailBytes}`}.m4a`
}

/** Undefined if there is no such track, or another one later. */
function initTrackOf(recording: HlsRecording): InitTrack | undefined {
  if (!recording.has(SOUND)) return undefined
  const starts = recording
    .planOf(SOUND)
    .segments.filter(({ followsDiscontinuity }, at) => at === 0 || followsDiscontinuity)
  const [first, ...others] = starts.map((segment) => recording.initTracks(SOUND, segment) ?? [])
  const [track] = first ?? []
  return others.every((tracks) => isDeepStrictEqual(tracks[0], track)) ? track : undefined
}

/** @throws AppError `failed` if the recording has no such file */
export function createAudioFile(source: SoleRecording, table: AudioTable): AudioFile {
  const { recording } = source
  const name = audioFileName(recording)
  const track = initTrackOf(recording)
  if (name === undefined || track === undefined) throw new AppError('failed', 'there is no audio')
  const { timescale } = track
  const durationSeconds = recording.listedSeconds
  const endTicks = Math.round(durationSeconds * timescale)
  const head = Buffer.concat([
    formatInitSegment([track], durationSeconds),
    formatSegmentIndex({ trackId: TRACK_IDS.audio, timescale, ...listFragments(table, endTicks) }),
  ])
  const sizeBytes = table.sizes.reduce((sum, size) => sum + size, head.length)
  return { name, sizeBytes, head, table, source }
}

/** Each lasts until the next one begins. */
function listFragments({ sizes, startTicks }: AudioTable, endTicks: number) {
  const starts = startTicks.filter((_, number) => (sizes[number] ?? 0) > 0)
  const present = sizes.filter((size) => size > 0)
  const fragments = Array.from(present, (sizeBytes, at) => {
    const end = starts[at + 1] ?? endTicks
    const ticks = Math.min(Math.max(end - (starts[at] ?? 0), 1), MAX_TICKS)
    return { sizeBytes, durationTicks: ticks }
  })
  return { startTicks: starts[0] ?? 0, fragments }
}

/**
 * The bytes of the window. A chunk is valid until the next one is requested.
 *
 * @param lease returns the buffers of one segment
 * @throws AppError `failed` if the recording cannot be read; the signal's reason
 */
export async function* readAudioFile(
  { head, table, source }: AudioFile,
  { start, end }: ByteWindow,
  { lease, signal }: { lease: () => BufferLease; signal: AbortSignal },
): AsyncGenerator<Uint8Array, void> {
  if (start < head.length) yield head.subarray(start, Math.min(end, head.length))
  let position = head.length
  for (let number = 0; number < table.sizes.length && position < end; number += 1) {
    const sizeBytes = table.sizes[number] ?? 0
    const window = {
      start: Math.max(start - position, 0),
      end: Math.min(end - position, sizeBytes),
    }
    position += sizeBytes
    if (window.start >= window.end) continue
    signal.throwIfAborted()
    const body = await createAudioSegment(source, number, signal)
    if (body?.sizeBytes !== sizeBytes) throw new AppError('failed', 'the audio has another size')
    const buffers = lease()
    try {
      yield* eachChunk(readBody(source.file, sliceBody(body, window).body, buffers))
    } finally {
      buffers.release()
    }
  }
}
