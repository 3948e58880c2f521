// What the rest of the server may ask of a session that is played, whatever it is made of: one recording, several parts,
// or a playlist that a recorder wrote.
import type { SessionReference } from '../../../shared/paths.ts'
import type { KeyFrame } from '../../media/media-index.ts'
import type { OpenFile } from '../../storage/storage.ts'
import type { SegmentBody } from '../../delivery/segment-body.ts'

/** A session and where it lies, as the catalog knows it. */
export interface SessionSource extends SessionReference {
  /** Library path of the recording, or of the folder of parts. */
  path: string
  kind: 'file' | 'folder'
  /** When it began, in milliseconds since 1970, where that is known. */
  startMs?: number
}

/** A session as it is at this moment. Whoever opened it closes it. */
export interface PlayableSession {
  readonly durationSeconds: number
  /** The text of `playlist.m3u8`. */
  playlist(): Promise<TextResource>
  /**
   * What the URL `{version}/{fileName}` beside the playlist names; undefined where the session has no such file (any more).
   * A segment's file stays open until the session is closed.
   *
   * @throws AppError `failed` where a recording cannot be read
   */
  find(version: string, fileName: string): Promise<SessionFile | undefined>
  /** Pictures to choose the session's own from. */
  readonly frames: SessionFrames
  close(): Promise<void>
}

/** A text that is answered many times. */
export interface TextResource {
  /** Equal versions have equal texts. */
  version: string
  contentType: string
  /** `fresh`: it changes soon, because the session grows or may still be written to. `immutable`: it never changes. */
  caching: 'fresh' | 'hour' | 'immutable'
  /** Makes the text; to be kept by the caller. */
  format(): string
}

/** `text`: playlists of renditions, text tracks. `init`: clear bytes that are kept for good. */
export type SessionFile =
  | { kind: 'text'; text: TextResource }
  | { kind: 'key'; bytes: Uint8Array }
  | { kind: 'init'; bytes: Uint8Array; contentType: string }
  | { kind: 'segment'; segment: Segment }

/** One segment, ready to be read and sent. */
export interface Segment {
  /** Names its bytes for good. */
  etag: string
  contentType: string
  body: SegmentBody
  /** Where the body's ranges lie. */
  file: OpenFile
  /** Undefined: it is sent in the clear. */
  encryption: { key: Buffer; iv: Buffer } | undefined
  /** Rejects with `failed` where what was read may be of another recording. */
  checkUnchanged(this: void): Promise<void>
}

/** Key frames of a session. Lives on when the session is closed. */
export interface SessionFrames {
  /** Identity of the content: two sessions with one key have the same pictures. */
  key: string
  /** Number of key frames. */
  count: number
  /** A key frame; undefined where there is none of this number. */
  readKeyFrame(this: void, number: number): Promise<KeyFrame | undefined>
}
