// The text of a media playlist (RFC 8216 4.3).
import { secondsFromTicks } from '../../media/media-index.ts'
import { segmentIv } from '../../delivery/encryption.ts'
import { initFileName, MAIN, segmentFileName, audioNumber } from './segment-names.ts'
import type { ListedForm, Rendition } from './segment-names.ts'
import type { PlannedSegment, SegmentPlan } from './segment-plan.ts'

/** One recording's place in a playlist. */
export interface PlaylistPart {
  plan: SegmentPlan
  /** What every URI begins with: stands for recording, settings and key. '' where the playlist lies beside its segments. */
  urlPrefix: string
  form: ListedForm
  /** Absent: pictures with the default sound. */
  rendition?: Rendition | undefined
  /** When its first segment begins, in milliseconds since 1970, where that is known. */
  startMs?: number | undefined
}

export interface PlaylistOptions {
  encryption: 'aes-128' | 'none'
  /** Of a session that was ever listed while it grew: it is appended to, and nothing that stands in it changes. */
  growth?: { isEnded: boolean; longestSeconds: number } | undefined
}

// RFC 8216 7: EXT-X-MAP in a playlist of whole pictures wants 6, decimal EXTINF 3.
const PLAYLIST_VERSION = { ts: 3, fmp4: 6 } as const

/** The playlist of recordings that are played one behind the other. URIs are relative to the playlist. */
export function formatPlaylist(parts: readonly PlaylistPart[], options: PlaylistOptions): string {
  const { encryption, growth } = options
  const firstMapped = parts.findIndex(({ form }) => form === 'fmp4')
  const longest = Math.max(
    growth?.longestSeconds ?? 1,
    ...parts.map(({ plan }) => longestSeconds(plan)),
  )
  // One that grows promises nothing that parts to come might break.
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

function formatIv(number: number, { tailBytes }: PlannedSegment, rendition = MAIN): string {
  return segmentIv({ number, tailBytes, audio: audioNumber(rendition) }).toString('hex')
}

/** How a segment stands in the whole playlist. */
interface Place {
  isFirst: boolean
  /** It, or a part before it, has an EXT-X-MAP, which holds for all that follows. */
  isMapped: boolean
  isEncrypted: boolean
}

function segmentLines(
  { plan, urlPrefix, form, rendition, startMs }: PlaylistPart,
  number: number,
  { isFirst, isMapped, isEncrypted }: Place,
): string[] {
  const segment = plan.segments[number]
  if (segment === undefined) return []
  const lines: string[] = []
  const isJoin = segment.isBreak || number === 0
  if (isJoin && !isFirst) lines.push('#EXT-X-DISCONTINUITY')
  if (isJoin && isMapped) {
    // A key applies to the EXT-X-MAP tags behind it as well: the init stays clear (RFC 8216 4.3.2.5).
    if (isEncrypted && !isFirst) lines.push('#EXT-X-KEY:METHOD=NONE')
    lines.push(`#EXT-X-MAP:URI="${urlPrefix}${initFileName(number, form, rendition)}"`)
  }
  if (isEncrypted) {
    const iv = formatIv(number, segment, rendition)
    lines.push(`#EXT-X-KEY:METHOD=AES-128,URI="${urlPrefix}key",IV=0x${iv}`)
  }
  if (isJoin && startMs !== undefined) {
    const elapsedMs = secondsFromTicks(segment.startTicks, plan.timescale) * 1000
    lines.push(`#EXT-X-PROGRAM-DATE-TIME:${new Date(startMs + elapsedMs).toISOString()}`)
  }
  lines.push(`#EXTINF:${durationSeconds(plan, segment).toFixed(6)},`)
  lines.push(urlPrefix + segmentFileName({ number, tailBytes: segment.tailBytes }, form, rendition))
  return lines
}
