// The text of a media playlist (RFC 8216 4.3).
import { secondsFromTicks } from '../media/media-index.ts'
import { segmentIv } from './encryption.ts'
import type { PlannedSegment, SegmentPlan } from './segment-plan.ts'

export type SegmentForm = 'ts' | 'fmp4'

/** One recording's place in a playlist. */
export interface PlaylistPart {
  plan: SegmentPlan
  /** First part of every URI: stands for recording, settings and key. */
  urlVersion: string
  form: SegmentForm
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

/** How a segment stands in the whole playlist. */
interface Place {
  isFirst: boolean
  /** It, or a part before it, has an EXT-X-MAP, which holds for all that follows. */
  isMapped: boolean
  isEncrypted: boolean
}

function segmentLines(
  { plan, urlVersion, form, startMs }: PlaylistPart,
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
    lines.push(`#EXT-X-MAP:URI="${urlVersion}/${initFileName(number, form)}"`)
  }
  if (isEncrypted) {
    const iv = segmentIv(number).toString('hex')
    lines.push(`#EXT-X-KEY:METHOD=AES-128,URI="${urlVersion}/key",IV=0x${iv}`)
  }
  if (isJoin && startMs !== undefined) {
    const elapsedMs = secondsFromTicks(segment.startTicks, plan.timescale) * 1000
    lines.push(`#EXT-X-PROGRAM-DATE-TIME:${new Date(startMs + elapsedMs).toISOString()}`)
  }
  lines.push(`#EXTINF:${durationSeconds(plan, segment).toFixed(6)},`)
  lines.push(`${urlVersion}/${segmentFileName(number, form)}`)
  return lines
}

/** Name of the init that holds from a segment on. */
export function initFileName(segmentNumber: number, form: SegmentForm): string {
  return `init-${segmentNumber}.${form === 'ts' ? 'ts' : 'mp4'}`
}

/** Name of a segment. */
export function segmentFileName(number: number, form: SegmentForm): string {
  return `${number}.${form === 'ts' ? 'ts' : 'm4s'}`
}

/** What a file name in a segment URL asks for. */
export type SegmentFile =
  | { kind: 'key' }
  | { kind: 'init'; segmentNumber: number; form: SegmentForm }
  | { kind: 'segment'; number: number; form: SegmentForm }

const FILE_NAME =
  /^(?:(?<key>key)|init-(?<init>0|[1-9]\d{0,8})\.(?<initExtension>ts|mp4)|(?<segment>0|[1-9]\d{0,8})\.(?<extension>ts|m4s))$/

/** Reads a file name that this module formats; undefined for any other. */
export function parseSegmentFileName(name: string): SegmentFile | undefined {
  const groups = FILE_NAME.exec(name)?.groups
  if (groups === undefined) return undefined
  if (groups.key !== undefined) return { kind: 'key' }
  if (groups.init !== undefined) {
    const form = groups.initExtension === 'ts' ? 'ts' : 'fmp4'
    return { kind: 'init', segmentNumber: Number(groups.init), form }
  }
  return {
    kind: 'segment',
    number: Number(groups.segment),
    form: groups.extension === 'ts' ? 'ts' : 'fmp4',
  }
}
