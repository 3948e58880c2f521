// One recording as HLS: its plan, key, inits and segments. Answers are functions of index, settings and bytes alone.
import { LRUCache } from 'lru-cache'
import { AppError } from '../../errors.ts'
import { hasBytes } from '../../media/index/growth-mark.ts'
import { durationSeconds, secondsFromTicks } from '../../media/media-index.ts'
import type { MediaIndex } from '../../media/media-index.ts'
import type { MediaReader, Part, SegmentContent } from '../../media/media-reader.ts'
import type { OpenFile } from '../../storage/storage.ts'
import { addBits, measureBandwidth } from '../playlist/bandwidth.ts'
import type { Bandwidth } from '../playlist/bandwidth.ts'
import { deriveSessionKey, formatUrlVersion } from '../../delivery/encryption.ts'
import type { HlsSettings } from '../../delivery/encryption.ts'
import { fillTracks } from '../segment/fill-tracks.ts'
import { formatInitSegment } from '../fmp4/init-segment.ts'
import { formatMediaSegment } from '../fmp4/media-segment.ts'
import type { IndexedRecording } from '../playlist/indexed-recording.ts'
import { countRenditions, listRenditions } from '../playlist/renditions.ts'
import type { Renditions, SubtitleSidecar } from '../playlist/renditions.ts'
import { MAIN, segmentFileName } from '../playlist/segment-names.ts'
import type { Rendition, SegmentForm, SegmentNumber } from '../playlist/segment-names.ts'
import { segmentBody } from '../../delivery/segment-body.ts'
import type { SegmentBody } from '../../delivery/segment-body.ts'
import { segmentFilling } from '../segment/segment-filling.ts'
import type { PlannedSegment, SegmentPlan } from '../playlist/segment-plan.ts'
import { divideTracks, readServedSegment, servedInitTracks } from '../segment/served-tracks.ts'
import type { ServedSegment } from '../segment/served-tracks.ts'
import type { TranscodedAudioTracks } from '../segment/transcoded-audio.ts'

/** Memory of the segment bodies that are kept. */
const MAX_CACHED_BYTES = 48 * 1024 * 1024
/** Bits per second of sound that is transcoded, and what it takes to pack it. */
const TRANSCODED_BITS = 200_000
/** What a part takes beside bytes of its own. */
const PART_BYTES = 100

/** Finished bodies of all recordings, by URL version and segment number. */
export type SegmentBodies = LRUCache<string, SegmentBody>

/** What the presentations of all recordings share. */
export interface SharedSegments {
  bodies: SegmentBodies
  audioTracks: TranscodedAudioTracks
}

export function createSegmentBodies(): SegmentBodies {
  return new LRUCache({ maxSize: MAX_CACHED_BYTES, sizeCalculation: memoryBytes })
}

function memoryBytes({ parts }: SegmentBody): number {
  return parts.reduce((sum, part) => sum + PART_BYTES + ownBytes(part).length, PART_BYTES)
}

function contentBytes(content: SegmentContent): number {
  if (content.kind === 'ts') return segmentBody(content.parts).sizeBytes
  return content.runs.reduce(
    (sum, { sizes }) => sizes.reduce((bytes, size) => bytes + size, sum),
    0,
  )
}

function ownBytes(part: Part | undefined): Uint8Array {
  return part?.kind === 'bytes' ? part.bytes : new Uint8Array(0)
}

/** One segment of a rendition. */
export interface SegmentPlace extends SegmentNumber {
  rendition: Rendition
}

/** What holds from a segment on. */
export interface InitPlace {
  segmentNumber: number
  form: SegmentForm
  rendition: Rendition
}

/** What a recording's segments are. */
export function segmentForm(reader: MediaReader, index: MediaIndex): SegmentForm {
  return servedInitTracks({ reader, index }, 0) === undefined ? 'ts' : 'fmp4'
}

export class Presentation {
  readonly urlVersion: string
  readonly form: SegmentForm
  readonly recording: IndexedRecording
  readonly plan: SegmentPlan
  /** The segments' key; undefined where they are sent in the clear. */
  readonly key: Buffer | undefined
  readonly #shared: SharedSegments
  #bandwidth: Promise<Bandwidth> | undefined

  constructor(recording: IndexedRecording, settings: HlsSettings, shared: SharedSegments) {
    const { session, identity, index, reader, plan } = recording
    this.recording = recording
    this.#shared = shared
    this.plan = plan
    this.urlVersion = formatUrlVersion(identity, settings)
    this.form = segmentForm(reader, index)
    this.key =
      settings.encryption === 'none'
        ? undefined
        : deriveSessionKey(settings.secret, session, identity)
  }

  /** Seconds from the first picture or sound to the last. */
  get durationSeconds(): number {
    return durationSeconds(this.recording.index)
  }

  /** Seconds of all segments that are listed. */
  get listedSeconds(): number {
    const { segments, timescale } = this.plan
    return secondsFromTicks(segments.at(-1)?.endTicks ?? 0, timescale)
  }

  /** Whether this is the file that was indexed; of one that grows, whether all that was listed is still there. */
  async isOf(file: OpenFile): Promise<boolean> {
    const { stat, growth } = this.recording
    const { sizeBytes, modifiedMs } = file.stat
    if (sizeBytes === stat.sizeBytes && modifiedMs === stat.modifiedMs) return true
    return growth !== undefined && hasBytes(file, growth.tail)
  }

  /** Rejects with `failed` where the file has changed since it was opened, but for what was appended. */
  async checkUnchanged(file: OpenFile): Promise<void> {
    const { growth } = this.recording
    if (growth === undefined) return file.checkUnchanged()
    if (!(await hasBytes(file, growth.tail))) {
      throw new AppError('failed', 'the recording changed while it was read')
    }
  }

  /** A segment as it was listed; undefined where another stands in its place now. */
  plannedSegment({ number, tailBytes }: SegmentNumber): PlannedSegment | undefined {
    const segment = this.plan.segments[number]
    return segment?.tailBytes === tailBytes ? segment : undefined
  }

  /** A segment of pictures, by its number alone. */
  async mainSegment(number: number, file: OpenFile): Promise<SegmentBody | undefined> {
    const tailBytes = this.plan.segments[number]?.tailBytes
    return this.segment({ number, tailBytes, rendition: MAIN }, file)
  }

  /** The sounds and texts that it is offered with. */
  renditions(sidecars: readonly SubtitleSidecar[]): Renditions {
    const { index, growth } = this.recording
    const counts = growth?.counts ?? countRenditions(index)
    return listRenditions(index, this.form, { counts, sidecars })
  }

  /** Bits per second of the segments; measured once. */
  async bandwidth(file: OpenFile): Promise<Bandwidth> {
    this.#bandwidth ??= this.#measure(file).catch((error: unknown) => {
      this.#bandwidth = undefined
      throw error
    })
    return this.#bandwidth
  }

  /** Sound that is transcoded is not made for this: its encoder's rate is known. */
  async #measure(file: OpenFile): Promise<Bandwidth> {
    const { reader, index } = this.recording
    const { asRecorded, transcoded } = divideTracks(index)
    if (transcoded.length === 0) {
      return measureBandwidth(this.plan, async (number) => {
        const body = await this.mainSegment(number, file)
        return body?.sizeBytes ?? 0
      })
    }
    const recorded = await measureBandwidth(this.plan, async (number) => {
      const { from = 0, to = 0 } = this.plan.segments[number] ?? {}
      if (asRecorded.length === 0 || from === to) return 0
      const range = { from, to, tracks: asRecorded }
      return contentBytes(await reader.readSegment(file, index, range))
    })
    return addBits(recorded, transcoded.length * TRANSCODED_BITS)
  }

  /** The init segment that a playlist names in front of a segment; undefined where it names none. */
  async init(
    { segmentNumber, form, rendition }: InitPlace,
    file: OpenFile,
  ): Promise<Uint8Array | undefined> {
    const segment = this.plan.segments[segmentNumber]
    if (form !== this.form || segment === undefined) return undefined
    if (segmentNumber > 0 && !segment.isBreak) return undefined
    const tracks = this.#tracksOf(rendition)
    if (tracks === 'none') return undefined
    const initTracks = servedInitTracks(this.recording, segment.from, tracks)
    if (initTracks !== undefined) return formatInitSegment(initTracks)
    // RFC 8216 3.2: PAT and PMT. They stand in front of every segment as well.
    const body = await this.mainSegment(segmentNumber, file)
    return ownBytes(body?.parts[0])
  }

  /** What a segment is made of, before encryption; undefined where there is no such segment. */
  async segment(
    { number, tailBytes, rendition }: SegmentPlace,
    file: OpenFile,
  ): Promise<SegmentBody | undefined> {
    const range = this.plannedSegment({ number, tailBytes })
    if (range === undefined) return undefined
    const name = segmentFileName({ number, tailBytes }, this.form, rendition)
    const key = `${this.urlVersion}/${name}`
    const kept = this.#shared.bodies.get(key)
    if (kept !== undefined) return kept
    const tracks = this.#tracksOf(rendition)
    if (tracks === 'none') return undefined
    const body = await this.#makeSegment(number, { file, range, key, ...(tracks && { tracks }) })
    this.#shared.bodies.set(key, body)
    return body
  }

  /** Undefined: those that are sent unasked. */
  #tracksOf(rendition: Rendition): readonly number[] | 'none' | undefined {
    if (rendition.kind === 'main') return undefined
    if (rendition.kind === 'text') return 'none'
    const audio = this.renditions([]).audioTracks[rendition.number]
    return audio === undefined ? 'none' : [audio.track]
  }

  async #makeSegment(
    number: number,
    segment: ServedSegment & { range: PlannedSegment },
  ): Promise<SegmentBody> {
    const content = await readServedSegment(this.recording, segment, this.#shared.audioTracks)
    if (content.kind === 'ts') return segmentBody(content.parts)
    const { startTicks, endTicks, isBreak } = segment.range
    const filling = segmentFilling({ ...segment, recording: this.recording, number })
    const runs = await fillTracks(content.runs, filling, {
      startSeconds: secondsFromTicks(startTicks, this.plan.timescale),
      endSeconds: secondsFromTicks(endTicks, this.plan.timescale),
      start: number === 0 || isBreak ? 'new' : 'joined',
    })
    return segmentBody(formatMediaSegment(runs, number + 1))
  }
}
