// The qualities of a session that need no encoding: as recorded, key frames, or sound only.
import { withTimeout } from '../../../../shared/with-timeout.ts'
import { AppError, isAppError } from '../../../base/errors.ts'
import { SPLIT_KEY_FRAME, secondsFromTicks } from '../../../media/media-index.ts'
import type { MediaIndex, SplitPointTable } from '../../../media/media-index.ts'
import { MAIN } from '../playlist/segment-names.ts'
import type { PlayedRendition } from '../playlist/segment-names.ts'
import type { HlsRecording } from './hls-recording.ts'

/** In the order of the menu. */
export const QUALITIES = ['original', 'saver', 'audio'] as const
export type Quality = (typeof QUALITIES)[number]

const LABELS: Record<Quality, string> = {
  original: 'Original',
  saver: 'Data saver',
  audio: 'Sound only',
}

/** Pictures that are further apart tell little. */
const MAX_KEY_FRAME_SECONDS = 6
/** A slow bucket must not delay what else a page shows of the session. */
const MEASURE_WAIT_MS = 1000
const USUAL_BITS: Record<Quality, number> = { original: 6e6, saver: 8e5, audio: 13e4 }
/** Intervals that are measured: of a growing recording, the first ones, which do not change. */
const MEASURED_INTERVALS = 32

export interface SessionQuality {
  id: Quality
  label: string
  /** Average bits per second, estimated. */
  bandwidth: number
  /** As the CODECS attribute of RFC 8216 4.3.4.2. */
  codecs: string
  /** Between two pictures, if that is not the frame rate. */
  keyFrameSeconds?: number
}

/** What is played of a quality with the audio of this number. */
export function renditionOf(quality: Quality, audio = 0): PlayedRendition {
  if (quality !== 'original') return { kind: quality, number: audio }
  return audio === 0 ? MAIN : { kind: 'muxed', number: audio }
}

/** Whether all recordings can be sent in the quality. */
export function hasQuality(recordings: readonly HlsRecording[], quality: Quality): boolean {
  const rendition = renditionOf(quality)
  return recordings.every((recording) => {
    const { tracks, splitPoints } = recording.planned.index
    if (!recording.has(rendition)) return false
    if (quality === 'audio') return tracks.some(({ kind }) => kind === 'video')
    return quality === 'original' || keyFrameSeconds(splitPoints) <= MAX_KEY_FRAME_SECONDS
  })
}

/** Bits per second of a rendition of the first recording; undefined if it cannot be read. */
type Measure = (rendition: PlayedRendition) => Promise<number | undefined>

/** The qualities of a session. What is not measured in time is estimated. */
export async function sessionQualities(
  recordings: readonly HlsRecording[],
  measure: Measure,
): Promise<SessionQuality[]> {
  const [first] = recordings
  if (first === undefined) return []
  const { tracks } = first.planned.index
  const intervals = recordings.map(({ planned }) => keyFrameSeconds(planned.index.splitPoints))
  const offered = QUALITIES.filter((id) => hasQuality(recordings, id))
  return Promise.all(
    offered.map(async (id) => ({
      id,
      label: LABELS[id],
      bandwidth: Math.ceil((await measureInTime(measure, renditionOf(id))) ?? USUAL_BITS[id]),
      codecs: codecsOf(tracks, id),
      ...(id === 'saver' && { keyFrameSeconds: Math.round(Math.max(...intervals) * 10) / 10 }),
    })),
  )
}

async function measureInTime(
  measure: Measure,
  rendition: PlayedRendition,
): Promise<number | undefined> {
  const reason = (): AppError => new AppError('busy', 'the segment is not read yet')
  try {
    const work = async (): Promise<number | undefined> => measure(rendition)
    return await withTimeout(work, { timeoutMs: MEASURE_WAIT_MS, reason })
  } catch (error) {
    if (isAppError(error)) return undefined
    throw error
  }
}

/** Those of the first video and the first audio track, as far as they are sent. */
function codecsOf(tracks: MediaIndex['tracks'], quality: Quality): string {
  const video = quality === 'audio' ? undefined : tracks.find(({ kind }) => kind === 'video')
  const audio = tracks.find(({ kind }) => kind === 'audio')
  return [video, audio].flatMap((track) => track?.codec ?? []).join(',')
}

/** The median distance of key frames; Infinity without any. */
function keyFrameSeconds({ flags, startTicks, endTicks, timescale }: SplitPointTable): number {
  const times: number[] = []
  for (let at = 0; at < flags.length && times.length <= MEASURED_INTERVALS; at += 1) {
    if (((flags[at] ?? 0) & SPLIT_KEY_FRAME) !== 0) times.push(startTicks[at] ?? 0)
  }
  if (times.length === 0) return Infinity
  if (times.length === 1) times.push(endTicks)
  const distances = times.slice(1).map((ticks, at) => ticks - (times[at] ?? 0))
  distances.sort((a, b) => a - b)
  return secondsFromTicks(distances[distances.length >> 1] ?? 0, timescale)
}
