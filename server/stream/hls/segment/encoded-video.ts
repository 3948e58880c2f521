// Video of a smaller height as H.264: the format of a rendition, and its frames in each segment.
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { withTimeout } from '../../../../shared/with-timeout.ts'
import type { TimeLimit } from '../../../../shared/with-timeout.ts'
import type { SessionReference } from '../../../../shared/paths.ts'
import type { Charged, EncodeSlots, SlotRequest } from '../../../base/admission/encode-slots.ts'
import { SharedWork } from '../../../base/admission/shared-work.ts'
import { WantedWork } from '../../../base/admission/wanted-work.ts'
import type { Wanted, WantedRequest } from '../../../base/admission/wanted-work.ts'
import { AppError } from '../../../base/errors.ts'
import type { EncoderResult, VideoEncoder } from '../../../decode/video/video-encoder.ts'
import { ENCODE_FORMAT } from '../../../decode/video/video-job.ts'
import type { EncodedFormat, EncodedFrames } from '../../../decode/video/video-job.ts'
import { pixelAspectOf, videoConfig } from '../../../media/codec/sample-entry.ts'
import {
  SPLIT_DISCONTINUITY,
  SPLIT_KEY_FRAME,
  secondsFromTicks,
} from '../../../media/media-index.ts'
import type { InitTrack, SampleRun } from '../../../media/media-reader.ts'
import type { CachedFile, ClaimedCache } from '../../../storage/artifacts/claimed-cache.ts'
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import type { Bandwidth } from '../playlist/bandwidth.ts'
import type { Height } from '../playlist/segment-names.ts'
import type { PlannedSegment } from '../playlist/segment-plan.ts'
import type { PlannedRecording } from './planned-recording.ts'
import { readRecordedVideo, videoInitOf } from './recorded-video.ts'
import { packFormat, packFrames, unpackFormat, unpackFrames } from './video-artifact.ts'

/** What the video of each height has at most in bits per second. */
const MAX_BITS: Record<Height, number> = { 360: 900_000, 480: 1_500_000, 720: 3_000_000 }

/** Bits per second of a segment, relative to that limit, which applies to two seconds. */
const PEAK = 1.5
const MEAN = 0.6
/** Longest wait of a request, which then gets 503. Encoding continues. */
const WAIT_MS = 8500
/** Encoded video in memory: what several visitors watch at the same time. */
const MAX_CACHED_BYTES = 32 * 1024 * 1024
const MAX_FORMATS = 1000
/** An encoder may be killed by its time limit under load. After these tries, a segment waits. */
const MAX_TRIES = 3
const RETRY_MS = 60_000
/** Key frames that are tried for the format. */
const MAX_KEY_FRAMES_TRIED = 8

/** A file of a rendition, by its URL. */
export interface EncodedFile {
  session: SessionReference
  version: string
  name: string
}

/** Nodes of a cluster that encode for those that serve. */
export interface EncodingNodes {
  /**
   * Whether they encode. If somebody waits for the file, resolves when one of them has added it to
   * the artifacts, unless it could not; then this node has to encode it.
   *
   * @throws AppError `busy` if they are; the signal's reason
   */
  encode(file: EncodedFile, request: { isWanted: boolean; signal: AbortSignal }): Promise<boolean>
}

export interface EncodedVideoOptions {
  encoder: VideoEncoder
  heights: readonly Height[]
  slots: EncodeSlots
  cache: ClaimedCache
  /** Of formats. */
  formatCache: ClaimedCache
  /** Default none: this node encodes. */
  nodes?: EncodingNodes | undefined
  /** Identifies the package with the encoder, and the machine that it is built for. */
  encoderVersion: string
  log: { warn(details: object, message: string): void }
  /** Longest wait of a request, which then gets 503. Default 8.5 s. */
  waitMs?: number
  /** Aborted on shutdown. */
  signal: AbortSignal
}

/** A recording whose file is opened when it is needed, maybe after its request has ended. */
export interface VideoSource {
  recording: PlannedRecording
  /** @throws AppError `gone` if it is another recording; `not_found`, `busy`, `failed` */
  open(this: void): Promise<OpenFile>
  /** Rejects with `failed` if the file has changed since it was opened. */
  checkUnchanged(this: void, file: OpenFile): Promise<void>
}

/** The rendition of a recording. */
export interface FormatRequest {
  source: VideoSource
  height: Height
  /** Identifies the recording, the settings, the encoder and the rendition. */
  key: string
  /** Where the init segment is. */
  splitPoint: number
  /** The init segment. */
  initFile: EncodedFile
  /** Aborted when the request is abandoned. */
  signal?: AbortSignal | undefined
}

/** A segment of the rendition. */
export interface VideoRequest extends FormatRequest {
  range: PlannedSegment
  /** Default `wanted`. */
  as?: WantedRequest<unknown>['as']
  /** Identifies the segment in the rendition. */
  name: string
  file: EncodedFile
}

export interface EncodedRun extends SampleRun {
  /** False: other nodes may send other video (`ClaimedBytes`). */
  isLasting: boolean
}

/** Cache of encoded video. Coalesces equal requests. */
export class EncodedVideo {
  readonly heights: readonly Height[]
  /** Part of the URLs: other encoders have other bytes. */
  readonly version: string
  readonly #options: EncodedVideoOptions
  readonly #formats = new LRUCache<string, EncodedFormat | 'none'>({ max: MAX_FORMATS })
  readonly #sharedFormats = new SharedWork<EncodedFormat | 'none'>()
  readonly #cached = new LRUCache<string, EncodedFrames>({
    maxSize: MAX_CACHED_BYTES,
    sizeCalculation: ({ bytes, sizes }) => bytes.length + sizes.length * 12,
  })
  readonly #encodes = new WantedWork<StoredFrames>()
  readonly #failedTries = new LRUCache<string, number>({
    max: MAX_FORMATS,
    ttl: RETRY_MS,
    ttlResolution: 0,
    perf: { now: () => performance.now() },
  })
  readonly #timeLimit: TimeLimit
  #spentMs = 0

  constructor(options: EncodedVideoOptions) {
    this.#options = options
    this.heights = options.heights
    this.version = `encoded ${ENCODE_FORMAT} ${options.encoderVersion}`
    const reason = () => new AppError('busy', 'the video is being encoded; try again in a moment')
    this.#timeLimit = { timeoutMs: options.waitMs ?? WAIT_MS, reason }
  }

  /** Processor time of this process's jobs so far. */
  get spentMs(): number {
    return this.#spentMs
  }

  /**
   * What all segments from an init segment on have in common. Undefined if no key frame can be
   * decoded, or the video is HDR.
   *
   * @throws AppError `busy` if the encoder is, or fails; `failed`, and the signal's reason
   */
  async format(request: FormatRequest): Promise<EncodedFormat | undefined> {
    const key = `${request.key}/${request.splitPoint}`
    const known = this.#formats.get(key)
    const signal = request.signal ?? this.#options.signal
    const find = async (): Promise<EncodedFormat | 'none'> =>
      this.#sharedFormats.join(key, signal, async (abandoned) => {
        const found = await this.#findFormat(key, request, abandoned)
        this.#formats.set(key, found)
        return found
      })
    const format = known ?? (await withTimeout(find, this.#timeLimit))
    return format === 'none' ? undefined : format
  }

  /** The init track of a format. */
  initTrack(
    { source: { recording }, splitPoint }: FormatRequest,
    format: EncodedFormat,
  ): InitTrack {
    const sample = videoConfig('h264', format)
    const timescale = videoInitOf(recording, splitPoint)?.timescale
    if (sample === undefined || timescale === undefined) throw notEncoded()
    const { width, height } = format
    return { kind: 'video', timescale, sampleEntry: sample.sampleEntry, width, height }
  }

  /**
   * The video of a segment.
   *
   * @throws AppError `busy` after the time limit (encoding continues), if too much is being encoded
   *   or the encoder fails; `failed` if the file has changed; the signal's reason
   */
  async encode(request: VideoRequest): Promise<EncodedRun> {
    const key = `${request.key}/${request.name}`
    const cached = this.#cached.get(key)
    if (cached !== undefined) return runOf({ ...cached, isLasting: true }, request)
    const { signal = this.#options.signal, as = 'wanted' } = request
    const start = async (wanted: Wanted) => this.#findOrEncode(key, request, wanted)
    const join = async (attempt: AbortSignal) =>
      this.#encodes.join(key, { start, as, signal: attempt })
    return runOf(await withTimeout(join, { ...this.#timeLimit, signal }), request)
  }

  /**
   * Encodes a segment that is probably needed soon, unless others need the encoder. It is stopped
   * if the client needs it for another segment.
   */
  async encodeAhead(request: VideoRequest): Promise<void> {
    if (this.#cached.has(`${request.key}/${request.name}`)) return
    await this.encode({ ...request, as: 'ahead' })
  }

  async #findOrEncode(key: string, request: VideoRequest, wanted: Wanted): Promise<StoredFrames> {
    const { demand, forget } = wanted
    const { cache, signal } = this.#options
    const file = cachedFile(key)
    const find = async (): Promise<StoredFrames | undefined> => {
      const found = await cache.find(file, signal)
      const frames = found && unpackFrames(found)
      return frames && this.#store(key, { ...frames, isLasting: true })
    }
    const found = await find()
    if (found !== undefined) return found
    if (await this.#isEncodedElsewhere(request.file, wanted)) {
      const encoded = await find()
      if (encoded !== undefined) return encoded
      if (!demand.isThere) throw notEncoded()
    }
    const format = await this.format({ ...request, signal })
    if (format === undefined || (!demand.isThere && request.as !== 'ahead')) throw notEncoded()
    const encoded = await this.#run(key, { demand, signal }, async (stop) => {
      stop.addEventListener('abort', forget, { once: true })
      return this.#encodeNow(request, format, stop)
    })
    const added = await cache.add(file, packFrames(encoded), signal)
    const own = { ...(unpackFrames(added.bytes) ?? encoded), isLasting: added.isLasting }
    return this.#store(key, own)
  }

  /** Whether other nodes encode the file; if somebody waits for it, whether they have. */
  async #isEncodedElsewhere(file: EncodedFile, { demand, forget }: Wanted): Promise<boolean> {
    const { nodes, signal } = this.#options
    if (nodes === undefined) return false
    const leaving = new AbortController()
    const ended = new AbortController()
    const leave = (): void => {
      if (demand.isThere) return
      forget()
      leaving.abort(notEncoded())
    }
    demand.watch(leave, ended.signal)
    try {
      const either = AbortSignal.any([signal, leaving.signal])
      return await nodes.encode(file, { isWanted: demand.isThere, signal: either })
    } finally {
      ended.abort()
    }
  }

  async #findFormat(
    key: string,
    request: FormatRequest,
    signal: AbortSignal,
  ): Promise<EncodedFormat | 'none'> {
    const { formatCache, nodes } = this.#options
    const file = cachedFile(key)
    const find = async (): Promise<EncodedFormat | 'none' | undefined> => {
      const found = await formatCache.find(file, signal)
      return found && unpackFormat(found)
    }
    const found = await find()
    if (found !== undefined) return found
    if ((await nodes?.encode(request.initFile, { isWanted: true, signal })) === true) {
      const described = await find()
      if (described !== undefined) return described
    }
    const own = await this.#describe(request, signal)
    const added = await formatCache.add(file, packFormat(own), this.#options.signal)
    return unpackFormat(added.bytes) ?? own
  }

  #store(key: string, frames: StoredFrames): StoredFrames {
    if (frames.isLasting) this.#cached.set(key, frames)
    return frames
  }

  /** A failure is tried again later. */
  async #run<Value>(key: string, slot: SlotRequest, work: EncoderWork<Value>): Promise<Value> {
    const tries = this.#failedTries.get(key) ?? 0
    if (tries >= MAX_TRIES) throw notEncoded()
    const result = await this.#charge(slot, work)
    if (result === 'stopped') throw notEncoded()
    if (result.status === 'done') return result.value.value
    this.#failedTries.set(key, tries + 1)
    this.#options.log.warn({ reason: result.reason }, 'video could not be encoded')
    throw notEncoded(new Error(result.reason))
  }

  /** Runs a job while it is admitted. */
  async #charge<Value>(
    slot: SlotRequest,
    work: EncoderWork<Value>,
  ): Promise<EncoderResult<Value> | 'stopped'> {
    type Measured = Charged & { result: EncoderResult<Value> | 'stopped' }
    const measured = async (stop: AbortSignal): Promise<Measured> => {
      const startMs = performance.now()
      const result = await work(stop).catch((error: unknown) => {
        if (stop.aborted) return 'stopped' as const
        throw error
      })
      const cpuMs = result === 'stopped' ? performance.now() - startMs : cpuMsOf(result)
      this.#spentMs += cpuMs
      return { result, cpuMs }
    }
    const { result } = await this.#options.slots.run(measured, slot)
    return result
  }

  async #encodeNow(
    { source, range, height }: VideoRequest,
    format: EncodedFormat,
    signal: AbortSignal,
  ) {
    const { recording } = source
    const { encoder } = this.#options
    const video = await readFrom(source, async (file) => readRecordedVideo(recording, file, range))
    const startSeconds = secondsFromTicks(range.startTicks, recording.plan.timescale)
    const startTicks = Math.round(startSeconds * video.timescale)
    const target = { timescale: video.timescale, maxBitsPerSecond: MAX_BITS[height] }
    return encoder.encode({ kind: 'encode', video, format, startTicks, ...target }, signal)
  }

  async #describe(request: FormatRequest, abandoned: AbortSignal) {
    const { source, height, splitPoint } = request
    const { encoder, signal, log } = this.#options
    const init = videoInitOf(source.recording, splitPoint)
    if (init === undefined) return 'none'
    const { timescale } = init
    const target = { timescale, maxBitsPerSecond: MAX_BITS[height] }
    const pixelAspect = pixelAspectOf(init)
    for (const at of keySplitPoints(source.recording, splitPoint)) {
      const frame = await readFrom(source, async (file) => {
        const { reader, index } = source.recording
        return reader.readKeyFrame(file, index, at)
      })
      if (frame === undefined) continue
      const job = { kind: 'describe', frame, pixelAspect, height, ...target } as const
      const result = await this.#charge({ signal: abandoned }, async () =>
        encoder.describe(job, signal),
      )
      if (result === 'stopped') throw notEncoded()
      if (result.status === 'done') return result.value.value
      if (result.status === 'killed') throw notEncoded(new Error(result.reason))
      log.warn({ reason: result.reason }, 'a recording has no renditions')
    }
    return 'none'
  }
}

/** Bits per second of video: nothing is encoded to measure it. */
export function encodedBandwidth(height: Height): Bandwidth {
  return { peak: MAX_BITS[height] * PEAK, average: MAX_BITS[height] * MEAN }
}

/** Runs a job of the encoder. */
type EncoderWork<Value> = (stop: AbortSignal) => Promise<EncoderResult<Value>>

/** Charged for a job without a result. */
const FAILED_CPU_MS = 5000

function cpuMsOf(result: EncoderResult<unknown>): number {
  return result.status === 'done' ? result.value.cpuMs : FAILED_CPU_MS
}

type StoredFrames = EncodedFrames & { isLasting: boolean }

/** An artifact of these facts is the same on all nodes, whether or not the recording grows. */
function cachedFile(key: string): CachedFile {
  return { version: createHash('sha256').update(key).digest('hex'), isFinal: true }
}

/** Each frame is shown until the next one, the last one until the segment ends. */
function runOf(
  { sizes, ticks, bytes, isLasting }: StoredFrames,
  { source: { recording }, splitPoint, range }: VideoRequest,
): EncodedRun {
  const timescale = videoInitOf(recording, splitPoint)?.timescale ?? 1
  const endSeconds = secondsFromTicks(range.endTicks, recording.plan.timescale)
  const endTicks = Math.round(endSeconds * timescale)
  const durations = Uint32Array.from(ticks, (tick, at) =>
    Math.max((ticks[at + 1] ?? endTicks) - tick, 1),
  )
  const syncs = Uint8Array.from(sizes, (_, at) => (at === 0 ? 1 : 0))
  const firstDecodeTicks = ticks[0] ?? 0
  return { kind: 'video', timescale, firstDecodeTicks, sizes, bytes, durations, syncs, isLasting }
}

async function readFrom<Value>(
  source: VideoSource,
  read: (file: OpenFile) => Promise<Value>,
): Promise<Value> {
  const file = await source.open()
  try {
    const value = await read(file)
    await source.checkUnchanged(file)
    return value
  } finally {
    await file.close()
  }
}

/** The first key frames with the init segment at a split point. */
function keySplitPoints({ index }: PlannedRecording, splitPoint: number): number[] {
  const { flags } = index.splitPoints
  const found: number[] = []
  for (let at = splitPoint; at < flags.length; at += 1) {
    const flag = flags[at] ?? 0
    const isOther = at > splitPoint && (flag & SPLIT_DISCONTINUITY) !== 0
    if (isOther || found.length === MAX_KEY_FRAMES_TRIED) return found
    if ((flag & SPLIT_KEY_FRAME) !== 0) found.push(at)
  }
  return found
}

function notEncoded(cause?: unknown): AppError {
  return new AppError('busy', 'the video could not be encoded; try again soon', { cause })
}
