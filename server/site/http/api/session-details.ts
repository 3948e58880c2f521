// The details of a session, composed from the catalog, the open session and the sidecars.
import { closingAsync } from '../../../base/closing.ts'
import { withTimeout } from '../../../../shared/with-timeout.ts'
import { sessionText } from '../../../../shared/contract.ts'
import type { SessionResponse } from '../../../../shared/contract.ts'
import {
  aroundApiPath,
  chatApiPath,
  originalFilePath,
  playlistFileApiPath,
  storyboardApiPath,
} from '../../../../shared/paths.ts'
import type { SessionReference } from '../../../../shared/paths.ts'
import type { Catalog, SessionRow } from '../../../library/catalog/catalog.ts'
import { AppError, isAppError } from '../../../base/errors.ts'
import type { SessionPart } from '../../../stream/hls/session/open-session.ts'
import { sourceStart } from '../../../stream/hls/session/part-requests.ts'
import type { SessionOpener } from '../../../stream/hls/session/session-opener.ts'
import type { SessionQuality } from '../../../stream/hls/session/session-qualities.ts'
import type { KnownStart } from '../../../stream/hls/session/session-source.ts'
import type { SessionTracks } from '../../../stream/hls/session/session-playlists.ts'
import { fitChapters } from '../../../library/metadata/chapters.ts'
import type { Chapter } from '../../../library/metadata/chapters.ts'
import { cleanTitle } from '../../../base/clean-text.ts'
import type { ContainerChapters } from '../../../library/metadata/container-chapters.ts'
import type { SessionSidecars, Sidecars } from '../../../library/metadata/sidecars.ts'
import { hasStoryboard } from '../../../decode/storyboards/plan-storyboard.ts'
import type { FormatPath } from '../site/base-path.ts'
import { originalFileName } from '../site/session-text.ts'
import type { SessionChats } from './session-chats.ts'

export interface SessionDetailsOptions {
  catalog: Catalog
  sessions: SessionOpener
  sidecars: Sidecars
  containerChapters: ContainerChapters
  /** Undefined: chats are not served. */
  sessionChats: SessionChats | undefined
  /** Whether recordings are offered as they are. */
  offersOriginals: boolean
  /** Without decoders there are no storyboards. */
  hasDecoders: boolean
  /** A recording without a write for this time counts as finished. */
  settleSeconds: number
  formatPath: FormatPath
}

/** Wait for a recording that is not indexed yet: its title is known before its tracks. */
const OPEN_WAIT_MS = 2000

/** What an open session contributes. */
interface OpenedDetails {
  isGrowing: boolean
  start: KnownStart | undefined
  tracks: SessionTracks
  parts: SessionPart[]
  hasStoryboard: boolean
  /** Undefined if no recording is offered. */
  originalName: string | undefined
  video: SessionResponse['video']
  qualities: SessionQuality[]
}

/** What search engines get of a session besides its row. */
export interface SessionDescription {
  /** Untrusted text. */
  description?: string | undefined
  /** In order of their starts, within the session. */
  chapters: readonly Chapter[]
}

export class SessionDetails {
  readonly #options: SessionDetailsOptions

  constructor(options: SessionDetailsOptions) {
    this.#options = options
  }

  /**
   * The details of a listed session. While it is not indexed yet, without duration and tracks.
   *
   * @throws AppError `not_found`, `gone`, `unplayable`, `busy`; the signal's reason
   */
  async find(row: SessionRow, signal: AbortSignal): Promise<SessionResponse> {
    const { catalog, sidecars, sessionChats, formatPath } = this.#options
    const { previous, next } = catalog.neighbours(row)
    const [opened, text, hasChat] = await Promise.all([
      this.#open(row),
      sidecars.session(row, signal),
      sessionChats?.has(row, signal),
    ])
    const { description } = text
    const durationSeconds = opened && secondsOf(opened.parts)
    const chapters = await this.#chapters(text.chapters, opened)
    return {
      ...sessionText(text),
      ...(description !== undefined && { description }),
      ...formatStart(startOf(row, text, opened)),
      ...(durationSeconds !== undefined && { durationSeconds }),
      growing: opened?.isGrowing ?? this.#isRecent(row),
      chapters:
        durationSeconds === undefined ? [...chapters] : fitChapters(chapters, durationSeconds),
      tracks:
        opened === undefined ? { audio: [], subtitles: [] } : formatTracks(row, opened, formatPath),
      ...(opened?.video && { video: opened.video }),
      qualities: opened?.qualities ?? [],
      ...(opened?.hasStoryboard === true && {
        storyboard: { url: formatPath(storyboardApiPath(row)) },
      }),
      ...(opened?.originalName !== undefined && {
        download: { url: formatPath(originalFilePath(row, opened.originalName)) },
      }),
      ...(row.startMs !== undefined &&
        row.state.status === 'playable' && { around: { url: formatPath(aroundApiPath(row)) } }),
      ...(hasChat === true && { chat: { url: formatPath(chatApiPath(row)) } }),
      ...(previous && { previous: linkTo(previous) }),
      ...(next && { next: linkTo(next) }),
    }
  }

  /**
   * Description and chapters of a playable session.
   *
   * @throws as `find`
   */
  async describe(row: SessionRow, signal: AbortSignal): Promise<SessionDescription> {
    const { description, chapters } = await this.#options.sidecars.session(row, signal)
    if (row.state.status !== 'playable') return { description, chapters: [] }
    const opened = chapters.length > 0 ? undefined : await this.#open(row)
    const all = await this.#chapters(chapters, opened)
    return { description, chapters: fitChapters(all, row.state.durationSeconds) }
  }

  /** Undefined for a session that is not indexed yet, or has nothing to list yet. */
  async #open(row: SessionRow): Promise<OpenedDetails | undefined> {
    const open = async (): Promise<OpenedDetails> => {
      const session = await this.#options.sessions.open(row)
      await using _closing = closingAsync(session)
      const { isGrowing, start, parts, frames } = session
      const canShow = this.#options.hasDecoders && hasStoryboard(frames)
      const [video, tracks] = [session.video, await session.tracks()]
      const qualities = await session.qualities()
      const isOffered =
        this.#options.offersOriginals && (await session.soleRecording()) !== undefined
      const originalName = isOffered ? originalFileName(row.sessionId, parts) : undefined
      const found = { start, parts, originalName, video, tracks, qualities }
      return { isGrowing, hasStoryboard: canShow, ...found }
    }
    const reason = (): AppError => new AppError('busy', 'the recording is being indexed')
    try {
      return await withTimeout(open, { timeoutMs: OPEN_WAIT_MS, reason })
    } catch (error) {
      if (!isAppError(error, 'busy')) throw error
      return undefined
    }
  }

  /** Those of the sidecars, else those in the containers, which are complete in the end. */
  async #chapters(
    listed: readonly Chapter[],
    opened: OpenedDetails | undefined,
  ): Promise<readonly Chapter[]> {
    if (listed.length > 0 || opened === undefined || opened.isGrowing) return listed
    return this.#options.containerChapters.find(opened.parts)
  }

  #isRecent({ modifiedMs }: SessionRow): boolean {
    const ageMs = Date.now() - modifiedMs
    return ageMs >= 0 && ageMs < this.#options.settleSeconds * 1000
  }
}

function linkTo({ date, sessionId, title }: SessionRow): SessionResponse['previous'] {
  return { date, sessionId, ...(title !== undefined && { title }) }
}

/** By the sidecars as they are now, else as the playlist has it. */
function startOf(
  row: SessionRow,
  { startMs }: SessionSidecars,
  opened: OpenedDetails | undefined,
): KnownStart | undefined {
  if (startMs !== undefined) return { ms: startMs, from: 'metadata' }
  return opened === undefined ? sourceStart(row) : opened.start
}

function formatStart(start: KnownStart | undefined): Partial<SessionResponse> {
  if (start === undefined) return {}
  return { startTime: new Date(start.ms).toISOString(), startTimeFrom: start.from }
}

function secondsOf(parts: readonly SessionPart[]): number {
  const last = parts.at(-1)
  const seconds = last === undefined ? 0 : last.startSeconds + last.durationSeconds
  return Math.round(seconds * 1000) / 1000
}

function formatTracks(
  { streamer, date, sessionId }: SessionReference,
  { tracks }: OpenedDetails,
  formatPath: FormatPath,
): SessionResponse['tracks'] {
  const session = { streamer, date, sessionId }
  return {
    audio: tracks.audio.map(({ name, language }) => labelled(name, language)),
    subtitles: tracks.subtitles.map(({ name, language, version, file }) => ({
      ...labelled(name, language),
      url: formatPath(playlistFileApiPath(session, { version, file })),
    })),
  }
}

/** Names of tracks are text of the recording, as untrusted as that of sidecars. */
function labelled(name: string, language: string | undefined) {
  const label = cleanTitle(name) ?? language ?? 'Track'
  return { label, ...(language !== undefined && { language }) }
}
