// Tracks of sound that no browser plays, as AAC: what their init says, and their samples in each segment.
import { LRUCache } from 'lru-cache'
import { AppError, isAppError } from '../errors.ts'
import type { AudioTrack } from '../media/media-index.ts'
import type { InitTrack, SampleRun } from '../media/media-reader.ts'
import { audioSpecificConfig } from '../media/codec/audio-specific-config.ts'
import { aacSetUp } from '../media/codec/sample-entry.ts'
import { silentFrame } from '../sound/silent-frame.ts'
import { FRAME_SAMPLES } from '../sound/sound-job.ts'
import type { SoundFrames, SoundJob } from '../sound/sound-job.ts'
import type { SoundTranscoder } from '../sound/sound-transcoder.ts'
import { outputOf, readRecordedSound } from './recorded-sound.ts'
import type { SoundPlace, SoundSource, TranscodedTrack } from './recorded-sound.ts'
import { divideSound } from './sound-jobs.ts'
import type { RecordedSound, SoundPiece } from './sound-jobs.ts'

/** Transcoded sound that is kept, in bytes. Ten hours of one recording are about 600 MB. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024
/** A visitor waits this long, then is asked to come again; the work goes on. */
const WAIT_MS = 8500
/** Pieces of one segment that are transcoded at once. */
const PIECES_AT_ONCE = 2
/** A decoder that ended before its time may have had too little of it: so often a segment is tried before it is silent. */
const MAX_TRIES = 3
/** Segments whose failed tries are remembered. */
const MAX_REMEMBERED = 1000
/** Segments under way, and the recorded sound in memory for them. */
const MAX_UNDER_WAY = 64
const MAX_UNDER_WAY_BYTES = 192 * 1024 * 1024

export interface TranscodedSoundOptions {
  transcoder: SoundTranscoder
  log: { warn(details: object, message: string): void }
  /** Ends the work when the program ends. */
  signal: AbortSignal
}

/** What is asked of a recording. */
export interface SoundRequest extends SoundPlace {
  source: SoundSource
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
export class TranscodedSounds {
  readonly #options: TranscodedSoundOptions
  readonly #kept = new LRUCache<string, SampleRun>({
    maxSize: MAX_KEPT_BYTES,
    sizeCalculation: (run) => (run.bytes?.length ?? 0) + run.sizes.length * 8 + 1,
  })
  readonly #flights = new Map<string, Flight>()
  #underWayBytes = 0
  readonly #failedTries = new LRUCache<string, number>({ max: MAX_REMEMBERED })
  #isMissingTold = false

  constructor(options: TranscodedSoundOptions) {
    this.#options = options
  }

  /**
   * The track's AAC frames in a segment; undefined where it holds none. What cannot be decoded is silence.
   *
   * @throws AppError `busy` where it takes too long (the work goes on), `failed` where the file no longer matches
   */
  async makeRun(request: SoundRequest): Promise<SampleRun | undefined> {
    const key = `${request.key}/${request.number}`
    const run = this.#kept.get(key) ?? (await this.#makeOnce(key, request))
    return run.sizes.length === 0 ? undefined : run
  }

  async #makeOnce(key: string, request: SoundRequest): Promise<SampleRun> {
    const underWay = this.#flights.get(key)
    if (underWay !== undefined) return withTimeLimit(underWay.run)
    if (this.#flights.size >= MAX_UNDER_WAY) throw tooMuch()
    const flight = this.#startFlight(key, request)
    await flight.read
    return withTimeLimit(flight.run)
  }

  #startFlight(key: string, { source, track, number, range }: SoundRequest): Flight {
    const read = readRecordedSound(source, track, { number, range })
    const run = this.#transcode(key, read).finally(() => this.#flights.delete(key))
    // A failure is told to whoever still waits.
    run.catch(() => undefined)
    const flight = { read, run }
    this.#flights.set(key, flight)
    return flight
  }

  async #transcode(key: string, read: Promise<RecordedSound>): Promise<SampleRun> {
    const sound = await read
    const sizeBytes = sound.packets.bytes.length
    if (this.#underWayBytes + sizeBytes > MAX_UNDER_WAY_BYTES) throw tooMuch()
    this.#underWayBytes += sizeBytes
    try {
      const run = joinFrames(await this.#makePieces(key, sound), sound)
      this.#kept.set(key, run)
      return run
    } finally {
      this.#underWayBytes -= sizeBytes
    }
  }

  async #makePieces(key: string, sound: RecordedSound): Promise<SoundFrames[]> {
    const pieces = divideSound(sound)
    const frames: SoundFrames[] = []
    for (let at = 0; at < pieces.length; at += PIECES_AT_ONCE) {
      const group = pieces.slice(at, at + PIECES_AT_ONCE)
      frames.push(...(await Promise.all(group.map((piece) => this.#makePiece(key, sound, piece)))))
    }
    return frames
  }

  async #makePiece(
    key: string,
    { output }: RecordedSound,
    piece: SoundPiece,
  ): Promise<SoundFrames> {
    if (piece.kind === 'silence') return silence(piece.frames, output)
    const { job } = piece
    const made = await this.#tryPiece(key, job)
    return made ?? silence(job.toFrame - job.fromFrame, output)
  }

  /** Undefined where the sound cannot be had, now or ever. */
  async #tryPiece(key: string, job: SoundJob): Promise<SoundFrames | undefined> {
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
  const setUp = config && aacSetUp(config)
  if (setUp === undefined) throw new AppError('failed', 'AAC has no such sample rate')
  const { sampleRate: timescale } = track
  return { kind: 'audio', timescale, sampleEntry: setUp.sampleEntry, width: 0, height: 0 }
}

function joinFrames(pieces: readonly SoundFrames[], sound: RecordedSound): SampleRun {
  const sizes = Uint32Array.from(pieces.flatMap((piece) => [...piece.sizes]))
  return {
    kind: 'audio',
    timescale: sound.output.sampleRate,
    firstDecodeTicks: sound.fromFrame * FRAME_SAMPLES,
    sizes,
    bytes: Buffer.concat(pieces.map(({ bytes }) => bytes)),
    durations: new Uint32Array(sizes.length).fill(FRAME_SAMPLES),
  }
}

function silence(count: number, { channels }: RecordedSound['output']): SoundFrames {
  const frame = silentFrame(channels)
  return {
    bytes: Buffer.alloc(frame.length * count, frame),
    sizes: new Uint32Array(count).fill(frame.length),
  }
}

async function withTimeLimit<Value>(promise: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new AppError('busy', 'the sound is being transcoded; try again in a moment'))
    }, WAIT_MS)
  })
  try {
    return await Promise.race([promise, limit])
  } finally {
    clearTimeout(timer)
  }
}
