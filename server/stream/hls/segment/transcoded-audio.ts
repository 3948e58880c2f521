// Audio that no browser can play, as AAC: its init segment, and its samples in each segment.
import { LRUCache } from 'lru-cache'
import { type TimeLimit, withTimeout } from '../../../../shared/with-timeout.ts'
import type { Admission } from '../../../base/admission/limits.ts'
import { SharedWork } from '../../../base/admission/shared-work.ts'
import { nameArtifact } from '../../../storage/artifacts/artifact-store.ts'
import type { SharedArtifacts } from '../../../storage/artifacts/shared-artifacts.ts'
import { AppError, isAppError } from '../../../base/errors.ts'
import type { AudioTrack } from '../../../media/media-index.ts'
import type { InitTrack, SampleRun } from '../../../media/media-reader.ts'
import { audioSpecificConfig } from '../../../media/codec/audio-specific-config.ts'
import { aacSampleConfig } from '../../../media/codec/sample-entry.ts'
import { silentFrame } from '../../../decode/audio/silent-frame.ts'
import { FRAME_SAMPLES } from '../../../decode/audio/audio-job.ts'
import type { AudioFrames, AudioJob } from '../../../decode/audio/audio-job.ts'
import type { AudioTranscoder } from '../../../decode/audio/audio-transcoder.ts'
import { outputOf, readRecordedAudio } from './recorded-audio.ts'
import type { AudioPosition, AudioSource, TranscodedTrack } from './recorded-audio.ts'
import { decodeAudio, encodeAudio } from './audio-artifact.ts'
import { divideAudio } from './audio-jobs.ts'
import type { RecordedAudio, RecordedAudioChunk } from './audio-jobs.ts'

/** Cached AAC. Ten hours of one recording are about 600 MB. */
const MAX_CACHED_BYTES = 64 * 1024 * 1024
/** Longest wait of a request, which then gets 503. Transcoding continues. */
const WAIT_MS = 8500
/** Chunks of one segment that are transcoded concurrently. */
const CONCURRENT_JOBS = 2
/** A decoder may be killed by its time limit under load. After these tries, a segment waits. */
const MAX_TRIES = 3
const RETRY_MS = 60_000
/** Segments with failed tries that are counted. */
const MAX_FAILED_SEGMENTS = 1000

export interface TranscodedAudioOptions {
  /** Undefined where its package is not installed: all of the audio is silence. */
  transcoder: AudioTranscoder | undefined
  admission: Pick<Admission, 'transcodes'>
  log: { warn(details: object, message: string): void }
  /** The audio that nodes share. Default none. */
  artifacts?: SharedArtifacts | undefined
  /** Longest wait of a request, which then gets 503. Default 8.5 s. */
  waitMs?: number
  /** Aborted on shutdown. */
  signal: AbortSignal
}

/** One track of one segment. */
export interface AudioRequest extends AudioPosition {
  source: AudioSource
  track: TranscodedTrack
  /** Identifies the recording, the settings and the segment. */
  key: string
  /** Aborted when the request is abandoned. */
  signal?: AbortSignal | undefined
}

export interface TranscodedRun extends SampleRun {
  /**
   * Other nodes may send other audio, because none has claimed this one: `unclaimed` (the shared
   * artifacts are unavailable), `undecoded` (some of it is silence, maybe only on this node).
   */
  provisional?: 'unclaimed' | 'undecoded'
}

/** A segment that is transcoded or waits for it. */
interface Flight {
  /** Requests that are not abandoned, whose files are open. */
  requests: Set<AudioRequest>
  /** The one whose file is read. */
  reader?: AudioRequest
  read?: Promise<RecordedAudio>
}

/** A transcoding in progress. */
interface Work {
  key: string
  audio: RecordedAudio
  /** Aborted when all requests are abandoned. */
  signal: AbortSignal
  /** Some of it could not be decoded, maybe only here and now. */
  hasFailed: boolean
}

/** Cache of transcoded audio. Coalesces equal requests. */
export class TranscodedAudio {
  readonly #options: TranscodedAudioOptions
  readonly #cached = new LRUCache<string, TranscodedRun>({
    maxSize: MAX_CACHED_BYTES,
    sizeCalculation: (run) => (run.bytes?.length ?? 0) + run.sizes.length * 8 + 1,
  })
  readonly #shared = new SharedWork<TranscodedRun>()
  readonly #flights = new Map<string, Flight>()
  readonly #failedTries = new LRUCache<string, number>({
    max: MAX_FAILED_SEGMENTS,
    ttl: RETRY_MS,
    ttlResolution: 0,
    perf: { now: () => performance.now() },
  })
  readonly #timeLimit: TimeLimit
  #hasWarned = false

  constructor(options: TranscodedAudioOptions) {
    this.#options = options
    this.#timeLimit = limitTo(options.waitMs ?? WAIT_MS)
  }

  /** Whether all of the audio is silence. */
  get isSilent(): boolean {
    return this.#options.transcoder === undefined
  }

  /**
   * The track's AAC frames in a segment; undefined if it has none. Undecodable audio is silence.
   *
   * @throws AppError `busy` after the time limit (transcoding continues once it has begun), if too
   *   much waits or the transcoder fails, `failed` if the file has changed, and the signal's reason
   */
  async transcode(request: AudioRequest): Promise<TranscodedRun | undefined> {
    const key = `${request.key}/${request.number}`
    const cached = this.#cached.get(key)
    const isFinal = cached !== undefined && cached.provisional === undefined
    const run = isFinal ? cached : await this.#transcodeOnce(key, request)
    return run.sizes.length === 0 ? undefined : run
  }

  async #transcodeOnce(key: string, request: AudioRequest): Promise<TranscodedRun> {
    const flight = this.#flights.get(key) ?? { requests: new Set() }
    this.#flights.set(key, flight)
    flight.requests.add(request)
    const leaving = new AbortController()
    const signal = AbortSignal.any([request.signal ?? this.#options.signal, leaving.signal])
    const start = async (abandoned: AbortSignal) => this.#start(key, flight, abandoned)
    try {
      return await withTimeout(() => this.#shared.join(key, signal, start), this.#timeLimit)
    } finally {
      flight.requests.delete(request)
      if (flight.requests.size === 0) this.#flights.delete(key)
      // What waits longer than all of its requests would have no file to read.
      if (flight.read === undefined) leaving.abort()
      if (flight.reader === request) await flight.read?.catch(() => undefined)
    }
  }

  async #start(key: string, flight: Flight, signal: AbortSignal): Promise<TranscodedRun> {
    const shared = await this.#readShared(key, signal)
    if (shared !== undefined) return shared
    const provisional = this.#cached.get(key)
    if (provisional !== undefined) return this.#claim(key, provisional, signal)
    return this.#options.admission.transcodes.run(async () => {
      const [reader] = flight.requests
      if (reader === undefined) throw new AppError('busy', 'the request was abandoned')
      flight.reader = reader
      flight.read = readRecordedAudio(reader.source, reader.track, reader)
      return this.#transcodeAll({ key, audio: await flight.read, signal, hasFailed: false })
    }, signal)
  }

  async #transcodeAll(work: Work): Promise<TranscodedRun> {
    const run = joinFrames(await this.#transcodeChunks(work), work.audio)
    if (this.#options.artifacts === undefined) {
      this.#cached.set(work.key, run)
      return run
    }
    const provisional = work.hasFailed ? 'undecoded' : 'unclaimed'
    return this.#claim(work.key, { ...run, provisional }, work.signal)
  }

  async #readShared(key: string, signal: AbortSignal): Promise<TranscodedRun | undefined> {
    const stored = await this.#options.artifacts?.read(artifactName(key), signal)
    const run = stored && decodeAudio(stored)
    if (run !== undefined) this.#cached.set(key, run)
    return run
  }

  /** The audio of the node that has transcoded it first, which may be this one. */
  async #claim(key: string, own: TranscodedRun, signal: AbortSignal): Promise<TranscodedRun> {
    const make = (): Uint8Array => encodeAudio(own)
    const stored =
      own.provisional === 'unclaimed'
        ? await this.#options.artifacts?.claim(artifactName(key), make, signal)
        : undefined
    const run = (stored && decodeAudio(stored)) ?? own
    this.#cached.set(key, run)
    return run
  }

  async #transcodeChunks(work: Work): Promise<AudioFrames[]> {
    const chunks = divideAudio(work.audio)
    const frames: AudioFrames[] = []
    for (let at = 0; at < chunks.length; at += CONCURRENT_JOBS) {
      const group = chunks.slice(at, at + CONCURRENT_JOBS)
      frames.push(...(await Promise.all(group.map((chunk) => this.#transcodeChunk(work, chunk)))))
    }
    return frames
  }

  async #transcodeChunk(work: Work, chunk: RecordedAudioChunk): Promise<AudioFrames> {
    const { output } = work.audio
    if (chunk.kind === 'silence') return silence(chunk.frames, output)
    const { job } = chunk
    const frames = await this.#tryChunk(work, job)
    if (frames === undefined) work.hasFailed = true
    return frames ?? silence(job.toFrame - job.fromFrame, output)
  }

  /**
   * Undefined if the audio cannot be decoded.
   *
   * @throws AppError `busy` if a retry may succeed
   */
  async #tryChunk({ key, signal }: Work, job: AudioJob): Promise<AudioFrames | undefined> {
    const { transcoder, log } = this.#options
    if (transcoder === undefined) return undefined
    const tries = this.#failedTries.get(key) ?? 0
    if (tries >= MAX_TRIES) throw notTranscoded()
    const result = await transcoder.transcode(job, signal).catch((error: unknown) => {
      if (!isAppError(error, 'failed')) throw error
      if (!this.#hasWarned) log.warn({ err: error }, 'the transcoder is not available')
      this.#hasWarned = true
      throw notTranscoded(error)
    })
    if (result.status === 'done') return result.value
    if (result.status === 'killed') {
      this.#failedTries.set(key, tries + 1)
      throw notTranscoded(new Error(result.reason))
    }
    log.warn({ reason: result.reason }, 'audio was replaced by silence')
    return undefined
  }
}

function notTranscoded(cause?: unknown): AppError {
  return new AppError('busy', 'the audio could not be transcoded; try again soon', { cause })
}

/** @throws AppError `failed` if AAC does not support the sample rate */
export function transcodedInitTrack(track: AudioTrack): InitTrack {
  const config = audioSpecificConfig(outputOf(track))
  const sample = config && aacSampleConfig(config)
  if (sample === undefined) throw new AppError('failed', 'AAC does not support the sample rate')
  const { sampleRate: timescale } = track
  return { kind: 'audio', timescale, sampleEntry: sample.sampleEntry, width: 0, height: 0 }
}

function joinFrames(chunks: readonly AudioFrames[], audio: RecordedAudio): SampleRun {
  const sizes = Uint32Array.from(chunks.flatMap((chunk) => [...chunk.sizes]))
  return {
    kind: 'audio',
    timescale: audio.output.sampleRate,
    firstDecodeTicks: audio.fromFrame * FRAME_SAMPLES,
    sizes,
    bytes: Buffer.concat(chunks.map(({ bytes }) => bytes)),
    durations: new Uint32Array(sizes.length).fill(FRAME_SAMPLES),
  }
}

function silence(count: number, { channels }: RecordedAudio['output']): AudioFrames {
  const frame = silentFrame(channels)
  return {
    bytes: Buffer.alloc(frame.length * count, frame),
    sizes: new Uint32Array(count).fill(frame.length),
  }
}

function artifactName(key: string): string {
  return nameArtifact('audio-1', [key], 'aac')
}

function limitTo(timeoutMs: number): TimeLimit {
  const reason = () => new AppError('busy', 'the audio is being transcoded; try again in a moment')
  return { timeoutMs, reason }
}
