// Finds or makes the presentation of one recording: of a finished one by all of its bytes, of one that grows, or was ever
// listed while it grew, by what does not change.
import { LRUCache } from 'lru-cache'
import type { SessionReference } from '../../../shared/paths.ts'
import { AppError, UnplayableError } from '../../errors.ts'
import type { FoundRecording, IndexStore } from '../../media/index/index-store.ts'
import type { Inspection } from '../../media/index/inspect-recording.ts'
import type { MediaReaders } from '../../media/readers.ts'
import type { FileStat } from '../../storage/storage.ts'
import type { HlsSettings } from '../../delivery/encryption.ts'
import type { GrowingRecordings } from './growing-recordings.ts'
import { longestSeconds } from '../playlist/media-playlist.ts'
import { createSegmentBodies, Presentation, segmentForm } from './presentation.ts'
import type { SharedSegments } from './presentation.ts'
import type { SplitPointTable } from '../../media/media-index.ts'
import { countRenditions } from '../playlist/renditions.ts'
import {
  longestGrowingSeconds,
  planGrowingSegments,
  planSegments,
} from '../playlist/segment-plan.ts'
import type { TranscodedAudioTracks } from '../segment/transcoded-audio.ts'

/** A plan takes some kilobytes beside the index, which the store bounds. */
const MAX_FINISHED = 512
const MAX_GROWING = 128
/** What a file that is shorter than this cannot be judged by, while it grows. */
const MIN_JUDGED_BYTES = 256 * 1024

/** One recording, and what of it is wanted. */
export interface RecordingRequest {
  session: SessionReference
  path: string
  /** Tells it from the session's other recordings; stays when it is renamed. */
  name: string
  stat: FileStat
  /** `finished`: nothing is written to it any more. */
  state: 'growing' | 'finished'
  /** Others of the session grow, or did: what is listed keeps their promise. */
  isBesideGrowing: boolean
  /** When it began, in milliseconds since 1970, where a recorder's playlist says so. */
  startMs?: number | undefined
  /** As others of the session are: browsers stop where MPEG-TS becomes fMP4. Only of finished ones, where it can be. */
  form?: 'fmp4' | undefined
}

export interface PresenterOptions {
  indexes: IndexStore
  readers: MediaReaders
  growing: GrowingRecordings
  settings: HlsSettings
  audioTracks: TranscodedAudioTracks
  /** Ends waiting and indexing when the program ends. */
  signal: AbortSignal
}

export class Presenter {
  readonly #options: PresenterOptions
  readonly #finished = new LRUCache<string, Presentation>({ max: MAX_FINISHED })
  readonly #growing = new LRUCache<string, Presentation>({ max: MAX_GROWING })
  readonly #shared: SharedSegments

  constructor(options: PresenterOptions) {
    this.#options = options
    this.#shared = { bodies: createSegmentBodies(), audioTracks: options.audioTracks }
  }

  /** What needs no look at the recording; of one that grows it may be of a while ago. */
  known(request: RecordingRequest): Presentation | undefined {
    return request.state === 'finished'
      ? this.#finished.get(finishedKey(request))
      : this.#growing.get(recordingKey(request))
  }

  /**
   * The recording as it is now; `recent`: or was a second ago.
   *
   * @throws AppError `unplayable`, `gone`, `busy` (nothing of it can be listed yet)
   */
  async present(request: RecordingRequest, lookup: 'recent' | 'now'): Promise<Presentation> {
    const { indexes, signal } = this.#options
    const { path, stat, state } = request
    if (state === 'growing') {
      const found =
        lookup === 'now'
          ? await indexes.find(path, stat, signal)
          : await indexes.findRecent(path, stat, signal)
      return this.#presentGrowing(request, found)
    }
    const key = finishedKey(request)
    const known = this.#finished.get(key)
    if (known !== undefined) return known
    const presentation = await this.#make(request, await indexes.find(path, stat, signal))
    this.#growing.delete(recordingKey(request))
    this.#finished.set(key, presentation)
    return presentation
  }

  async #presentGrowing(request: RecordingRequest, found: FoundRecording): Promise<Presentation> {
    const { inspection } = found
    const key = recordingKey(request)
    const known = this.#growing.get(key)
    const isKnown = inspection.status === 'playable' && known?.recording.index === inspection.index
    if (isKnown) return known
    if (inspection.status === 'unplayable' && found.stat.sizeBytes < MIN_JUDGED_BYTES) {
      throw new NotYetListable()
    }
    const presentation = await this.#make(request, found)
    this.#growing.set(key, presentation)
    return presentation
  }

  async #make(
    request: RecordingRequest,
    { inspection, stat }: FoundRecording,
  ): Promise<Presentation> {
    if (inspection.status === 'unplayable') throw new UnplayableError(inspection.reason)
    const { settings } = this.#options
    const { streamer, date, sessionId } = request.session
    const { identity } = inspection
    const reader = this.#options.readers.forIndex(inspection.index)
    const wished = request.form === 'fmp4' ? reader.asSamples?.(inspection.index) : undefined
    const index = wished ?? inspection.index
    const recording = { session: { streamer, date, sessionId }, index, reader, stat }
    const listed = await this.#listedGrowth(request, inspection, stat)
    if (listed !== undefined) {
      return new Presentation({ ...recording, ...listed }, settings, this.#shared)
    }
    const plan = planSegments(index.splitPoints, settings.segmentSeconds)
    return new Presentation({ ...recording, identity, plan }, settings, this.#shared)
  }

  /** How the recording is listed where it grows, or once was listed so; undefined: by all of its bytes. */
  async #listedGrowth(
    request: RecordingRequest,
    { index, mark }: PlayableInspection,
    { sizeBytes }: FileStat,
  ) {
    const isGrowing = request.state === 'growing'
    if (mark === undefined) {
      if (isGrowing && index.growth !== undefined) throw new NotYetListable()
      return undefined
    }
    const { readers, growing, settings } = this.#options
    const plan = planGrowingSegments(index.splitPoints, {
      segmentSeconds: settings.segmentSeconds,
      longestSeconds: longestGrowingSeconds(settings.segmentSeconds),
      stableSplitPoints: index.growth?.stableSplitPoints ?? 0,
      finishedBytes: isGrowing ? undefined : sizeBytes,
    })
    if (plan.segments.length === 0) throw new NotYetListable()
    const named = await growing.identify(request, {
      mark,
      counts: countRenditions(index),
      form: segmentForm(readers.forIndex(index), index),
      listing: isGrowing || this.#breaksPromise(request, index.splitPoints) ? 'begins' : 'goes on',
    })
    if (named === undefined) return undefined
    const { identity, counts } = named
    return { identity, plan, growth: { tail: mark.tail, counts } }
  }

  /** A finished recording beside those that grow is listed as ever, unless a segment would be too long for them. */
  #breaksPromise({ isBesideGrowing }: RecordingRequest, splitPoints: SplitPointTable): boolean {
    if (!isBesideGrowing) return false
    const { segmentSeconds } = this.#options.settings
    const plan = planSegments(splitPoints, segmentSeconds)
    return longestSeconds(plan) > longestGrowingSeconds(segmentSeconds)
  }
}

type PlayableInspection = Extract<Inspection, { status: 'playable' }>

/** Nothing of a recording can be listed yet. */
export class NotYetListable extends AppError {
  constructor() {
    super('busy', 'the recording has only just begun; try again in a moment')
  }
}

function recordingKey({ session, path }: RecordingRequest): string {
  return JSON.stringify([session.streamer, session.date, session.sessionId, path])
}

function finishedKey(request: RecordingRequest): string {
  const { sizeBytes, modifiedMs } = request.stat
  const place = request.isBesideGrowing ? 'beside' : 'alone'
  const form = request.form ?? 'any'
  return `${sizeBytes} ${modifiedMs} ${place} ${form} ${recordingKey(request)}`
}
