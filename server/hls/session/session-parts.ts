// What a session is made of at this moment: its recordings in the order they are played, and whether more is to come.
import { parseRecordingName, stripEndings } from '../../catalog/names/recording-name.ts'
import { startTimeMs } from '../../catalog/names/start-time.ts'
import { isAppError } from '../../errors.ts'
import { isSettled } from '../../storage/settled.ts'
import type { FileStat } from '../../storage/storage.ts'
import type { GrowingRecordings } from './growing-recordings.ts'
import { mapConcurrently } from './map-concurrently.ts'
import type { SessionSource } from './playable-session.ts'
import type { Presentation } from './presentation.ts'
import type { Presenter, RecordingRequest } from './presenter.ts'
import type { PartFile, SessionFiles } from './session-files.ts'
import type { SessionPart } from './session-playlists.ts'

/** A part that another one follows counts as finished so soon. */
const FOLLOWED_SETTLE_SECONDS = 6

/** What of a session that grows is good enough: what was known a while ago, or a second ago, or nothing but the present. */
export type Freshness = 'known' | 'recent' | 'now'

export interface FoundParts {
  parts: readonly SessionPart[]
  /** Some part may still be written to. */
  isFresh: boolean
  /** The session is listed while it grows, or once was. */
  isEvent: boolean
}

export interface SessionPartsOptions {
  presenter: Presenter
  growing: GrowingRecordings
  files: SessionFiles
  /** A recording that has been still for so long counts as finished. */
  settleSeconds: number
}

export class SessionParts {
  readonly #options: SessionPartsOptions
  /** Of the folder listings that are still kept. */
  readonly #ofListing = new WeakMap<readonly PartFile[], Promise<FoundParts>>()

  constructor(options: SessionPartsOptions) {
    this.#options = options
  }

  /** What is known of a file's session without a look at the file; undefined where that is too little. */
  knownFile(source: SessionSource, stat: FileStat, lookup: Freshness): FoundParts | undefined {
    const request = this.#fileRequest(source, stat)
    if (lookup !== 'known' && request.state === 'growing') return undefined
    const known = this.#options.presenter.known(request)
    return known && fileParts(source, request, known)
  }

  /** A session that is one file, with this stat by now. */
  async ofFile(source: SessionSource, stat: FileStat, lookup: Freshness): Promise<FoundParts> {
    const request = this.#fileRequest(source, stat)
    return fileParts(source, request, await this.#presentOne(request, lookup))
  }

  /** A session that is a folder. @throws AppError the first part's reason where none can be played */
  async ofFolder(source: SessionSource, lookup: Freshness): Promise<FoundParts> {
    const { files: listings } = this.#options
    const { path } = source
    const files = await (lookup === 'now' ? listings.relist(path) : listings.list(path))
    const known = this.#ofListing.get(files)
    if (known !== undefined) return known
    const found = this.#findParts(source, files, lookup)
    if (lookup !== 'known') {
      this.#ofListing.set(files, found)
      found.catch(() => this.#ofListing.delete(files))
    }
    return found
  }

  #fileRequest(session: SessionSource, stat: FileStat): RecordingRequest {
    const state = this.#isSettled(stat, this.#options.settleSeconds) ? 'finished' : 'growing'
    return { session, path: session.path, name: '', stat, state, isBesideGrowing: false }
  }

  async #findParts(
    source: SessionSource,
    files: readonly PartFile[],
    lookup: Freshness,
  ): Promise<FoundParts> {
    const { growing, settleSeconds } = this.#options
    const isFresh = !files.every(({ stat }) => this.#isSettled(stat, settleSeconds))
    const wasGrowing = await growing.has(source)
    const isEvent = isFresh || wasGrowing
    const requests = this.#folderRequests(source, files, isEvent)
    const parts = await this.#presentInOneForm(source, requests, { lookup, isEvent })
    if (isFresh && !wasGrowing) await growing.begin(source)
    return { parts: withElapsedStarts(parts), isFresh, isEvent }
  }

  /** Nothing is listed behind a part that grows, for it would move. */
  #folderRequests(
    session: SessionSource,
    files: readonly PartFile[],
    isBesideGrowing: boolean,
  ): RecordingRequest[] {
    const { settleSeconds } = this.#options
    const requests: RecordingRequest[] = []
    for (const { path, name, stat, startMs } of files) {
      const isLast = requests.length === files.length - 1
      const seconds = isLast ? settleSeconds : Math.min(settleSeconds, FOLLOWED_SETTLE_SECONDS)
      const state = this.#isSettled(stat, seconds) ? 'finished' : 'growing'
      const own = { path, name: stripEndings(name), stat, startMs }
      requests.push({ session, ...own, state, isBesideGrowing })
      if (state === 'growing') break
    }
    return requests
  }

  /**
   * hls.js takes the first segments' form for that of all, and stops where it changes: so MPEG-TS beside fMP4 becomes fMP4
   * as well. Not where it was listed as what it is.
   */
  async #presentInOneForm(
    source: SessionSource,
    requests: readonly RecordingRequest[],
    { lookup, isEvent }: { lookup: Freshness; isEvent: boolean },
  ): Promise<SessionPart[]> {
    const parts = await this.#presentAll(source, requests, lookup)
    const forms = new Set(parts.map(({ presentation }) => presentation.form))
    if (isEvent || forms.size < 2) return parts
    const wished = requests.map((request): RecordingRequest => ({ ...request, form: 'fmp4' }))
    return this.#presentAll(source, wished, lookup)
  }

  /** All that can be played. */
  async #presentAll(
    source: SessionSource,
    requests: readonly RecordingRequest[],
    lookup: Freshness,
  ): Promise<SessionPart[]> {
    const reasons: unknown[] = []
    const found = await mapConcurrently(requests, async (request, i): Promise<SessionPart[]> => {
      try {
        const presentation = await this.#presentOne(request, lookup)
        const { path } = request
        return [{ path, presentation, startMs: request.startMs ?? partStartMs(source, path, i) }]
      } catch (error) {
        // One damaged part, one that has just gone or just begun, harms no other.
        if (!isAppError(error, 'unplayable', 'not_found', 'gone', 'busy')) throw error
        reasons.push(error)
        return []
      }
    })
    const parts = found.flat()
    if (parts.length === 0) throw reasons[0]
    return parts
  }

  async #presentOne(request: RecordingRequest, lookup: Freshness): Promise<Presentation> {
    const { presenter } = this.#options
    const known = lookup === 'known' ? presenter.known(request) : undefined
    return known ?? presenter.present(request, lookup === 'now' ? 'now' : 'recent')
  }

  #isSettled(stat: FileStat, seconds: number): boolean {
    return isSettled(stat, seconds, Date.now())
  }
}

function fileParts(
  { path, startMs }: SessionSource,
  { state }: RecordingRequest,
  presentation: Presentation,
): FoundParts {
  return {
    parts: [{ path, presentation, startMs }],
    isFresh: state === 'growing',
    isEvent: presentation.recording.growth !== undefined,
  }
}

/** When a part began: its own name is asked, and for the first what is known of the session. */
function partStartMs({ startMs }: SessionSource, path: string, number: number): number | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const fileName = parseRecordingName(name)?.base ?? name
  return startTimeMs({ date: '', sessionId: '', fileName }) ?? (number === 0 ? startMs : undefined)
}

/** A part whose name says nothing begins where the one before ends. */
function withElapsedStarts(parts: readonly SessionPart[]): SessionPart[] {
  let nextMs: number | undefined
  return parts.map((part) => {
    const startMs = part.startMs ?? nextMs
    nextMs = startMs === undefined ? undefined : startMs + part.presentation.listedSeconds * 1000
    return { ...part, startMs }
  })
}
