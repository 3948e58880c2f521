// The encoded renditions of one recording: requests for their formats and segments.
import { AppError } from '../../../base/errors.ts'
import { ENCODED_CODEC, MAX_JOB_SECONDS } from '../../../decode/video/video-job.ts'
import type { VideoTrack } from '../../../media/media-index.ts'
import type { InitTrack } from '../../../media/media-reader.ts'
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import { longestSeconds } from '../playlist/media-playlist.ts'
import { initFileName, segmentFileName } from '../playlist/segment-names.ts'
import type { EncodedRendition, SegmentNumber } from '../playlist/segment-names.ts'
import type { PlannedSegment } from '../playlist/segment-plan.ts'
import type { EncodedRun, EncodedVideo, FormatRequest } from '../segment/encoded-video.ts'
import type { PlannedRecording } from '../segment/planned-recording.ts'

/** Of a request for something that may have to be encoded. */
export interface EncodeContext {
  /** Opens the recording: encoding may take longer than the request. */
  open?: ((this: void) => Promise<OpenFile>) | undefined
  /** Aborted when the request is abandoned. */
  signal?: AbortSignal | undefined
}

/** A segment of an encoded rendition. */
export interface EncodedAddress extends SegmentNumber, EncodeContext {
  rendition: EncodedRendition
  range: PlannedSegment
}

export interface EncodedRenditionsOptions {
  encodedVideo: EncodedVideo
  /** Identifies the recording, the settings and the encoder. */
  urlVersion: string
  /** In the form of fMP4, with what may be listed; undefined if it has no such form. */
  recording(this: void): PlannedRecording | undefined
  matches(this: void, file: OpenFile): Promise<boolean>
  checkUnchanged(this: void, file: OpenFile): Promise<void>
}

export class EncodedRenditions {
  readonly #options: EncodedRenditionsOptions

  constructor(options: EncodedRenditionsOptions) {
    this.#options = options
  }

  /** Whether its segments can be encoded, as far as the plan says. */
  has({ height }: EncodedRendition): boolean {
    const { encodedVideo, recording } = this.#options
    const plan = recording()?.plan
    if (plan === undefined || !encodedVideo.heights.includes(height)) return false
    return longestSeconds(plan) <= MAX_JOB_SECONDS
  }

  /**
   * Codec and size of the first segments' video; undefined if it cannot be encoded.
   *
   * @throws as `EncodedVideo.format`
   */
  async track(
    rendition: EncodedRendition,
    context: EncodeContext,
  ): Promise<VideoTrack | undefined> {
    const request = this.#formatRequest(rendition, 0, context)
    const format = request && (await this.#options.encodedVideo.format(request))
    if (format === undefined) return undefined
    const { width, height } = format
    return {
      kind: 'video',
      codec: ENCODED_CODEC,
      codecName: 'H.264',
      width,
      height,
      rotationDegrees: 0,
    }
  }

  /** The init track that applies to a segment. @throws as `EncodedVideo.format` */
  async init(
    rendition: EncodedRendition,
    segmentNumber: number,
    context: EncodeContext,
  ): Promise<InitTrack | undefined> {
    const { encodedVideo } = this.#options
    const request = this.#formatRequest(rendition, segmentNumber, context)
    const format = request && (await encodedVideo.format(request))
    return format && request && encodedVideo.initTrack(request, format)
  }

  /** @throws as `EncodedVideo.encode` */
  async encode(address: EncodedAddress): Promise<EncodedRun> {
    const request = this.#segmentRequest(address)
    if (request === undefined) throw new AppError('not_found', 'there is no such segment')
    return this.#options.encodedVideo.encode(request)
  }

  /** Encodes a segment that is probably needed soon. @throws as `EncodedVideo.encode` */
  async encodeAhead(address: EncodedAddress): Promise<void> {
    const request = this.#segmentRequest(address)
    if (request !== undefined) await this.#options.encodedVideo.encodeAhead(request)
  }

  #segmentRequest({ rendition, range, ...address }: EncodedAddress) {
    const request = this.#formatRequest(rendition, address.number, address)
    if (request === undefined) return undefined
    const file = { ...request.initFile, name: segmentFileName(address, 'fmp4', rendition) }
    return { ...request, range, name: segmentFileName(address, 'fmp4'), file }
  }

  /** Of the init segment that applies to a segment. */
  #formatRequest(
    rendition: EncodedRendition,
    segmentNumber: number,
    { open, signal }: EncodeContext,
  ): FormatRequest | undefined {
    const { height } = rendition
    const recording = this.#options.recording()
    if (recording === undefined || open === undefined) return undefined
    const { segments } = recording.plan
    let first = segmentNumber
    while (first > 0 && segments[first]?.followsDiscontinuity !== true) first -= 1
    const splitPoint = segments[first]?.from
    if (splitPoint === undefined) return undefined
    const { urlVersion, checkUnchanged } = this.#options
    const source = { recording, open: async () => this.#openMatching(open), checkUnchanged }
    const name = initFileName(first, 'fmp4', rendition)
    const initFile = { session: recording.session, version: urlVersion, name }
    return { source, height, initFile, key: `${urlVersion}/${height}`, splitPoint, signal }
  }

  async #openMatching(open: () => Promise<OpenFile>): Promise<OpenFile> {
    const file = await open()
    try {
      if (await this.#options.matches(file)) return file
      throw new AppError('gone', 'the recording was replaced')
    } catch (error) {
      await file.close()
      throw error
    }
  }
}
