// The qualities of a session that need no encoding: as recorded, key frames, or sound only.
import { SPLIT_KEY_FRAME, secondsFromTicks } from '../../../media/media-index.ts'
import type { SplitPointTable } from '../../../media/media-index.ts'
import type { OpenFile } from '../../../storage/recordings/storage.ts'
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

/**
 * The qualities of a session.
 *
 * @param file the first recording, of which one segment is measured
 */
export async function sessionQualities(
  recordings: readonly HlsRecording[],
  file: OpenFile,
): Promise<SessionQuality[]> {
  const [first] = recordings
  if (first === undefined) return []
  const { tracks } = first.planned.index
  const offered = QUALITIES.filter((id) => hasQuality(recordings, id))
  const described = offered.map(async (id) => {
    const sent = tracks.filter(({ kind }, at) => {
      const isFirst = tracks.findIndex((track) => track.kind === kind) === at
      return isFirst && (id !== 'audio' || kind === 'audio')
    })
    const intervals = recordings.map(({ planned }) => keyFrameSeconds(planned.index.splitPoints))
    return {
      id,
      label: LABELS[id],
      bandwidth: Math.ceil(await first.averageBits(renditionOf(id), file)),
      codecs: sent.map(({ codec }) => codec).join(','),
      ...(id === 'saver' && { keyFrameSeconds: Math.round(Math.max(...intervals) * 10) / 10 }),
    }
  })
  return Promise.all(described)
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
