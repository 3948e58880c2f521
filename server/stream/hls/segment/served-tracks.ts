// The tracks of a segment as they are sent: as recorded if browsers can play them, else as AAC.
import { servedTracks } from '../../../media/media-index.ts'
import type { AudioTrack, SplitPointRange, MediaIndex } from '../../../media/media-index.ts'
import type {
  InitTrack,
  MediaReader,
  SampleRun,
  SegmentContent,
} from '../../../media/media-reader.ts'
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import { isTranscoded } from './recorded-audio.ts'
import { transcodedInitTrack } from './transcoded-audio.ts'
import type { TranscodedAudio } from './transcoded-audio.ts'

interface IndexedRecording {
  index: MediaIndex
  reader: MediaReader
}

/** As `MediaReader.initTracks`, with the transcoded tracks after the others. */
export function servedInitTracks(
  { index, reader }: IndexedRecording,
  splitPoint: number,
  tracks?: readonly number[],
): InitTrack[] | undefined {
  const { asRecorded, transcoded } = divideTracks(index, tracks)
  if (transcoded.length === 0) return reader.initTracks(index, splitPoint, tracks)
  const recorded = asRecorded.length === 0 ? [] : reader.initTracks(index, splitPoint, asRecorded)
  return recorded && [...recorded, ...transcoded.map(({ track }) => transcodedInitTrack(track))]
}

export interface ServedSegment {
  file: OpenFile
  range: SplitPointRange
  /** Identifies the recording, the settings, the segment and its audio track. */
  audioKey: string
  tracks?: readonly number[]
  /** Aborted when the request is abandoned. */
  signal?: AbortSignal | undefined
}

type ServedContent = SegmentContent & {
  /** False: other nodes may send other bytes (`TranscodedRun`). Default true. */
  isLasting?: boolean
}

/** As `MediaReader.readSegment`, with the transcoded tracks after the others. */
export async function readServedSegment(
  { index, reader }: IndexedRecording,
  { file, range, audioKey, tracks, signal }: ServedSegment,
  audioTracks: TranscodedAudio,
): Promise<ServedContent> {
  const { asRecorded, transcoded } = divideTracks(index, tracks)
  const { from, to } = range
  if (asRecorded.length + transcoded.length === 0) return { kind: 'samples', runs: [] }
  if (transcoded.length === 0) {
    return reader.readSegment(file, index, { from, to, ...(tracks && { tracks }) })
  }
  const runs: SampleRun[] = []
  if (asRecorded.length > 0) {
    const content = await reader.readSegment(file, index, { from, to, tracks: asRecorded })
    if (content.kind === 'ts') return content
    runs.push(...content.runs)
  }
  const source = { file, index, reader }
  let isLasting = true
  for (const { number, track } of transcoded) {
    const request = { source, track, key: audioKey, number, range: { from, to }, signal }
    const run = await audioTracks.transcode(request)
    if (run === undefined) continue
    isLasting &&= run.provisional === undefined
    runs.push(run)
  }
  return { kind: 'samples', runs, isLasting }
}

/** The given tracks, or by default the video and the first audio track. */
export function divideTracks(index: MediaIndex, selected?: readonly number[]) {
  const { tracks: all } = index
  const numbers = servedTracks(index, selected)
  return {
    asRecorded: numbers.filter((number) => all[number] !== undefined && !isTranscoded(all[number])),
    transcoded: numbers.flatMap((number) => {
      const track = all[number]
      return track !== undefined && isTranscoded(track) ? [{ number, track }] : []
    }),
  }
}

/** The audio among the given tracks, or by default the first audio track. */
export function servedAudio(
  index: MediaIndex,
  selected?: readonly number[],
): { number: number; track: AudioTrack } | undefined {
  for (const number of servedTracks(index, selected)) {
    const track = index.tracks[number]
    if (track?.kind === 'audio') return { number, track }
  }
  return undefined
}
