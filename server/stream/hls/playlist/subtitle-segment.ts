// A subtitle rendition as WebVTT: a segment with the cues of its time (RFC 8216 3.5), or all cues.
import { parseStamp } from '../../../media/codec/pes-stamp.ts'
import { formatCueTime } from '../../../media/codec/webvtt-text.ts'
import { secondsFromTicks } from '../../../media/media-index.ts'
import type { SubtitleCue } from '../../../media/media-index.ts'
import type { PlannedSegment } from './segment-plan.ts'

/** Relation between the session's timeline and the timestamps of the media. */
export interface TimestampMap {
  /** At 90 kHz, as in the media. */
  mediaTicks: number
  /** The same time on the session's timeline. */
  localSeconds: number
}

/** All cues that are visible during the segment; a long one is in several segments. */
export function formatSubtitleSegment(
  cues: readonly SubtitleCue[],
  segment: Pick<PlannedSegment, 'startTicks' | 'endTicks'>,
  { timescale, map }: { timescale: number; map: TimestampMap },
): string {
  const start = secondsFromTicks(segment.startTicks, timescale)
  const end = secondsFromTicks(segment.endTicks, timescale)
  const visible = cues.filter(
    ({ startSeconds, endSeconds }) => startSeconds < end && endSeconds > start,
  )
  const timestampMap = `MPEGTS:${map.mediaTicks},LOCAL:${formatTime(map.localSeconds)}`
  const head = `WEBVTT\nX-TIMESTAMP-MAP=${timestampMap}\n`
  return [head, ...visible.map(formatCue)].join('\n')
}

/** All cues, on the session's timeline: for players that load subtitles without HLS. */
export function formatSubtitleFile(cues: readonly SubtitleCue[]): string {
  return ['WEBVTT\n', ...cues.map(formatCue)].join('\n')
}

function formatCue({ startSeconds, endSeconds, text }: SubtitleCue): string {
  return `${formatTime(startSeconds)} --> ${formatTime(endSeconds)}\n${text}\n`
}

function formatTime(seconds: number): string {
  return formatCueTime(Math.max(0, Math.round(seconds * 1000)))
}

const PACKET_BYTES = 188
const PES_HEAD_BYTES = 14

/** The first timestamp of video, else of audio, in a segment (ISO/IEC 13818-1 2.4.3.6). */
export function readFirstStamp(bytes: Uint8Array): number | undefined {
  let audio: number | undefined
  for (let at = 0; at + PACKET_BYTES <= bytes.length; at += PACKET_BYTES) {
    const stamp = readStamp(bytes.subarray(at, at + PACKET_BYTES))
    if (stamp?.kind === 'video') return stamp.ticks
    audio ??= stamp?.ticks
  }
  return audio
}

function readStamp(packet: Uint8Array): { kind: 'video' | 'audio'; ticks: number } | undefined {
  const [sync = 0, flags = 0, , control = 0, adaptation = 0] = packet
  if (sync !== 0x47 || (flags & 0x40) === 0 || (control & 0x10) === 0) return undefined
  const pes = packet.subarray((control & 0x20) === 0 ? 4 : 5 + adaptation)
  const [zero, none, one, stream = 0] = pes
  if (pes.length < PES_HEAD_BYTES || zero !== 0 || none !== 0 || one !== 1) return undefined
  const kind = stream >= 0xe0 && stream <= 0xef ? 'video' : 'audio'
  if (((pes[7] ?? 0) & 0x80) === 0) return undefined
  const ticks = parseStamp(pes, 9)
  return ticks === undefined ? undefined : { kind, ticks }
}
