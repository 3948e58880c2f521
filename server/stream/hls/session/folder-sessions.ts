// Sessions that are a folder of parts.
import { LRUCache } from 'lru-cache'
import { isAppError } from '../../../base/errors.ts'
import { isUnchanged } from '../../../storage/recordings/settled.ts'
import { plannedBytes } from '../segment/planned-recording.ts'
import { isRecent } from './freshness.ts'
import type { Freshness } from './freshness.ts'
import type { GrowingIdentities } from './growing-identities.ts'
import { NotYetListable } from './hls-recordings.ts'
import type { HlsRecordings, RecordingRequest } from './hls-recordings.ts'
import { mapConcurrently } from './map-concurrently.ts'
import type { PartFile, PartFolders } from './part-folders.ts'
import { folderRequests, partStart, sourceStart, withStarts } from './part-requests.ts'
import type { FoundRecordings } from './session-playlists.ts'
import type { SessionSource } from './session-source.ts'

/** As in `HlsRecordings`, which may have evicted them. */
const MAX_FOUND_BYTES = 64 * 1024 * 1024

export interface FolderSessionsOptions {
  partFolders: PartFolders
  recordings: HlsRecordings
  growing: GrowingIdentities
  /** A recording without a write for this time counts as finished. */
  settleSeconds: number
}

/** The recordings of a folder listing. */
interface KnownRecordings {
  found: FoundRecordings
  /** Their starts depend on its own. */
  source: SessionSource
  checkedMs: number
}

export class FolderSessions {
  readonly #options: FolderSessionsOptions
  /** By folder listing, which is the same array until the folder changes. */
  readonly #byListing = new LRUCache<readonly PartFile[], KnownRecordings>({
    maxSize: MAX_FOUND_BYTES,
    sizeCalculation: ({ found }) => foundBytes(found),
  })
  readonly #inFlight = new WeakMap<readonly PartFile[], Promise<FoundRecordings>>()

  constructor(options: FolderSessionsOptions) {
    this.#options = options
  }

  /** @throws AppError the first recording's reason if none is playable */
  async find(source: SessionSource, freshness: Freshness): Promise<FoundRecordings> {
    const { partFolders } = this.#options
    const { path } = source
    const files = await (freshness === 'current'
      ? partFolders.listNow(path)
      : partFolders.list(path))
    const known = this.#byListing.get(files)
    if (known !== undefined && (await this.#isCurrent(source, known, freshness))) return known.found
    const flight = this.#inFlight.get(files)
    if (flight !== undefined) return flight
    const finding = this.#findParts(source, files, freshness)
    if (freshness === 'cached') return finding
    this.#inFlight.set(files, finding)
    try {
      const found = await finding
      this.#byListing.set(files, { found, source, checkedMs: performance.now() })
      return found
    } finally {
      this.#inFlight.delete(files)
    }
  }

  /** While no file changes, only time and the records of other processes can change the result. */
  async #isCurrent(
    source: SessionSource,
    known: KnownRecordings,
    freshness: Freshness,
  ): Promise<boolean> {
    const { found, source: before } = known
    if (before.startMs !== source.startMs || before.startFrom !== source.startFrom) return false
    const isFinal = !found.isGrowing && !found.isIncomplete
    if (isRecent(known.checkedMs, performance.now())) return freshness !== 'current'
    if (!isFinal) return false
    if ((await this.#options.growing.wasListed(source)) !== found.isEvent) return false
    known.checkedMs = performance.now()
    return true
  }

  async #findParts(
    source: SessionSource,
    files: readonly PartFile[],
    freshness: Freshness,
  ): Promise<FoundRecordings> {
    const { settleSeconds } = this.#options
    const nowMs = Date.now()
    const isGrowing = !files.every(({ stat }) => isUnchanged(stat, settleSeconds, nowMs))
    const wasListed = await this.#options.growing.wasListed(source)
    const isEvent = isGrowing || wasListed
    const requests = folderRequests(source, files, { settleSeconds, nowMs, isInEvent: isEvent })
    let all = await this.#findAll(source, requests, freshness)
    // hls.js assumes the container of the first segments for all, and stops at another one. So
    // MPEG-TS next to fMP4 is converted, unless it was already listed.
    const forms = new Set(all.recordings.map(({ recording }) => recording.form))
    if (!isEvent && forms.size > 1) {
      const converted = requests.map((request) => ({ ...request, form: 'fmp4' as const }))
      all = await this.#findAll(source, converted, freshness)
    }
    if (isGrowing && !wasListed) await this.#options.growing.recordListed(source)
    const { recordings, isIncomplete } = all
    return { recordings, isGrowing, isEvent, isIncomplete }
  }

  /** All playable recordings. */
  async #findAll(
    source: SessionSource,
    requests: readonly RecordingRequest[],
    freshness: Freshness,
  ): Promise<Pick<FoundRecordings, 'recordings' | 'isIncomplete'>> {
    const reasons: unknown[] = []
    const found = await mapConcurrently(requests, async (request) => {
      try {
        const recording = await this.#options.recordings.find(request, freshness)
        return [{ path: request.path, recording, start: partStart(request) }]
      } catch (error) {
        // A part that is corrupt, missing or too short is left out.
        if (!isLeftOut(error)) throw error
        reasons.push(error)
        return []
      }
    })
    const isFirstListed = found[0]?.length === 1
    const recordings = withStarts(isFirstListed ? sourceStart(source) : undefined, found.flat())
    if (recordings.length === 0) throw reasons[0]
    const isIncomplete = reasons.some((reason) => !isAppError(reason, 'unplayable'))
    return { recordings, isIncomplete }
  }
}

function foundBytes({ recordings }: FoundRecordings): number {
  return recordings.reduce((sum, { recording }) => sum + plannedBytes(recording.planned), 1)
}

function isLeftOut(error: unknown): boolean {
  return isAppError(error, 'unplayable', 'not_found', 'gone') || error instanceof NotYetListable
}
