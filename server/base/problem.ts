// The closed list of reasons why a recording is unplayable, and of limitations of one that plays:
// codes with typed parameters. problem-text.ts formats them for people.
import { z } from 'zod'

/** A position in the file. */
const offsetBytes = z.number()
const codec = z.string()

/** What is wrong with a box of an MP4 (ISO/IEC 14496-12). */
const boxDefect = z.enum([
  'child-size-invalid',
  'child-too-small',
  'empty',
  'entries-exceed-box',
  'entry-invalid',
  'exceeds-parent',
  'size-invalid',
  'smaller-than-header',
  'times-invalid',
  'timescale-zero',
  'too-large',
  'too-many-entries',
  'too-small',
  'truncated',
])
export type BoxDefect = z.infer<typeof boxDefect>

/** What exceeds its bound; each bound is a named constant of the reader. */
const limit = z.enum([
  'audio-bytes-between-key-frames',
  'boxes',
  'bytes-between-key-frames',
  'chat-bytes',
  'chat-messages',
  'chat-text-bytes',
  'corrupt-ranges',
  'discontinuities',
  'empty-table-runs',
  'moov-samples-before-fragments',
  'parts',
  'playlist-bytes',
  'playlist-repeated-bytes',
  'playlist-segments',
  'samples-between-key-frames',
  'segment-folders',
  'split-points',
  'track-changes',
])
export type Limit = z.infer<typeof limit>

const playlistDefect = z.enum([
  'byte-range-invalid',
  'file-missing',
  'iv-invalid',
  'key-invalid',
  'key-not-named',
  'nested-multivariant',
  'not-a-playlist',
  'no-segments',
  'no-variants',
  'syntax',
])
export type PlaylistDefect = z.infer<typeof playlistDefect>

const playlistFeature = z.enum(['i-frames-only', 'separate-audio', 'variables'])
export type PlaylistFeature = z.infer<typeof playlistFeature>

const playlistNameDefect = z.enum([
  'empty',
  'folder',
  'hidden',
  'malformed',
  'outside-folder',
  'too-long',
  'url',
])
export type PlaylistNameDefect = z.infer<typeof playlistNameDefect>

/** Parses a reason that the catalog stored. */
export const unplayableReasonSchema = z.discriminatedUnion('code', [
  // The file
  z.object({ code: z.literal('file-empty') }),
  z.object({ code: z.literal('file-starts-with-zeros') }),
  z.object({ code: z.literal('file-truncated'), offsetBytes, neededBytes: z.number() }),
  z.object({ code: z.literal('container-unknown') }),
  z.object({ code: z.literal('ebml-type-unsupported'), docType: z.string() }),
  z.object({ code: z.literal('limit-exceeded'), limit, max: z.number() }),
  z.object({ code: z.literal('reader-ended') }),
  z.object({ code: z.literal('timestamps-invalid') }),
  z.object({ code: z.literal('encrypted') }),
  // MP4
  z.object({ code: z.literal('moov-missing'), offsetBytes }),
  z.object({ code: z.literal('moov-before-start') }),
  z.object({ code: z.literal('moov-compressed') }),
  z.object({ code: z.literal('box-missing'), box: z.string(), parent: z.string(), offsetBytes }),
  z.object({
    code: z.literal('box-invalid'),
    box: z.string(),
    offsetBytes,
    defect: boxDefect,
    /** The number that is wrong, such as a count of entries. */
    value: z.number().exactOptional(),
  }),
  z.object({ code: z.literal('sample-sizes-invalid') }),
  // Tracks
  z.object({ code: z.literal('program-tables-missing') }),
  z.object({ code: z.literal('track-list-missing') }),
  z.object({ code: z.literal('tracks-missing') }),
  z.object({ code: z.literal('frames-missing') }),
  z.object({ code: z.literal('key-frame-missing') }),
  z.object({ code: z.literal('video-codec-unsupported'), codec }),
  z.object({ code: z.literal('video-config-missing'), codec, box: z.string() }),
  z.object({ code: z.literal('video-config-invalid'), codec }),
  z.object({ code: z.literal('video-encrypted') }),
  z.object({ code: z.literal('video-compressed') }),
  z.object({ code: z.literal('video-size-invalid') }),
  z.object({ code: z.literal('audio-codec-unsupported'), codec }),
  z.object({ code: z.literal('audio-config-invalid'), codec: codec.exactOptional() }),
  z.object({ code: z.literal('audio-encrypted') }),
  z.object({ code: z.literal('audio-compressed') }),
  z.object({ code: z.literal('audio-format-invalid') }),
  // A folder with a recorder's playlist
  z.object({ code: z.literal('playlist-invalid'), defect: playlistDefect }),
  z.object({ code: z.literal('playlist-name-rejected'), defect: playlistNameDefect }),
  z.object({ code: z.literal('playlist-feature-unsupported'), feature: playlistFeature }),
  z.object({ code: z.literal('segments-missing') }),
  z.object({ code: z.literal('segment-encryption-unsupported'), method: z.string() }),
  z.object({ code: z.literal('segment-key-wrong') }),
  z.object({ code: z.literal('session-empty') }),
])

/** Why a recording is unplayable. */
export type UnplayableReason = z.infer<typeof unplayableReasonSchema>

/** Position of a limitation, where it has one. */
interface Location {
  offsetBytes?: number
  /** On the timeline of the recording, in a session of parts on that of the session. */
  seconds?: number
}

/** Why a track is not served. */
export type OmissionCause =
  | UnplayableReason
  | { code: 'track-empty' }
  | { code: 'track-limit'; tracks: number }
  | { code: 'audio-codec-changed'; codec: string }
  | { code: 'subtitle-codec-unsupported'; codec: string }
  | { code: 'fragmented-subtitles-unsupported' }

/** What is missing or corrupt in a recording that plays. */
export type Limitation = Location &
  (
    | { code: 'truncated'; unit: 'box' | 'element' | 'media' | 'packet' | 'tag' }
    | { code: 'corrupt'; lengthBytes: number }
    | { code: 'fragment-invalid' }
    | { code: 'frames-undecodable' }
    | { code: 'samples-unreadable'; samples: number }
    | { code: 'partly-encrypted' }
    | { code: 'gap'; jumpSeconds?: number }
    | { code: 'audio-not-served'; cause: OmissionCause }
    | { code: 'video-not-served'; cause: OmissionCause }
    | { code: 'subtitles-not-served'; cause: OmissionCause }
    | { code: 'chat-not-served'; cause: UnplayableReason }
  )

/** A limitation of a session; `part` is the name of the recording among several, or of a chat. */
export type SessionLimitation = (
  | Limitation
  | (Location & { code: 'part-unplayable'; cause: UnplayableReason })
) & { part?: string }

/** What `check` reports of a recording that is unplayable, partly playable or not served. */
export type Problem =
  | UnplayableReason
  | SessionLimitation
  | { code: 'duplicate'; servedPath: string }
