// Tracks of sound that no browser plays, as AAC: what their init says, and their samples in each segment.
import { LRUCache } from 'lru-cache'
import { type TimeLimit, withTimeout } from '../../../shared/with-timeout.ts'
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
import { divideAudio } from './audio-jobs.ts'
import type { RecordedAudio, RecordedAudioChunk } from './audio-jobs.ts'

/** Transcoded sound that is kept, in bytes. Ten hours of one recording are about 600 MB. */
const MAX_CACHED_BYTES = 64 * 1024 * 1024
/** A visitor waits this long, then is asked to come again; the work goes on. */
const WAIT_MS = 8500
/** Pieces of one segment that are transcoded at once. */
const MAX_CONCURRENT_READS = 2
/** A decoder that ended before its time may have had too little of it: so often a segment is tried before it is silent. */
const MAX_TRIES = 3
/** Segments whose failed tries are remembered. */
const MAX_REMEMBERED = 1000
/** Segments under way, and the recorded sound in memory for them. */
const MAX_UNDER_WAY = 64
const MAX_UNDER_WAY_BYTES = 192 * 1024 * 1024

export interface TranscodedAudioOptions {
  transcoder: AudioTranscoder
  log: { warn(details: object, message: string): void }
  /** Ends the work when the program ends. */
  signal: AbortSignal
}

/** What is asked of a recording. */
export interface AudioRequest extends AudioPosition {
  source: AudioSource
  track: TranscodedTrack
  /** Stands for the recording, the settings and the segment. */
  key: string
}

/** A segment's sound under way. */
interface Flight {
  /** Until then the file of the visitor who asked first is needed. */
  read: Promise<unknown>
  run: Promise<SampleRun>
}

/** Finished sound of all recordings, kept within a bound; equal requests at a time are one. */
export class TranscodedAudioTracks {
  readonly #options: TranscodedAudioOptions
  readonly #kept = new LRUCache<string, SampleRun>({
    maxSize: MAX_CACHED_BYTES,
    sizeCalculation: (run) => (run.bytes?.length ?? 0) + run.sizes.length * 8 + 1,
  })
  readonly #flights = new Map<string, Flight>()
  #underWayBytes = 0
  readonly #failedTries = new LRUCache<string, number>({ max: MAX_REMEMBERED })
  #isMissingTold = false

  constructor(options: TranscodedAudioOptions) {
    this.#options = options
  }

  /**
   * The track's AAC frames in a segment; undefined where it holds none. What cannot be decoded is silence.
   *
   * @throws AppError `busy` where it takes too long (the work goes on), `failed` where the file no longer matches
   */
  async makeRun(request: AudioRequest): Promise<SampleRun | undefined> {
    const key = `${request.key}/${request.number}`
    const run = this.#kept.get(key) ?? (await this.#makeOnce(key, request))
    return run.sizes.length === 0 ? undefined : run
  }

  async #makeOnce(key: string, request: AudioRequest): Promise<SampleRun> {
    const underWay = this.#flights.get(key)
    if (underWay !== undefined) return withTimeout(() => underWay.run, TIME_LIMIT)
    if (this.#flights.size >= MAX_UNDER_WAY) throw tooMuch()
    const flight = this.#startFlight(key, request)
    await flight.read
    return withTimeout(() => flight.run, TIME_LIMIT)
  }

  #startFlight(key: string, { source, track, number, range }: AudioRequest): Flight {
    const read = readRecordedAudio(source, track, { number, range })
    const run = this.#transcode(key, read).finally(() => this.#flights.delete(key))
    // A failure is told to whoever still waits.
    run.catch(() => undefined)
    const flight = { read, run }
    this.#flights.set(key, flight)
    return flight
  }

  async #transcode(key: string, read: Promise<RecordedAudio>): Promise<SampleRun> {
    const audio = await read
    const sizeBytes = audio.packets.bytes.length
    if (this.#underWayBytes + sizeBytes > MAX_UNDER_WAY_BYTES) throw tooMuch()
    this.#underWayBytes += sizeBytes
    try {
      const run = joinFrames(await this.#makeChunks(key, audio), audio)
      this.#kept.set(key, run)
      return run
    } finally {
      this.#underWayBytes -= sizeBytes
    }
  }

  async #makeChunks(key: string, audio: RecordedAudio): Promise<AudioFrames[]> {
    const chunks = divideAudio(audio)
    const frames: AudioFrames[] = []
    for (let at = 0; at < chunks.length; at += MAX_CONCURRENT_READS) {
      const group = chunks.slice(at, at + MAX_CONCURRENT_READS)
      frames.push(...(await Promise.all(group.map((chunk) => this.#makeChunk(key, audio, chunk)))))
    }
    return frames
  }

  async #makeChunk(
    key: string,
    { output }: RecordedAudio,
    chunk: RecordedAudioChunk,
  ): Promise<AudioFrames> {
    if (chunk.kind === 'silence') return silence(chunk.frames, output)
    const { job } = chunk
    const made = await this.#tryChunk(key, job)
    return made ?? silence(job.toFrame - job.fromFrame, output)
  }

  /** Undefined where the sound cannot be had, now or ever. */
  async #tryChunk(key: string, job: AudioJob): Promise<AudioFrames | undefined> {
    const { transcoder, signal, log } = this.#options
    try {
      const answer = await transcoder.transcode(job, signal)
      if (answer.status === 'done') return answer.value
      if (answer.status === 'killed') this.#noteFailedTry(key)
      log.warn({ reason: answer.reason }, 'a piece of sound is silent')
    } catch (error) {
      if (!isAppError(error, 'failed')) throw error
      if (!this.#isMissingTold) log.warn({ err: error }, 'sound is not transcoded: it is silent')
      this.#isMissingTold = true
    }
    return undefined
  }

  /** @throws AppError `busy` where it is worth another try */
  #noteFailedTry(key: string): void {
    const tries = (this.#failedTries.get(key) ?? 0) + 1
    this.#failedTries.set(key, tries)
    if (tries < MAX_TRIES) {
      throw new AppError('busy', 'the sound could not be transcoded in time; try again soon')
    }
  }
}

function tooMuch(): AppError {
  return new AppError('busy', 'Too much sound is being transcoded at once; try again soon')
}

/** Throws AppError `failed` where AAC has no such rate. */
export function transcodedInitTrack(track: AudioTrack): InitTrack {
  const config = audioSpecificConfig(outputOf(track))
  const setup = config && aacSampleConfig(config)
  if (setup === undefined) throw new AppError('failed', 'AAC has no such sample rate')
  const { sampleRate: timescale } = track
  return { kind: 'audio', timescale, sampleEntry: setup.sampleEntry, width: 0, height: 0 }
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

const TIME_LIMIT: TimeLimit = {
  timeoutMs: WAIT_MS,
  reason: () => new AppError('busy', 'the sound is being transcoded; try again in a moment'),
}
