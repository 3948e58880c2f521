// Audio that no browser can play, as AAC: its init segment, and its samples in each segment.
import { LRUCache } from 'lru-cache'
import { type TimeLimit, withTimeout } from '../../../shared/with-timeout.ts'
import type { Admission } from '../../admission/limits.ts'
import { SharedWork } from '../../admission/shared-work.ts'
import { nameArtifact } from '../../artifacts/artifact-store.ts'
import type { SharedArtifacts } from '../../artifacts/shared-artifacts.ts'
import { AppError, isAppError } from '../../errors.ts'
import type { AudioTrack } from '../../media/media-index.ts'
import type { InitTrack, SampleRun } from '../../media/media-reader.ts'
import { audioSpecificConfig } from '../../media/codec/audio-specific-config.ts'
import { aacSampleConfig } from '../../media/codec/sample-entry.ts'
import { silentFrame } from '../../audio/silent-frame.ts'
import { FRAME_SAMPLES } from '../../audio/audio-job.ts'
import type { AudioFrames, AudioJob } from '../../audio/audio-job.ts'
import type { AudioTranscoder } from '../../audio/audio-transcoder.ts'
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
/** A decoder may be killed by its time limit under load: tries before a segment is silent. */
const MAX_TRIES = 3
/** Segments with failed tries that are counted. */
const MAX_FAILED_SEGMENTS = 1000

export interface TranscodedAudioOptions {
  /** Undefined where its package is not installed: all of the audio is silence. */
  transcoder: AudioTranscoder | undefined
  admission: Pick<Admission, 'transcodes' | 'transcodedBytes'>
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
  readonly #cached = new LRUCache<string, SampleRun>({
    maxSize: MAX_CACHED_BYTES,
    sizeCalculation: (run) => (run.bytes?.length ?? 0) + run.sizes.length * 8 + 1,
  })
  readonly #shared = new SharedWork<SampleRun>()
  readonly #failedTries = new LRUCache<string, number>({ max: MAX_FAILED_SEGMENTS })
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
   * @throws AppError `busy` after the time limit (transcoding continues) or if too much waits,
   *   `failed` if the file has changed, and the signal's reason
   */
  async transcode(request: AudioRequest): Promise<SampleRun | undefined> {
    const key = `${request.key}/${request.number}`
    const run = this.#cached.get(key) ?? (await this.#transcodeOnce(key, request))
    return run.sizes.length === 0 ? undefined : run
  }

  async #transcodeOnce(key: string, request: AudioRequest): Promise<SampleRun> {
    const { source, track, number, range, signal = this.#options.signal } = request
    let read: Promise<RecordedAudio> | undefined
    const start = async (abandoned: AbortSignal): Promise<SampleRun> => {
      const shared = await this.#readShared(key, abandoned)
      if (shared !== undefined) return shared
      return this.#options.admission.transcodes.run(async () => {
        read = readRecordedAudio(source, track, { number, range })
        const audio = await read
        return this.#transcodeAll({ key, audio, signal: abandoned, hasFailed: false })
      }, abandoned)
    }
    try {
      return await withTimeout(() => this.#shared.join(key, signal, start), this.#timeLimit)
    } finally {
      // Then the file of this request is not needed any more.
      await read?.catch(() => undefined)
    }
  }

  async #transcodeAll(work: Work): Promise<SampleRun> {
    const { key, audio, signal } = work
    const { transcodedBytes } = this.#options.admission
    const release = await transcodedBytes.enter(signal, audio.packets.bytes.length)
    try {
      const transcoded = joinFrames(await this.#transcodeChunks(work), audio)
      const run = (await this.#claim(work, transcoded)) ?? transcoded
      this.#cached.set(key, run)
      return run
    } finally {
      release()
    }
  }

  async #readShared(key: string, signal: AbortSignal): Promise<SampleRun | undefined> {
    const stored = await this.#options.artifacts?.read(artifactName(key), signal)
    const run = stored && decodeAudio(stored)
    if (run !== undefined) this.#cached.set(key, run)
    return run
  }

  /** The audio of the node that has transcoded it first, which may be this one. */
  async #claim({ key, signal, hasFailed }: Work, run: SampleRun): Promise<SampleRun | undefined> {
    if (hasFailed) return undefined
    const name = artifactName(key)
    const stored = await this.#options.artifacts?.claim(name, () => encodeAudio(run), signal)
    return stored && decodeAudio(stored)
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

  /** Undefined if the audio cannot be decoded. */
  async #tryChunk({ key, signal }: Work, job: AudioJob): Promise<AudioFrames | undefined> {
    const { transcoder, log } = this.#options
    if (transcoder === undefined) return undefined
    try {
      const result = await transcoder.transcode(job, signal)
      if (result.status === 'done') return result.value
      if (result.status === 'killed') this.#noteFailedTry(key)
      log.warn({ reason: result.reason }, 'audio was replaced by silence')
    } catch (error) {
      if (!isAppError(error, 'failed')) throw error
      if (!this.#hasWarned)
        log.warn({ err: error }, 'the transcoder is not available: audio is replaced by silence')
      this.#hasWarned = true
    }
    return undefined
  }

  /** @throws AppError `busy` if a retry may succeed */
  #noteFailedTry(key: string): void {
    const tries = (this.#failedTries.get(key) ?? 0) + 1
    this.#failedTries.set(key, tries)
    if (tries < MAX_TRIES) {
      throw new AppError('busy', 'the audio could not be transcoded in time; try again soon')
    }
  }
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
