// The texts of a session: its playlist, those of its renditions, and segments of subtitles.
import { createHash } from 'node:crypto'
import { secondsFromTicks } from '../../media/media-index.ts'
import type { OpenFile } from '../../storage/storage.ts'
import { PLAYLIST_TYPE, TEXT_TYPE } from '../playlist/media-types.ts'
import { formatMultivariant } from '../playlist/multivariant-playlist.ts'
import type { TextResource } from './playable-session.ts'
import { formatPlaylist } from '../playlist/media-playlist.ts'
import type { PlaylistOptions, PlaylistPart } from '../playlist/media-playlist.ts'
import type { Presentation, SegmentPlace } from './presentation.ts'
import type { Renditions } from '../playlist/renditions.ts'
import { readBodyHead } from '../../delivery/read-body.ts'
import type { Rendition } from '../playlist/segment-names.ts'
import type { SubtitleFiles } from './subtitle-files.ts'
import { formatSubtitleSegment, readFirstStamp } from '../playlist/subtitle-segment.ts'
import type { TimestampMap } from '../playlist/subtitle-segment.ts'

/** One recording of a session. */
export interface SessionPart {
  path: string
  presentation: Presentation
  /** When it began, in milliseconds since 1970, where that is known. */
  startMs?: number | undefined
}

/** What a playlist that grows, or once did, says of itself. */
export type ListedGrowth = NonNullable<PlaylistOptions['growth']>

export interface SessionPlaylistsOptions {
  parts: readonly SessionPart[]
  isFresh: boolean
  growth: ListedGrowth | undefined
  /** Only of a session that is one recording. */
  sidecars?: SubtitleFiles
}

/** Players that saw a playlist grow may ask for it for so long after its end: until then it stays of one kind. */
const SIDECARS_AFTER_MS = 3_600_000
/** The head of a segment in which a time stamp stands. */
const STAMP_BYTES = 188 * 2000

export class SessionPlaylists {
  readonly #options: SessionPlaylistsOptions

  constructor(options: SessionPlaylistsOptions) {
    this.#options = options
  }

  /** `playlist.m3u8`: a media playlist, or a multivariant one where there is more than one sound or any text. */
  async playlist(file: OpenFile | undefined): Promise<TextResource> {
    const { parts } = this.#options
    const [part] = parts
    // What several recordings have in common is not looked for: they play with the first sound of each.
    if (parts.length !== 1 || part === undefined || file === undefined) return this.#listing()
    const renditions = await this.#renditions(part)
    if (renditions.audioTracks.length < 2 && renditions.subtitles.length === 0)
      return this.#listing()
    const { presentation } = part
    const bandwidth = await presentation.bandwidth(file)
    const { urlVersion, recording, plan } = presentation
    const { tracks } = recording.index
    const isIndependent = plan.isIndependent
    return this.#text([urlVersion, offerOf(renditions)], () =>
      formatMultivariant({ urlVersion, tracks, renditions, bandwidth, isIndependent }),
    )
  }

  /** The playlist of one rendition of a session that is one recording. */
  async mediaPlaylist(part: SessionPart, rendition: Rendition): Promise<TextResource | undefined> {
    if (this.#options.parts.length !== 1) return undefined
    const renditions = await this.#renditions(part)
    if (rendition.kind === 'text') {
      const isOffered = renditions.subtitles.some(({ id }) => id === rendition.id)
      return isOffered ? this.#listing({ rendition, form: 'vtt' }) : undefined
    }
    const isMissing = rendition.kind === 'audio' && !renditions.audioTracks[rendition.number]
    return isMissing ? undefined : this.#listing({ rendition, form: part.presentation.form })
  }

  /** One segment of a text. */
  async segment(
    part: SessionPart,
    { rendition, number, tailBytes }: SegmentPlace,
    file: OpenFile,
  ): Promise<TextResource | undefined> {
    const { presentation } = part
    const segment = presentation.plannedSegment({ number, tailBytes })
    if (rendition.kind !== 'text' || segment === undefined) return undefined
    const { subtitles } = await this.#renditions(part)
    const text = subtitles.find(({ id }) => id === rendition.id)
    if (text === undefined) return undefined
    const { timescale } = presentation.plan
    const map = await timestampMap(presentation, number, file)
    return {
      version: hashOf([presentation.urlVersion, rendition.id, number, tailBytes ?? null]),
      contentType: TEXT_TYPE,
      caching: 'immutable',
      format: () => formatSubtitleSegment(text.cues, segment, { timescale, map }),
    }
  }

  /** A media playlist: of all parts, or of one's rendition, which lies beside its segments. */
  #listing(alone?: Pick<PlaylistPart, 'rendition' | 'form'>): TextResource {
    const { parts, growth } = this.#options
    const listed = parts.map(({ presentation: { urlVersion, plan, form }, startMs }) => ({
      plan,
      urlPrefix: alone === undefined ? `${urlVersion}/` : '',
      form,
      startMs,
      ...alone,
    }))
    const isClear = alone?.form === 'vtt' || parts.every(({ presentation: { key } }) => !key)
    const encryption = isClear ? 'none' : 'aes-128'
    // With its version, a recording's segments are told by their number, and the last by its mark.
    const facts = parts.map(({ presentation: { urlVersion, plan }, startMs }) => [
      urlVersion,
      plan.segments.length,
      plan.segments.at(-1)?.tailBytes ?? null,
      startMs ?? null,
    ])
    return this.#text([alone ?? null, growth ?? null, facts], () =>
      formatPlaylist(listed, { encryption, growth }),
    )
  }

  #text(facts: unknown, format: () => string): TextResource {
    return {
      version: hashOf(facts),
      contentType: PLAYLIST_TYPE,
      caching: this.#options.isFresh ? 'fresh' : 'hour',
      format,
    }
  }

  async #renditions({ path, presentation }: SessionPart): Promise<Renditions> {
    const { sidecars } = this.#options
    const { growth, stat } = presentation.recording
    const mayHaveMore = growth === undefined || Date.now() - stat.modifiedMs > SIDECARS_AFTER_MS
    const found = mayHaveMore ? await sidecars?.find(path) : undefined
    return presentation.renditions(found ?? [])
  }
}

/** In MPEG-TS the media keeps its own clock, in fMP4 it has the session's. */
async function timestampMap(
  presentation: Presentation,
  number: number,
  file: OpenFile,
): Promise<TimestampMap> {
  const fromStart = { mediaTicks: 0, localSeconds: 0 }
  if (presentation.form === 'fmp4') return fromStart
  const { segments, timescale } = presentation.plan
  const body = await presentation.mainSegment(number, file)
  const mediaTicks = body && readFirstStamp(await readBodyHead(file, body, STAMP_BYTES))
  if (mediaTicks === undefined) return fromStart
  return {
    mediaTicks,
    localSeconds: secondsFromTicks(segments[number]?.startTicks ?? 0, timescale),
  }
}

/** What tells one offer from another; cues are told by the texts' ids. */
function offerOf({ audioTracks, subtitles }: Renditions): unknown {
  return [
    audioTracks,
    subtitles.map(({ id, name, language, isDefault }) => [id, name, language, isDefault]),
  ]
}

function hashOf(facts: unknown): string {
  return createHash('sha256').update(JSON.stringify(facts)).digest('base64url')
}
