// The details of a streamer, composed from the catalog and the streamer's folder.
import { sessionText } from '../../../../shared/contract.ts'
import type { DetailsResponse } from '../../../../shared/contract.ts'
import { streamerThumbnailApiPath } from '../../../../shared/paths.ts'
import type { Catalog, SessionDetail } from '../../../library/catalog/catalog.ts'
import { AppError, isAppError } from '../../../base/errors.ts'
import { streamerFolder } from '../../../library/metadata/sidecar-files.ts'
import type { Sidecars } from '../../../library/metadata/sidecars.ts'
import type { FormatPath } from '../site/base-path.ts'
import type { ThumbnailSources } from './thumbnail-sources.ts'

export interface StreamerDetailsOptions {
  catalog: Catalog
  sidecars: Sidecars
  sources: ThumbnailSources
  formatPath: FormatPath
}

export type StreamerDescription = Pick<DetailsResponse, 'displayName' | 'description'>
export type StreamerProfile = Omit<DetailsResponse, 'sessions'>

/** The details of a streamer, for a time. */
export interface ListedDetails {
  details: DetailsResponse
  /** When the next session is no longer growing. */
  validUntilMs: number
}

export class StreamerDetails {
  readonly #options: StreamerDetailsOptions

  constructor(options: StreamerDetailsOptions) {
    this.#options = options
  }

  /**
   * What the streamer's folder has of the streamer.
   *
   * @throws AppError `not_found`, `gone`, `busy`; the signal's reason
   */
  async profile(streamer: string, signal: AbortSignal): Promise<StreamerProfile> {
    if (!this.#options.catalog.hasStreamer(streamer)) {
      throw new AppError('not_found', 'there is no such streamer')
    }
    return this.#profile(streamer, signal)
  }

  /** The profile with the streamer's sessions. @throws AppError `gone` */
  list(streamer: string, profile: StreamerProfile): ListedDetails {
    const nowMs = Date.now()
    const sessions = this.#options.catalog.listDetails(streamer) ?? []
    const settling = sessions.map(({ settlesAtMs }) => settlesAtMs).filter((at) => at > nowMs)
    return {
      details: { ...profile, sessions: sessions.map((session) => formatSession(session, nowMs)) },
      validUntilMs: settling.reduce((first, at) => Math.min(first, at), Infinity),
    }
  }

  /** Name and description in the streamer's folder. @throws AppError `busy`; the signal's reason */
  async describe(streamer: string, signal: AbortSignal): Promise<StreamerDescription> {
    const { catalog, sidecars } = this.#options
    const [newest] = catalog.newestSessions(streamer, 1)
    const folder = newest && streamerFolder(newest)
    return folder === undefined ? {} : sidecars.streamer(folder, signal)
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
