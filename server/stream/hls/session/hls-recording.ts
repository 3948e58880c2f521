// One recording as HLS: its plan, key, init segments and segments.
import { identifyUrls } from '../../delivery/encryption.ts'
import type { HlsSettings, UrlIdentity } from '../../delivery/encryption.ts'
import { segmentBody } from '../../delivery/segment-body.ts'
import type { SegmentBody } from '../../delivery/segment-body.ts'
import { AppError } from '../../../base/errors.ts'
import { hasBytes } from '../../../media/index/growth-mark.ts'
import { INDEX_FORMAT } from '../../../media/index/index-files.ts'
import { durationSeconds, secondsFromTicks } from '../../../media/media-index.ts'
import type { MediaIndex } from '../../../media/media-index.ts'
import type { InitTrack, MediaReader } from '../../../media/media-reader.ts'
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import { formatInitSegment } from '../fmp4/init-segment.ts'
import { sumOf } from '../fmp4/slice-run.ts'
import { addBits, measureBandwidth } from '../playlist/bandwidth.ts'
import type { Bandwidth } from '../playlist/bandwidth.ts'
import { countRenditions, listRenditions } from '../playlist/renditions.ts'
import type { Renditions, SubtitleSidecar } from '../playlist/renditions.ts'
import {
  isOfSamples,
  MAIN,
  playlistFileName,
  segmentFileName,
  SOUND,
} from '../playlist/segment-names.ts'
import type {
  EncodedRendition,
  Rendition,
  SegmentForm,
  SegmentNumber,
} from '../playlist/segment-names.ts'
import type { PlannedSegment, SegmentPlan } from '../playlist/segment-plan.ts'
import { createSegment } from '../segment/create-segment.ts'
import type { SegmentRequest } from '../segment/create-segment.ts'
import { encodedBandwidth } from '../segment/encoded-video.ts'
import type { EncodedVideo } from '../segment/encoded-video.ts'
import { keyFramesOf } from '../segment/key-frame-runs.ts'
import { samplesIndex } from '../segment/planned-recording.ts'
import type { PlannedRecording } from '../segment/planned-recording.ts'
import { isTranscoded } from '../segment/recorded-audio.ts'
import { ownBytes } from '../segment/segment-bodies.ts'
import type { SegmentBodies } from '../segment/segment-bodies.ts'
import { divideTracks, servedInitTracks } from '../segment/served-tracks.ts'
import type { TranscodedAudio } from '../segment/transcoded-audio.ts'
import { EncodedRenditions } from './encoded-renditions.ts'
import type { EncodeContext } from './encoded-renditions.ts'

/** Bits per second of a transcoded track, with the overhead of its container. */
const TRANSCODED_BITS = 200_000

/** Caches that all recordings share. */
export interface SegmentCaches {
  bodies: SegmentBodies
  transcodedAudio: TranscodedAudio
  /** Default nothing is encoded. */
  encodedVideo?: EncodedVideo | undefined
}

/** A segment of a rendition. */
export interface SegmentAddress extends SegmentNumber, EncodeContext {
  rendition: Rendition
}

/** The init segment that applies from a segment on. */
export interface InitAddress extends EncodeContext {
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
  readonly form: SegmentForm
  readonly planned: PlannedRecording
  readonly #recorded: UrlIdentity
  /** Of renditions whose bytes depend on the encoder. */
  readonly #encoded: UrlIdentity | undefined
  /** Undefined if nothing is encoded. */
  readonly encodes: EncodedRenditions | undefined
  readonly #caches: SegmentCaches
  /** By the name of the rendition's playlist, as are the averages. */
  readonly #bandwidths = new Map<string, Promise<Bandwidth>>()
  readonly #averages = new Map<string, number>()
  #samples: PlannedRecording | 'none' | undefined

  constructor(planned: PlannedRecording, settings: HlsSettings, caches: SegmentCaches) {
    const { identity, index, reader } = planned
    this.planned = planned
    this.#caches = caches
    this.form = segmentForm(reader, index)
    // Other rules of the index cut other segments out of the same recording.
    const content = `${INDEX_FORMAT} ${identity} ${this.form}${this.#lacksAudio ? ' silent' : ''}`
    this.#recorded = identifyUrls(content, planned.session, settings)
    const { encodedVideo } = caches
    if (encodedVideo === undefined) return
    this.#encoded = identifyUrls(`${content} ${encodedVideo.version}`, planned.session, settings)
    this.encodes = new EncodedRenditions({
      encodedVideo,
      urlVersion: this.#encoded.urlVersion,
      recording: () => this.#sampled(),
      matches: async (file) => this.matches(file),
      checkUnchanged: async (file) => this.checkUnchanged(file),
    })
  }

  get urlVersion(): string {
    return this.#recorded.urlVersion
  }

  /** Encrypts the segments; undefined if they are sent in the clear. */
  get key(): Buffer | undefined {
    return this.#recorded.key
  }

  /** Version and key of a rendition. */
  identityOf({ kind }: Rendition): UrlIdentity {
    return kind === 'encoded' && this.#encoded ? this.#encoded : this.#recorded
  }

  /** That with a version; undefined if it is of another recording. */
  identityWith(urlVersion: string): UrlIdentity | undefined {
    return [this.#recorded, this.#encoded].find((each) => each?.urlVersion === urlVersion)
  }

  /** The tracks of the recording in the form of a rendition: its audio may be another codec. */
  tracksOf(rendition: Rendition): MediaIndex['tracks'] {
    return this.#sourceOf(rendition)?.index.tracks ?? []
  }

  /** Whether browsers cannot play the audio of a rendition as recorded. */
  hasTranscodedAudio(rendition: Rendition): boolean {
    return this.#transcodedOf(rendition).length > 0
  }

  /** Whether silence replaces audio here, in any rendition, that others would transcode. */
  get #lacksAudio(): boolean {
    const isTranscodedIn = (rendition: Rendition) => this.tracksOf(rendition).some(isTranscoded)
    return this.#caches.transcodedAudio.isSilent && [MAIN, SOUND].some(isTranscodedIn)
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

  /** The container of a rendition's segments. */
  formOf(rendition: Rendition): SegmentForm {
    return isOfSamples(rendition) ? 'fmp4' : this.form
  }

  /** The segments of a rendition that may be listed; none if the recording lacks the rendition. */
  planOf(rendition: Rendition): SegmentPlan {
    const { plan } = this
    return this.#sourceOf(rendition)?.plan ?? { ...plan, segments: [] }
  }

  /** Whether its tracks can be sent as the rendition. */
  has(rendition: Rendition): boolean {
    if (rendition.kind === 'encoded' && this.encodes?.has(rendition) !== true) return false
    return this.#sourceOf(rendition) !== undefined && this.#tracksOf(rendition) !== 'none'
  }

  /** The segment in the plan; undefined if another one has replaced it. */
  plannedSegment({ number, tailBytes, rendition }: SegmentAddress): PlannedSegment | undefined {
    const segment = this.planOf(rendition).segments[number]
    return segment?.tailBytes === tailBytes ? segment : undefined
  }

  /** The segment of the main rendition that has this number now. */
  async mainSegment(number: number, file: OpenFile): Promise<SegmentBody | undefined> {
    const tailBytes = this.plan.segments[number]?.tailBytes
    return this.segment({ number, tailBytes, rendition: MAIN }, file)
  }

  /** What there is to choose from; the audio as it is in a rendition. */
  renditions(sidecars: readonly SubtitleSidecar[], rendition: Rendition = MAIN): Renditions {
    const { index, growth } = this.planned
    const counts = growth?.counts ?? countRenditions(index)
    const tracks = this.tracksOf(rendition)
    return listRenditions({ ...index, tracks }, this.form, { counts, sidecars })
  }

  /** Bits per second of a rendition's segments; measured once. */
  async bandwidth(file: OpenFile, rendition = MAIN): Promise<Bandwidth> {
    if (rendition.kind === 'encoded') return encodedBits(rendition)
    const name = playlistFileName(rendition)
    const measured = this.#bandwidths.get(name) ?? this.#measure(rendition, file)
    this.#bandwidths.set(name, measured)
    measured.catch(() => this.#bandwidths.delete(name))
    return measured
  }

  async #measure(rendition: Rendition, file: OpenFile): Promise<Bandwidth> {
    const recorded = await measureBandwidth(this.planOf(rendition), async (number) =>
      this.#recordedBytes(rendition, number, file),
    )
    return addBits(recorded, this.#transcodedBits(rendition))
  }

  /**
   * Average bits per second of a rendition. That of the recording follows from its size, others
   * from one of the first two segments, which a visitor has loaded at about this time.
   */
  async averageBits(rendition: Rendition, file: OpenFile): Promise<number> {
    const { stat, index } = this.planned
    if (rendition.kind === 'encoded') return encodedBits(rendition).average
    if (rendition.kind === 'main') return (stat.sizeBytes * 8) / (durationSeconds(index) || 1)
    const name = playlistFileName(rendition)
    const known = this.#averages.get(name)
    if (known !== undefined) return known
    const { segments, timescale } = this.planOf(rendition)
    const ticks = segments.slice(0, 2).map(({ startTicks, endTicks }) => endTicks - startTicks)
    const longest = Math.max(...ticks, 1)
    const bits = (await this.#recordedBytes(rendition, ticks.indexOf(longest), file)) * 8
    const average = bits / secondsFromTicks(longest, timescale) + this.#transcodedBits(rendition)
    this.#averages.set(name, average)
    return average
  }

  /** Does not transcode: the bit rate of the encoder is known. */
  #transcodedBits(rendition: Rendition): number {
    return this.#transcodedOf(rendition).length * TRANSCODED_BITS
  }

  #transcodedOf(rendition: Rendition) {
    const source = this.#sourceOf(rendition)
    const tracks = this.#tracksOf(rendition)
    return source === undefined || tracks === 'none'
      ? []
      : divideTracks(source.index, tracks).transcoded
  }

  /** Bytes of a segment without transcoded audio. */
  async #recordedBytes(rendition: Rendition, number: number, file: OpenFile): Promise<number> {
    const plan = this.planOf(rendition)
    const { from = 0, to = 0, endTicks = 0, tailBytes, isGap } = plan.segments[number] ?? {}
    const source = this.#sourceOf(rendition)
    const tracks = this.#tracksOf(rendition)
    if (source === undefined || tracks === 'none' || from === to || isGap === true) return 0
    const { asRecorded, transcoded } = divideTracks(source.index, tracks)
    // The samples of MPEG-TS are in memory: they would replace other bodies in the cache.
    if (transcoded.length === 0 && !isOfSamples(rendition)) {
      const body = await this.segment({ number, tailBytes, rendition }, file)
      return body?.sizeBytes ?? 0
    }
    if (asRecorded.length === 0) return 0
    const range = { from, to, tracks: asRecorded }
    const content = await source.reader.readSegment(file, source.index, range)
    if (content.kind === 'ts') return segmentBody(content.parts).sizeBytes
    const endSeconds = secondsFromTicks(endTicks, plan.timescale)
    const runs = rendition.kind === 'saver' ? keyFramesOf(content.runs, endSeconds) : content.runs
    return runs.reduce((bytes, { sizes }) => bytes + sumOf(sizes), 0)
  }

  /** The init segment that a playlist lists before a segment; undefined if it lists none there. */
  async init(
    { segmentNumber, form, rendition, ...context }: InitAddress,
    file: OpenFile,
  ): Promise<Uint8Array | undefined> {
    const segment = this.planOf(rendition).segments[segmentNumber]
    if (form !== this.formOf(rendition) || segment === undefined) return undefined
    if (segmentNumber > 0 && !segment.followsDiscontinuity) return undefined
    if (!this.has(rendition)) return undefined
    const video = await this.#videoOf({ number: segmentNumber, rendition, ...context }, segment)
    if (video === 'none') return undefined
    const served = this.initTracks(rendition, segment)
    const initTracks = video && served ? [video.init, ...served] : served
    if (initTracks !== undefined) return formatInitSegment(initTracks)
    // RFC 8216 3.2: PAT and PMT. They are also at the start of every segment.
    const body = await this.mainSegment(segmentNumber, file)
    return ownBytes(body?.parts[0])
  }

  /** The tracks of a rendition from a segment on; undefined if they are sent as MPEG-TS. */
  initTracks(rendition: Rendition, { from }: PlannedSegment): InitTrack[] | undefined {
    const source = this.#sourceOf(rendition)
    const tracks = this.#tracksOf(rendition)
    if (source === undefined || tracks === 'none') return undefined
    return servedInitTracks(source, from, tracks)
  }

  /** The segment before encryption; undefined if there is no such segment. */
  async segment(address: SegmentAddress, file: OpenFile): Promise<SegmentBody | undefined> {
    const key = this.#keyOf(address, address.rendition)
    const { bodies } = this.#caches
    const cached = this.plannedSegment(address) && bodies.get(key)
    if (cached !== undefined) return cached
    const body = await this.createSegment(address, file)
    if (body !== undefined && body.isLasting !== false) bodies.set(key, body)
    return body
  }

  /** As `segment`, without the cache: for one that is read once. */
  async createSegment(address: SegmentAddress, file: OpenFile): Promise<SegmentBody | undefined> {
    const { number, rendition, signal } = address
    const range = this.plannedSegment(address)
    if (range === undefined || range.isGap === true) return undefined
    const source = this.#sourceOf(rendition)
    const tracks = this.#tracksOf(rendition)
    if (source === undefined || tracks === 'none') return undefined
    const audioKey = this.#keyOf(address, audioSource(rendition))
    const frames = rendition.kind === 'saver' ? ('key' as const) : ('all' as const)
    const video = await this.#videoOf(address, range)
    if (video === 'none') return undefined
    const selected = { audioKey, ...(tracks && { tracks }) }
    const request = { file, number, range, frames, signal, video, ...selected }
    return createSegment(source, request, this.#caches.transcodedAudio)
  }

  /** Encodes the video of a segment that is probably needed soon. */
  async encodeAhead(address: SegmentAddress): Promise<void> {
    const { rendition } = address
    const range = this.plannedSegment(address)
    if (rendition.kind !== 'encoded' || range === undefined || range.isGap === true) return
    await this.encodes?.encodeAhead({ ...address, rendition, range })
  }

  /** Video that replaces that of the recording; undefined for a rendition that is not encoded. */
  async #videoOf(address: SegmentAddress, range: PlannedSegment): Promise<EncodedSource> {
    const { rendition, number } = address
    if (rendition.kind !== 'encoded') return undefined
    const encodes = this.encodes
    const init = await encodes?.init(rendition, number, address)
    if (encodes === undefined || init === undefined) return 'none'
    return { init, encode: async () => encodes.encode({ ...address, rendition, range }) }
  }

  #keyOf(address: SegmentAddress, rendition: Rendition): string {
    const { urlVersion } = this.identityOf(rendition)
    return `${urlVersion}/${segmentFileName(address, this.formOf(rendition), rendition)}`
  }

  /** What a rendition is cut from; undefined if the recording cannot be sent in its form. */
  #sourceOf(rendition: Rendition): PlannedRecording | undefined {
    return isOfSamples(rendition) ? this.#sampled() : this.planned
  }

  /** In the form of fMP4. */
  #sampled(): PlannedRecording | undefined {
    if (this.form === 'fmp4') return this.planned
    this.#samples ??= asSamples(this.planned) ?? 'none'
    return this.#samples === 'none' ? undefined : this.#samples
  }

  /** Undefined for the default tracks. */
  #tracksOf(rendition: Rendition): readonly number[] | 'none' | undefined {
    if (rendition.kind === 'main') return undefined
    if (rendition.kind === 'subtitles') return 'none'
    const { audioTracks } = this.renditions([])
    const audio = audioTracks[rendition.number]
    const video = this.planned.index.tracks.findIndex(({ kind }) => kind === 'video')
    const hasVideo = rendition.kind === 'saver' || rendition.kind === 'encoded'
    if (hasVideo) {
      const isSilent = audioTracks.length === 0 && rendition.number === 0
      if (video === -1 || (audio === undefined && !isSilent)) return 'none'
    }
    if (rendition.kind === 'encoded') return audio === undefined ? [] : [audio.track]
    if (audio === undefined) return hasVideo ? [video] : 'none'
    return rendition.kind === 'audio' || video === -1 ? [audio.track] : [video, audio.track]
  }
}

/** The recording with segments of fMP4; undefined if that is impossible. */
function asSamples(planned: PlannedRecording): PlannedRecording | undefined {
  const index = samplesIndex(planned)
  return index && { ...planned, index, plan: planned.growth?.samplesPlan ?? planned.plan }
}

/** Video in place of that of the recording, or `none` if it cannot be encoded. */
type EncodedSource = SegmentRequest['video'] | 'none'

function encodedBits({ height }: EncodedRendition): Bandwidth {
  return addBits(encodedBandwidth(height), TRANSCODED_BITS)
}

/** The rendition whose transcoded audio another one has, too: it is transcoded and stored once. */
function audioSource(rendition: Rendition): Rendition {
  if (!isOfSamples(rendition) || !('number' in rendition)) return rendition
  return rendition.number === 0 ? MAIN : { kind: 'audio', number: rendition.number }
}
