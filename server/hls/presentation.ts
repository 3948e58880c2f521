// One recording as HLS: its playlist, key, inits and segments. Answers are functions of index, settings and bytes alone.
import { LRUCache } from 'lru-cache'
import type { SessionReference } from '../../shared/paths.ts'
import type { CutRange, MediaIndex } from '../media/media-index.ts'
import type { MediaReader } from '../media/media-reader.ts'
import type { OpenFile } from '../storage/storage.ts'
import { deriveSessionKey, formatUrlVersion } from './encryption.ts'
import type { HlsSettings } from './encryption.ts'
import { formatInitSegment } from './fmp4/init-segment.ts'
import { formatMediaSegment } from './fmp4/media-segment.ts'
import { formatPlaylist } from './playlist.ts'
import type { SegmentForm } from './playlist.ts'
import { segmentBody } from './segment-body.ts'
import type { SegmentBody } from './segment-body.ts'
import { planSegments } from './segment-plan.ts'
import type { SegmentPlan } from './segment-plan.ts'

/** A recording that was indexed, and whose bytes may be read. */
export interface IndexedRecording {
  session: SessionReference
  identity: string
  index: MediaIndex
  reader: MediaReader
}

/** Segment bodies that are kept, in parts: a part is about 100 bytes, a segment has some hundreds. */
const MAX_KEPT_PARTS = 400_000

/** Finished bodies of all recordings, by URL version and segment number. */
export type SegmentBodies = LRUCache<string, SegmentBody>

export function createSegmentBodies(): SegmentBodies {
  return new LRUCache({ maxSize: MAX_KEPT_PARTS, sizeCalculation: (body) => body.parts.length + 1 })
}

export class Presentation {
  readonly urlVersion: string
  readonly form: SegmentForm
  readonly recording: IndexedRecording
  /** The segments' key; undefined where they are sent in the clear. */
  readonly key: Buffer | undefined
  readonly #plan: SegmentPlan
  readonly #bodies: SegmentBodies

  constructor(recording: IndexedRecording, settings: HlsSettings, bodies: SegmentBodies) {
    const { session, identity, index, reader } = recording
    this.recording = recording
    this.#bodies = bodies
    this.#plan = planSegments(index.cuts, settings.segmentSeconds)
    this.urlVersion = formatUrlVersion(identity, settings)
    this.form = reader.initTracks(index, 0) === undefined ? 'ts' : 'fmp4'
    this.key =
      settings.encryption === 'none'
        ? undefined
        : deriveSessionKey(settings.secret, session, identity)
  }

  /** The playlist's text. */
  playlist(): string {
    return formatPlaylist(this.#plan, {
      urlVersion: this.urlVersion,
      form: this.form,
      encryption: this.key === undefined ? 'none' : 'aes-128',
    })
  }

  /** The init segment that the playlist names in front of a segment; undefined where it names none. */
  init(segmentNumber: number): Uint8Array | undefined {
    const segment = this.#plan.segments[segmentNumber]
    if (segment === undefined || (segmentNumber > 0 && !segment.isBreak)) return undefined
    const { reader, index } = this.recording
    const tracks = reader.initTracks(index, segment.from)
    return tracks === undefined ? undefined : formatInitSegment(tracks)
  }

  /** What a segment is made of, before encryption; undefined where there is no such segment. */
  async segment(number: number, file: OpenFile): Promise<SegmentBody | undefined> {
    const range = this.#plan.segments[number]
    if (range === undefined) return undefined
    const key = `${this.urlVersion}/${number}`
    const kept = this.#bodies.get(key)
    if (kept !== undefined) return kept
    const body = await this.#makeSegment(number, range, file)
    this.#bodies.set(key, body)
    return body
  }

  async #makeSegment(number: number, range: CutRange, file: OpenFile): Promise<SegmentBody> {
    const { reader, index } = this.recording
    const content = await reader.readSegment(file, index, range)
    if (content.kind === 'ts') return segmentBody(content.parts)
    return segmentBody(formatMediaSegment(content.runs, number + 1))
  }
}
