// The text of a media playlist (RFC 8216 4.3).
import { secondsFromTicks } from '../media/media-index.ts'
import { segmentIv } from './encryption.ts'
import type { PlannedSegment, SegmentPlan } from './segment-plan.ts'

export type SegmentForm = 'ts' | 'fmp4'

/** What a playlist says besides its segments. */
export interface PlaylistOptions {
  /** First part of every URI: stands for recording, settings and key. */
  urlVersion: string
  form: SegmentForm
  encryption: 'aes-128' | 'none'
}

// RFC 8216 7: EXT-X-MAP in a playlist of whole pictures wants 6, decimal EXTINF 3.
const PLAYLIST_VERSION = { ts: 3, fmp4: 6 } as const

/** A finished recording's playlist. URIs are relative to the playlist. */
export function formatPlaylist(plan: SegmentPlan, options: PlaylistOptions): string {
  const head = [
    '#EXTM3U',
    `#EXT-X-VERSION:${PLAYLIST_VERSION[options.form]}`,
    `#EXT-X-TARGETDURATION:${targetDuration(plan)}`,
    '#EXT-X-MEDIA-SEQUENCE:0',
    '#EXT-X-PLAYLIST-TYPE:VOD',
    ...(plan.isIndependent ? ['#EXT-X-INDEPENDENT-SEGMENTS'] : []),
  ]
  const lines = plan.segments.flatMap((segment, number) =>
    segmentLines(segment, number, { plan, options }),
  )
  return [...head, ...lines, '#EXT-X-ENDLIST', ''].join('\n')
}

/** RFC 8216 4.3.3.1: no EXTINF, rounded to the nearest integer, may exceed it. */
function targetDuration(plan: SegmentPlan): number {
  return plan.segments.reduce(
    (longest, segment) => Math.max(longest, Math.round(durationSeconds(plan, segment))),
    1,
  )
}

function durationSeconds(plan: SegmentPlan, segment: PlannedSegment): number {
  return secondsFromTicks(segment.endTicks - segment.startTicks, plan.timescale)
}

function segmentLines(
  segment: PlannedSegment,
  number: number,
  { plan, options }: { plan: SegmentPlan; options: PlaylistOptions },
): string[] {
  const isEncrypted = options.encryption === 'aes-128'
  const lines: string[] = []
  if (segment.isBreak) lines.push('#EXT-X-DISCONTINUITY')
  if (options.form === 'fmp4' && (segment.isBreak || number === 0)) {
    // A key applies to the EXT-X-MAP tags behind it as well: the init stays clear (RFC 8216 4.3.2.5).
    if (isEncrypted && number > 0) lines.push('#EXT-X-KEY:METHOD=NONE')
    lines.push(`#EXT-X-MAP:URI="${options.urlVersion}/${initFileName(number)}"`)
  }
  if (isEncrypted) {
    const iv = segmentIv(number).toString('hex')
    lines.push(`#EXT-X-KEY:METHOD=AES-128,URI="${options.urlVersion}/key",IV=0x${iv}`)
  }
  lines.push(`#EXTINF:${durationSeconds(plan, segment).toFixed(6)},`)
  lines.push(`${options.urlVersion}/${segmentFileName(number, options.form)}`)
  return lines
}

/** Name of the init that holds from a segment on. */
export function initFileName(segmentNumber: number): string {
  return `init-${segmentNumber}.mp4`
}

/** Name of a segment. */
export function segmentFileName(number: number, form: SegmentForm): string {
  return `${number}.${form === 'ts' ? 'ts' : 'm4s'}`
}

/** What a file name in a segment URL asks for. */
export type SegmentFile =
  | { kind: 'key' }
  | { kind: 'init'; segmentNumber: number }
  | { kind: 'segment'; number: number; form: SegmentForm }

const FILE_NAME =
  /^(?:(?<key>key)|init-(?<init>0|[1-9]\d{0,8})\.mp4|(?<segment>0|[1-9]\d{0,8})\.(?<extension>ts|m4s))$/

/** Reads a file name that this module formats; undefined for any other. */
export function parseSegmentFileName(name: string): SegmentFile | undefined {
  const groups = FILE_NAME.exec(name)?.groups
  if (groups === undefined) return undefined
  if (groups.key !== undefined) return { kind: 'key' }
  if (groups.init !== undefined) return { kind: 'init', segmentNumber: Number(groups.init) }
  return {
    kind: 'segment',
    number: Number(groups.segment),
    form: groups.extension === 'ts' ? 'ts' : 'fmp4',
  }
}
