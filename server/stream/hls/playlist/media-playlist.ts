// Formats media playlists (RFC 8216 4.3).
import { secondsFromTicks } from '../../../media/media-index.ts'
import { segmentIv } from '../../delivery/encryption.ts'
import { initFileName, MAIN, renditionNumber, segmentFileName } from './segment-names.ts'
import type { ListedForm, Rendition } from './segment-names.ts'
import type { PlannedSegment, SegmentPlan } from './segment-plan.ts'

/** One recording in a playlist. */
export interface PlaylistPart {
  plan: SegmentPlan
  /** Start of every URI: the version and a slash, or '' if the playlist is next to the segments. */
  urlPrefix: string
  form: ListedForm
  /** Absent for the video with the default audio. */
  rendition?: Rendition | undefined
  /** Start of its first segment in milliseconds since 1970, if it is known. */
  startMs?: number | undefined
}

export interface PlaylistOptions {
  encryption: 'aes-128' | 'none'
  /** Present if the session was ever listed while it was growing: then the playlist is an EVENT. */
  growth?: PlaylistGrowth | undefined
}

export interface PlaylistGrowth {
  isEnded: boolean
  /** EXT-X-TARGETDURATION, which must not change while the playlist grows. */
  longestSeconds: number
}

// RFC 8216 7: EXT-X-MAP needs version 6, a decimal EXTINF version 3.
const PLAYLIST_VERSION = { ts: 3, fmp4: 6 } as const

/** The playlist of recordings that play in sequence. URIs are relative to the playlist. */
export function formatPlaylist(parts: readonly PlaylistPart[], options: PlaylistOptions): string {
  const { encryption, growth } = options
  const firstMapped = parts.findIndex(({ form }) => form === 'fmp4')
  const longest = Math.max(
    growth?.longestSeconds ?? 1,
    ...parts.map(({ plan }) => longestSeconds(plan)),
  )
  // The tag applies to all segments, and those of later recordings are not known yet.
  const isIndependent = growth === undefined && parts.every(({ plan }) => plan.isIndependent)
  const isMapped = firstMapped !== -1 || growth !== undefined
  const head = [
    '#EXTM3U',
    `#EXT-X-VERSION:${PLAYLIST_VERSION[isMapped ? 'fmp4' : 'ts']}`,
    `#EXT-X-TARGETDURATION:${longest}`,
    '#EXT-X-MEDIA-SEQUENCE:0',
    `#EXT-X-PLAYLIST-TYPE:${growth === undefined ? 'VOD' : 'EVENT'}`,
    ...(isIndependent ? ['#EXT-X-INDEPENDENT-SEGMENTS'] : []),
  ]
  const lines = parts.flatMap((part, i) =>
    part.plan.segments.flatMap((_, number) =>
      segmentLines(part, number, {
        isFirst: i === 0 && number === 0,
        isMapped: firstMapped !== -1 && i >= firstMapped,
        isEncrypted: encryption === 'aes-128',
      }),
    ),
  )
  const end = growth?.isEnded === false ? [] : ['#EXT-X-ENDLIST']
  return [...head, ...lines, ...end, ''].join('\n')
}

/** RFC 8216 4.3.3.1: no EXTINF, rounded to the nearest integer, may exceed the target duration. */
export function longestSeconds(plan: SegmentPlan): number {
  return plan.segments.reduce(
    (longest, segment) => Math.max(longest, Math.round(durationSeconds(plan, segment))),
    0,
  )
}

function durationSeconds(plan: SegmentPlan, segment: PlannedSegment): number {
  return secondsFromTicks(segment.endTicks - segment.startTicks, plan.timescale)
}

function formatIv(
  number: number,
  { tailBytes }: PlannedSegment,
  rendition: Rendition = MAIN,
): string {
  const iv = segmentIv({ number, tailBytes, rendition: renditionNumber(rendition) })
  return iv.toString('hex')
}

/** The segment's context in the playlist. */
interface SegmentContext {
  isFirst: boolean
  /** This or an earlier part has an EXT-X-MAP, which applies to all following segments. */
  isMapped: boolean
  isEncrypted: boolean
}

function segmentLines(
  { plan, urlPrefix, form, rendition, startMs }: PlaylistPart,
  number: number,
  { isFirst, isMapped, isEncrypted }: SegmentContext,
): string[] {
  const segment = plan.segments[number]
  if (segment === undefined) return []
  const lines: string[] = []
  const isDiscontinuity = segment.followsDiscontinuity || number === 0
  if (isDiscontinuity && !isFirst) lines.push('#EXT-X-DISCONTINUITY')
  if (isDiscontinuity && isMapped) {
    // A key also applies to the EXT-X-MAP tags after it (RFC 8216 4.3.2.5). The init is clear.
    if (isEncrypted && !isFirst) lines.push('#EXT-X-KEY:METHOD=NONE')
    lines.push(`#EXT-X-MAP:URI="${urlPrefix}${initFileName(number, form, rendition)}"`)
  }
  if (isEncrypted) {
    const iv = formatIv(number, segment, rendition)
    lines.push(`#EXT-X-KEY:METHOD=AES-128,URI="${urlPrefix}key",IV=0x${iv}`)
  }
  if (isDiscontinuity && startMs !== undefined) {
    const elapsedMs = secondsFromTicks(segment.startTicks, plan.timescale) * 1000
    lines.push(`#EXT-X-PROGRAM-DATE-TIME:${new Date(startMs + elapsedMs).toISOString()}`)
  }
  if (segment.isGap === true && form !== 'vtt') lines.push('#EXT-X-GAP')
  lines.push(`#EXTINF:${durationSeconds(plan, segment).toFixed(6)},`)
  lines.push(urlPrefix + segmentFileName({ number, tailBytes: segment.tailBytes }, form, rendition))
  return lines
}
