// The qualities of a session: as recorded, encoded with a height, key frames, or sound only.
import { withTimeout } from '../../../../shared/with-timeout.ts'
import { AppError, isAppError } from '../../../base/errors.ts'
import { ENCODED_CODEC } from '../../../decode/video/video-job.ts'
import { SPLIT_KEY_FRAME, secondsFromTicks, uprightSize } from '../../../media/media-index.ts'
import type { SplitPointTable } from '../../../media/media-index.ts'
import { HEIGHTS, MAIN } from '../playlist/segment-names.ts'
import type { EncodedRendition, Height, PlayedRendition } from '../playlist/segment-names.ts'
import { encodedBandwidth } from '../segment/encoded-video.ts'
import type { HlsRecording } from './hls-recording.ts'

/** In the order of the menu. */
export const QUALITIES = ['original', '720p', '480p', '360p', 'saver', 'audio'] as const
export type Quality = (typeof QUALITIES)[number]

const LABELS: Record<Quality, string> = {
  original: 'Original',
  '720p': '720p',
  '480p': '480p',
  '360p': '360p',
  saver: 'Data saver',
  audio: 'Sound only',
}

/** Pictures that are further apart tell little. */
const MAX_KEY_FRAME_SECONDS = 6
/** A slow bucket must not delay what else a page shows of the session. */
const MEASURE_WAIT_MS = 1000
const USUAL_BITS: Partial<Record<Quality, number>> = { original: 6e6, saver: 8e5, audio: 13e4 }
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
  const height = heightOf(quality)
  if (height !== undefined) return { kind: 'encoded', height, number: audio }
  if (quality === 'saver' || quality === 'audio') return { kind: quality, number: audio }
  return audio === 0 ? MAIN : { kind: 'muxed', number: audio }
}

/** The height of a quality whose video is encoded. */
export function heightOf(quality: Quality): Height | undefined {
  return HEIGHTS.find((height) => quality === `${height}p`)
}

/**
 * Whether all recordings can be sent in the quality: one with a height only if some video is
 * higher.
 */
export function hasQuality(recordings: readonly HlsRecording[], quality: Quality): boolean {
  const rendition = renditionOf(quality)
  const height = heightOf(quality)
  if (height !== undefined && !recordings.some((recording) => isHigher(recording, height))) {
    return false
  }
  return recordings.every((recording) => {
    const { tracks, splitPoints } = recording.planned.index
    if (!recording.has(rendition)) return false
    if (quality === 'audio') return tracks.some(({ kind }) => kind === 'video')
    return quality !== 'saver' || keyFrameSeconds(splitPoints) <= MAX_KEY_FRAME_SECONDS
  })
}

/** Whether its video, upright, is higher. */
function isHigher({ planned }: HlsRecording, height: Height): boolean {
  const video = planned.index.tracks.find(({ kind }) => kind === 'video')
  return video?.kind === 'video' && uprightSize(video).height > height
}

/** Codec strings of video with more than 8 bits, which may be HDR. */
const HIGH_BIT_DEPTH = /^(?:avc1\.6e|hvc1\.[^1]|(?:av01|vp09)\.\w+\.\w+\.1[02])/i

/** Bits per second of a rendition of the first recording; undefined if it cannot be read. */
type Measure = (rendition: PlayedRendition) => Promise<number | undefined>

/** What is found out by reading the first recording. */
export interface FirstRecording {
  measure: Measure
  /** Whether its video can be encoded: HDR is not. */
  canEncode: (rendition: EncodedRendition) => Promise<boolean>
}

/** The qualities of a session. What is not measured in time is estimated. */
export async function sessionQualities(
  recordings: readonly HlsRecording[],
  { measure, canEncode }: FirstRecording,
): Promise<SessionQuality[]> {
  const [first] = recordings
  if (first === undefined) return []
  const { tracks } = first.planned.index
  const intervals = recordings.map(({ planned }) => keyFrameSeconds(planned.index.splitPoints))
  const mayBeHdr = tracks.some(({ codec }) => HIGH_BIT_DEPTH.test(codec))
  const isOffered = async (id: Quality): Promise<boolean> => {
    const rendition = renditionOf(id)
    if (rendition.kind !== 'encoded' || !mayBeHdr) return true
    return (await inTime(async () => canEncode(rendition))) ?? true
  }
  const possible = QUALITIES.filter((id) => hasQuality(recordings, id))
  const answers = await Promise.all(possible.map(isOffered))
  const offered = possible.filter((_, at) => answers[at])
  return Promise.all(
    offered.map(async (id) => ({
      id,
      label: LABELS[id],
      bandwidth: Math.ceil((await inTime(async () => measure(renditionOf(id)))) ?? usualBits(id)),
      codecs: codecsOf(first, id),
      ...(id === 'saver' && { keyFrameSeconds: Math.round(Math.max(...intervals) * 10) / 10 }),
    })),
  )
}

function usualBits(quality: Quality): number {
  const height = heightOf(quality)
  return height === undefined ? (USUAL_BITS[quality] ?? 0) : encodedBandwidth(height).average
}

async function inTime<Value>(work: () => Promise<Value>): Promise<Value | undefined> {
  const reason = (): AppError => new AppError('busy', 'the segment is not read yet')
  try {
    return await withTimeout(work, { timeoutMs: MEASURE_WAIT_MS, reason })
  } catch (error) {
    if (isAppError(error)) return undefined
    throw error
  }
}

/** Those of the first video and the first audio track, as they are sent. */
function codecsOf(recording: HlsRecording, quality: Quality): string {
  const tracks = recording.tracksOf(renditionOf(quality))
  const recorded = quality === 'audio' ? undefined : tracks.find(({ kind }) => kind === 'video')
  const video = heightOf(quality) === undefined ? recorded?.codec : ENCODED_CODEC
  const audio = tracks.find(({ kind }) => kind === 'audio')
  return [video, audio?.codec].flatMap((codec) => codec ?? []).join(',')
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
