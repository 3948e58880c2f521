// One recording as HLS: its plan, key, init segments and segments.
import { deriveSegmentKey, formatUrlVersion } from '../../delivery/encryption.ts'
import type { HlsSettings } from '../../delivery/encryption.ts'
import { segmentBody } from '../../delivery/segment-body.ts'
import type { SegmentBody } from '../../delivery/segment-body.ts'
import { AppError } from '../../../base/errors.ts'
import { hasBytes } from '../../../media/index/growth-mark.ts'
import { INDEX_FORMAT } from '../../../media/index/index-files.ts'
import { secondsFromTicks } from '../../../media/media-index.ts'
import type { MediaIndex } from '../../../media/media-index.ts'
import type { MediaReader, SegmentContent } from '../../../media/media-reader.ts'
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import { formatInitSegment } from '../fmp4/init-segment.ts'
import { addBits, measureBandwidth } from '../playlist/bandwidth.ts'
import type { Bandwidth } from '../playlist/bandwidth.ts'
import { countRenditions, listRenditions } from '../playlist/renditions.ts'
import type { Renditions, SubtitleSidecar } from '../playlist/renditions.ts'
import { MAIN, segmentFileName } from '../playlist/segment-names.ts'
import type { Rendition, SegmentForm, SegmentNumber } from '../playlist/segment-names.ts'
import type { PlannedSegment, SegmentPlan } from '../playlist/segment-plan.ts'
import { createSegment } from '../segment/create-segment.ts'
import type { PlannedRecording } from '../segment/planned-recording.ts'
import { ownBytes } from '../segment/segment-bodies.ts'
import type { SegmentBodies } from '../segment/segment-bodies.ts'
import { divideTracks, servedInitTracks } from '../segment/served-tracks.ts'
import type { TranscodedAudio } from '../segment/transcoded-audio.ts'

/** Bits per second of a transcoded track, with the overhead of its container. */
const TRANSCODED_BITS = 200_000

/** Caches that all recordings share. */
export interface SegmentCaches {
  bodies: SegmentBodies
  transcodedAudio: TranscodedAudio
}

/** A segment of a rendition. */
export interface SegmentAddress extends SegmentNumber {
  rendition: Rendition
  /** Aborted when the request is abandoned. */
  signal?: AbortSignal | undefined
}

/** The init segment that applies from a segment on. */
export interface InitAddress {
  segmentNumber: number
  form: SegmentForm
  rendition: Rendition
}

/** The container of a recording's segments. */
export function segmentForm(reader: MediaReader, index: MediaIndex): SegmentForm {
  return servedInitTracks({ reader, index }, 0) === undefined ? 'ts' : 'fmp4'
}

/** One recording as HLS. All results depend only on its index, its bytes and the settings. */
export class HlsRecording {
  readonly urlVersion: string
  readonly form: SegmentForm
  readonly planned: PlannedRecording
  /** Encrypts the segments; undefined if they are sent in the clear. */
  readonly key: Buffer | undefined
  readonly #caches: SegmentCaches
  #bandwidth: Promise<Bandwidth> | undefined

  constructor(planned: PlannedRecording, settings: HlsSettings, caches: SegmentCaches) {
    const { session, identity, index, reader } = planned
    this.planned = planned
    this.#caches = caches
    this.form = segmentForm(reader, index)
    // Other rules of the index cut other segments out of the same recording.
    const content = `${INDEX_FORMAT} ${identity} ${this.form}${this.#lacksAudio ? ' silent' : ''}`
    this.urlVersion = formatUrlVersion(content, settings)
    this.key =
      settings.encryption === 'none'
        ? undefined
        : deriveSegmentKey(settings.secret, session, this.urlVersion)
  }

  /** Whether browsers cannot play its audio as recorded. */
  get hasTranscodedAudio(): boolean {
    return divideTracks(this.planned.index).transcoded.length > 0
  }

  /** Whether silence replaces audio here that another installation would transcode. */
  get #lacksAudio(): boolean {
    return this.#caches.transcodedAudio.isSilent && this.hasTranscodedAudio
  }

  get plan(): SegmentPlan {
    return this.planned.plan
  }

  /** Duration of all segments that are listed. */
  get listedSeconds(): number {
    const { segments, timescale } = this.plan
    return secondsFromTicks(segments.at(-1)?.endTicks ?? 0, timescale)
  }

  /** Whether this is the indexed file; if it is growing, whether it still has all listed bytes. */
  async matches(file: OpenFile): Promise<boolean> {
    const { stat, growth } = this.planned
    if (file.stat.version === stat.version) return true
    return growth?.isGrowing === true && hasBytes(file, growth.tail)
  }

  /** Rejects with `failed` if the file has changed since it was opened, other than by appending. */
  async checkUnchanged(file: OpenFile): Promise<void> {
    const { growth } = this.planned
    if (growth?.isGrowing !== true) return file.checkUnchanged()
    if (!(await hasBytes(file, growth.tail))) {
      throw new AppError('failed', 'the recording changed while it was read')
    }
  }

  /** The segment in the plan; undefined if another one has replaced it. */
  plannedSegment({ number, tailBytes }: SegmentNumber): PlannedSegment | undefined {
    const segment = this.plan.segments[number]
    return segment?.tailBytes === tailBytes ? segment : undefined
  }

  /** The segment of the main rendition that has this number now. */
  async mainSegment(number: number, file: OpenFile): Promise<SegmentBody | undefined> {
    const tailBytes = this.plan.segments[number]?.tailBytes
    return this.segment({ number, tailBytes, rendition: MAIN }, file)
  }

  renditions(sidecars: readonly SubtitleSidecar[]): Renditions {
    const { index, growth } = this.planned
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

  /** Does not transcode: the bit rate of the encoder is known. */
  async #measure(file: OpenFile): Promise<Bandwidth> {
    const { reader, index } = this.planned
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

  /** The init segment that a playlist lists before a segment; undefined if it lists none there. */
  async init(
    { segmentNumber, form, rendition }: InitAddress,
    file: OpenFile,
  ): Promise<Uint8Array | undefined> {
    const segment = this.plan.segments[segmentNumber]
    if (form !== this.form || segment === undefined) return undefined
    if (segmentNumber > 0 && !segment.followsDiscontinuity) return undefined
    const tracks = this.#tracksOf(rendition)
    if (tracks === 'none') return undefined
    const initTracks = servedInitTracks(this.planned, segment.from, tracks)
    if (initTracks !== undefined) return formatInitSegment(initTracks)
    // RFC 8216 3.2: PAT and PMT. They are also at the start of every segment.
    const body = await this.mainSegment(segmentNumber, file)
    return ownBytes(body?.parts[0])
  }

  /** The segment before encryption; undefined if there is no such segment. */
  async segment(
    { number, tailBytes, rendition, signal }: SegmentAddress,
    file: OpenFile,
  ): Promise<SegmentBody | undefined> {
    const range = this.plannedSegment({ number, tailBytes })
    if (range === undefined || range.isGap === true) return undefined
    const name = segmentFileName({ number, tailBytes }, this.form, rendition)
    const key = `${this.urlVersion}/${name}`
    const { bodies, transcodedAudio } = this.#caches
    const cached = bodies.get(key)
    if (cached !== undefined) return cached
    const tracks = this.#tracksOf(rendition)
    if (tracks === 'none') return undefined
    const request = { file, number, range, key, signal, ...(tracks && { tracks }) }
    const body = await createSegment(this.planned, request, transcodedAudio)
    if (body.isLasting !== false) bodies.set(key, body)
    return body
  }

  /** Undefined for the default tracks. */
  #tracksOf(rendition: Rendition): readonly number[] | 'none' | undefined {
    if (rendition.kind === 'main') return undefined
    if (rendition.kind === 'subtitles') return 'none'
    const audio = this.renditions([]).audioTracks[rendition.number]
    if (audio === undefined) return 'none'
    if (rendition.kind === 'audio') return [audio.track]
    const video = this.planned.index.tracks.findIndex(({ kind }) => kind === 'video')
    return video === -1 ? [audio.track] : [video, audio.track]
  }
}

function contentBytes(content: SegmentContent): number {
  if (content.kind === 'ts') return segmentBody(content.parts).sizeBytes
  return content.runs.reduce(
    (sum, { sizes }) => sizes.reduce((bytes, size) => bytes + size, sum),
    0,
  )
}
