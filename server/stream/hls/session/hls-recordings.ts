// Recordings as HLS, cached: a finished one is identified by all of its bytes, one that is growing
// or was listed while it was growing by the bytes that do not change.
import { LRUCache } from 'lru-cache'
import type { SessionReference } from '../../../../shared/paths.ts'
import type { HlsSettings } from '../../delivery/encryption.ts'
import { AppError, UnplayableError } from '../../../base/errors.ts'
import type { FoundRecording, IndexStore } from '../../../media/index/index-store.ts'
import type { Inspection } from '../../../media/index/inspect-recording.ts'
import type { SplitPointTable } from '../../../media/media-index.ts'
import type { MediaReaders } from '../../../media/readers.ts'
import type { FileStat } from '../../../storage/recordings/storage.ts'
import { longestSeconds } from '../playlist/media-playlist.ts'
import { countRenditions } from '../playlist/renditions.ts'
import {
  longestGrowingSeconds,
  planGrowingSegments,
  planSegments,
} from '../playlist/segment-plan.ts'
import type { EncodedVideo } from '../segment/encoded-video.ts'
import { plannedBytes, samplesIndex } from '../segment/planned-recording.ts'
import { createSegmentBodies } from '../segment/segment-bodies.ts'
import type { TranscodedAudio } from '../segment/transcoded-audio.ts'
import type { Freshness } from './freshness.ts'
import type { GrowingIdentities } from './growing-identities.ts'
import { NotRecorded } from './growth-records.ts'
import { HlsRecording, segmentForm } from './hls-recording.ts'
import type { SegmentCaches } from './hls-recording.ts'
import type { ServedIdentities } from './served-identities.ts'

/** Several sessions of 1,500 parts: a part of a minute takes about ten kilobytes. */
const MAX_FINISHED_BYTES = 96 * 1024 * 1024
const MAX_GROWING_BYTES = 32 * 1024 * 1024
/** A shorter growing file may only seem unplayable. */
const MIN_JUDGED_BYTES = 256 * 1024

export interface RecordingRequest {
  session: SessionReference
  path: string
  /** Unique in the session. It does not change when the recorder renames the file at its end. */
  name: string
  stat: FileStat
  /** `finished`: no longer written to. */
  state: 'growing' | 'finished'
  /** The first of the session, whose first segments are shorter. */
  isFirst: boolean
  /** The session's playlist is an EVENT, so its target duration must not change. */
  isInEvent: boolean
  /** Start in milliseconds since 1970, if a recorder's playlist contains it. */
  startMs?: number | undefined
  /** Converts a finished recording to fMP4 if possible. */
  form?: 'fmp4' | undefined
}

export interface HlsRecordingsOptions {
  indexes: IndexStore
  readers: MediaReaders
  growing: GrowingIdentities
  served: ServedIdentities
  settings: HlsSettings
  transcodedAudio: TranscodedAudio
  /** Default nothing is encoded. */
  encodedVideo?: EncodedVideo | undefined
  /** Aborted on shutdown. */
  signal: AbortSignal
}

export class HlsRecordings {
  readonly #options: HlsRecordingsOptions
  readonly #finished = new LRUCache<string, HlsRecording>({
    maxSize: MAX_FINISHED_BYTES,
    sizeCalculation: ({ planned }) => plannedBytes(planned),
  })
  readonly #growing = new LRUCache<string, HlsRecording>({
    maxSize: MAX_GROWING_BYTES,
    sizeCalculation: ({ planned }) => plannedBytes(planned),
  })
  readonly #caches: SegmentCaches

  constructor(options: HlsRecordingsOptions) {
    this.#options = options
    const { transcodedAudio, encodedVideo } = options
    this.#caches = { bodies: createSegmentBodies(), transcodedAudio, encodedVideo }
  }

  /** Reads nothing; a growing recording may have grown since. */
  cached(request: RecordingRequest): HlsRecording | undefined {
    return request.state === 'finished'
      ? this.#finished.get(finishedKey(request))
      : this.#growing.get(recordingKey(request))
  }

  /** @throws UnplayableError, AppError `gone`, `busy` (nothing of it can be listed yet) */
  async find(request: RecordingRequest, freshness: Freshness): Promise<HlsRecording> {
    const cached = freshness === 'cached' ? this.cached(request) : undefined
    if (cached !== undefined) return cached
    return request.state === 'finished'
      ? this.#findFinished(request)
      : this.#findGrowing(request, freshness)
  }

  async #findFinished(request: RecordingRequest): Promise<HlsRecording> {
    const key = finishedKey(request)
    const cached = this.#finished.get(key)
    if (cached !== undefined) return cached
    const { indexes, signal } = this.#options
    const found = await indexes.find(request.path, request.stat, signal)
    const recording = await this.#create(request, found)
    this.#growing.delete(recordingKey(request))
    if (recording.planned.isLasting !== false) this.#finished.set(key, recording)
    return recording
  }

  async #findGrowing(request: RecordingRequest, freshness: Freshness): Promise<HlsRecording> {
    const { indexes, signal } = this.#options
    const { path, stat } = request
    const found =
      freshness === 'current'
        ? await indexes.find(path, stat, signal)
        : await indexes.findRecent(path, stat, signal)
    const { inspection } = found
    const key = recordingKey(request)
    const cached = this.#growing.get(key)
    const isCurrent = inspection.status === 'playable' && cached?.planned.index === inspection.index
    if (isCurrent) return cached
    if (inspection.status === 'unplayable' && found.stat.sizeBytes < MIN_JUDGED_BYTES) {
      throw new NotYetListable()
    }
    try {
      const recording = await this.#create(request, found)
      this.#growing.set(key, recording)
      return recording
    } catch (error) {
      // Nothing more is listed until that is recorded.
      if (cached !== undefined && error instanceof NotRecorded) return cached
      throw error
    }
  }

  async #create(
    request: RecordingRequest,
    { inspection, stat }: FoundRecording,
  ): Promise<HlsRecording> {
    if (inspection.status === 'unplayable') throw new UnplayableError(inspection.reason)
    const settings = this.#settingsOf(request)
    const { streamer, date, sessionId } = request.session
    const reader = this.#options.readers.forIndex(inspection.index)
    const converted = request.form === 'fmp4' ? reader.asSamples?.(inspection.index) : undefined
    const index = converted ?? inspection.index
    const recording = { session: { streamer, date, sessionId }, index, reader, stat }
    const growing = await this.#planGrowing(request, inspection, stat)
    if (growing !== undefined) {
      return new HlsRecording({ ...recording, ...growing }, settings, this.#caches)
    }
    const plan = planSegments(index.splitPoints, settings)
    const served = await this.#options.served.identify(request.path, inspection, stat)
    return new HlsRecording({ ...recording, ...served, plan }, settings, this.#caches)
  }

  /** Plan and identity of a recording that is or was listed while growing; undefined for others. */
  async #planGrowing(
    request: RecordingRequest,
    { index, mark }: PlayableInspection,
    stat: FileStat,
  ) {
    const isGrowing = request.state === 'growing'
    if (mark === undefined) {
      if (isGrowing && index.growth !== undefined) throw new NotYetListable()
      return undefined
    }
    const { segmentSeconds, startSegmentSeconds } = this.#settingsOf(request)
    const rules = {
      segmentSeconds,
      startSegmentSeconds,
      longestSeconds: longestGrowingSeconds(segmentSeconds),
      stableSplitPoints: index.growth?.stableSplitPoints ?? 0,
      finishedBytes: isGrowing ? undefined : stat.sizeBytes,
    }
    const plan = planGrowingSegments(index.splitPoints, rules)
    const { readers, growing } = this.#options
    const samples = samplesIndex({ reader: readers.forIndex(index), index })
    const { stableSplitPoints = 0 } = samples?.growth ?? {}
    const samplesPlan =
      samples && planGrowingSegments(index.splitPoints, { ...rules, stableSplitPoints })
    if (plan.segments.length === 0) throw new NotYetListable()
    const identified = await growing.identify(request, {
      mark,
      stat,
      isGrowing,
      counts: countRenditions(index),
      form: segmentForm(readers.forIndex(index), index),
      isListedAsGrowing: isGrowing || this.#exceedsTarget(request, index.splitPoints),
      wasListedHere: this.#growing.get(recordingKey(request))?.planned.isLasting === true,
    })
    if (identified === undefined) return undefined
    const { identity, counts, mayGrow, isLasting } = identified
    const growth = { tail: mark.tail, counts, isGrowing: mayGrow, samplesPlan }
    return { identity, isLasting, plan, growth }
  }

  /** Whether a regular segment would be longer than the target duration of an EVENT playlist. */
  #exceedsTarget(request: RecordingRequest, splitPoints: SplitPointTable): boolean {
    if (!request.isInEvent) return false
    const settings = this.#settingsOf(request)
    const plan = planSegments(splitPoints, settings)
    return longestSeconds(plan) > longestGrowingSeconds(settings.segmentSeconds)
  }

  /** Only a session starts with short segments, not each of its parts. */
  #settingsOf({ isFirst }: RecordingRequest): HlsSettings {
    const { settings } = this.#options
    return isFirst ? settings : { ...settings, startSegmentSeconds: settings.segmentSeconds }
  }
}

type PlayableInspection = Extract<Inspection, { status: 'playable' }>

/** The recording has no segment yet that may be listed. */
export class NotYetListable extends AppError {
  constructor() {
    super('busy', 'the recording has only just begun; try again in a moment')
  }
}

function recordingKey({ session, path, isFirst }: RecordingRequest): string {
  return JSON.stringify([session.streamer, session.date, session.sessionId, path, isFirst])
}

function finishedKey(request: RecordingRequest): string {
  const list = request.isInEvent ? 'event' : 'vod'
  const form = request.form ?? 'any'
  return `${request.stat.version} ${list} ${form} ${recordingKey(request)}`
}
