// The details of a streamer: prepared once for each change of the catalog or of the streamer's
// folder.
import { LRUCache } from 'lru-cache'
import { sessionText } from '../../../shared/contract.ts'
import type { DetailsResponse } from '../../../shared/contract.ts'
import { streamerThumbnailApiPath } from '../../../shared/paths.ts'
import type { Catalog, SessionDetail } from '../../library/catalog/catalog.ts'
import { AppError, isAppError } from '../../base/errors.ts'
import { streamerFolder } from '../../library/metadata/sidecar-files.ts'
import type { Sidecars } from '../../library/metadata/sidecars.ts'
import type { TextResponse } from './responses/text-response.ts'
import type { FormatPath } from './site/base-path.ts'
import type { ThumbnailSources } from './thumbnail-sources.ts'

export interface StreamerDetailsOptions {
  catalog: Catalog
  sidecars: Sidecars
  sources: ThumbnailSources
  formatPath: FormatPath
}

export interface StreamerRequest {
  toResponse: (value: DetailsResponse) => TextResponse
  signal: AbortSignal
}

export type StreamerDescription = Pick<DetailsResponse, 'displayName' | 'description'>
type StreamerProfile = Omit<DetailsResponse, 'sessions'>

interface Prepared {
  response: TextResponse
  /** JSON of the profile. */
  profile: string
  /** The streamer's sessions have not changed up to this generation of the catalog. */
  generation: number
  /** When the next session is no longer growing. */
  validUntilMs: number
}

const MAX_BYTES = 32 * 1024 * 1024

export class StreamerDetails {
  readonly #options: StreamerDetailsOptions
  readonly #prepared = new LRUCache<string, Prepared>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ response, profile }) => response.memoryBytes + 2 * profile.length,
  })

  constructor(options: StreamerDetailsOptions) {
    this.#options = options
  }

  /** @throws AppError `not_found`, `gone`, `busy`; the signal's reason */
  async find(streamer: string, { toResponse, signal }: StreamerRequest): Promise<TextResponse> {
    const { catalog } = this.#options
    if (!catalog.hasStreamer(streamer)) {
      throw new AppError('not_found', 'there is no such streamer')
    }
    const profile = await this.#profile(streamer, signal)
    const known = this.#cached(streamer, JSON.stringify(profile))
    if (known !== undefined) return known
    const generation = catalog.generation()
    const nowMs = Date.now()
    const sessions = catalog.listDetails(streamer) ?? []
    const settling = sessions.map(({ settlesAtMs }) => settlesAtMs).filter((at) => at > nowMs)
    const response = toResponse({
      ...profile,
      sessions: sessions.map((session) => formatSession(session, nowMs)),
    })
    this.#prepared.set(streamer, {
      response,
      profile: JSON.stringify(profile),
      generation,
      validUntilMs: settling.reduce((first, at) => Math.min(first, at), Infinity),
    })
    return response
  }

  /** Name and description in the streamer's folder. @throws AppError `busy`; the signal's reason */
  async describe(streamer: string, signal: AbortSignal): Promise<StreamerDescription> {
    const { catalog, sidecars } = this.#options
    const [newest] = catalog.newestSessions(streamer, 1)
    const folder = newest && streamerFolder(newest)
    return folder === undefined ? {} : sidecars.streamer(folder, signal)
  }

  #cached(streamer: string, profile: string): TextResponse | undefined {
    const { catalog } = this.#options
    const prepared = this.#prepared.get(streamer)
    if (prepared?.profile !== profile || Date.now() >= prepared.validUntilMs) return undefined
    const generation = catalog.generation()
    const changed = catalog.changedStreamers(prepared.generation, generation)
    if (changed === 'all' || changed.has(streamer)) return undefined
    prepared.generation = generation
    return prepared.response
  }

  async #profile(streamer: string, signal: AbortSignal): Promise<StreamerProfile> {
    const { catalog, sidecars, formatPath } = this.#options
    const [newest] = catalog.newestSessions(streamer, 1)
    const folder = newest && streamerFolder(newest)
    if (folder === undefined) return {}
    const [text, hasAvatar] = await Promise.all([
      sidecars.streamer(folder, signal),
      this.#hasAvatar(folder),
    ])
    const avatarUrl = formatPath(streamerThumbnailApiPath(streamer))
    return { ...text, ...(hasAvatar && { avatarUrl }) }
  }

  async #hasAvatar(folder: string): Promise<boolean> {
    try {
      return await this.#options.sources.hasAvatar(folder)
    } catch (error) {
      if (!isAppError(error, 'not_found', 'failed')) throw error
      return false
    }
  }
}

function formatSession(
  { date, sessionId, startMs, settlesAtMs, ...text }: SessionDetail,
  nowMs: number,
): DetailsResponse['sessions'][number] {
  return {
    date,
    sessionId,
    ...sessionText(text),
    ...(startMs !== undefined && { startTime: new Date(startMs).toISOString() }),
    ...(settlesAtMs > nowMs && { growing: true }),
  }
}
