// The text files of a session: its playlist, those of its renditions, and subtitle segments.
import { createHash } from 'node:crypto'
import { findTrack } from '../../../../shared/find-track.ts'
import { AppError } from '../../../base/errors.ts'
import { readBodyHead } from '../../delivery/read-body.ts'
import { secondsFromTicks } from '../../../media/media-index.ts'
import type { VideoTrack } from '../../../media/media-index.ts'
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import { formatPlaylist } from '../playlist/media-playlist.ts'
import type { PlaylistGrowth } from '../playlist/media-playlist.ts'
import { PLAYLIST_TYPE, SUBTITLE_TYPE } from '../playlist/media-types.ts'
import { formatMultivariant } from '../playlist/multivariant-playlist.ts'
import type { Renditions, SubtitleRendition } from '../playlist/renditions.ts'
import { MAIN, subtitleFileName } from '../playlist/segment-names.ts'
import type { Rendition } from '../playlist/segment-names.ts'
import {
  formatSubtitleFile,
  formatSubtitleSegment,
  readFirstStamp,
} from '../playlist/subtitle-segment.ts'
import type { TimestampMap } from '../playlist/subtitle-segment.ts'
import type { HlsRecording, SegmentAddress } from './hls-recording.ts'
import { hasQuality, renditionOf } from './session-qualities.ts'
import type { Quality } from './session-qualities.ts'
import type { KnownStart, SessionSource } from './session-source.ts'
import type { SubtitleFiles } from './subtitle-files.ts'

/** A recording in the playlist of a session. */
export interface ListedRecording {
  path: string
  recording: HlsRecording
  /** Absent where that of the first recording is unknown. */
  start?: KnownStart | undefined
}

/** The recordings that a session has now. */
export interface FoundRecordings {
  recordings: readonly ListedRecording[]
  /** A recording may still be written to. */
  isGrowing: boolean
  /** The session is, or ever was, listed while it was growing. */
  isEvent: boolean
  /** A recording was left out that may be listed later, although no file changes. */
  isIncomplete: boolean
}

/** What a session's playlist lists. */
export interface Listing {
  /** With the path where the recording was found. */
  source: SessionSource
  recordings: readonly ListedRecording[]
  /** A recording may still be written to. */
  isGrowing: boolean
  /** Present if the session was ever listed while it was growing. */
  growth: PlaylistGrowth | undefined
  /** Only for a session that is a single file. */
  subtitleFiles: SubtitleFiles | undefined
}

interface TrackLabel {
  name: string
  /** BCP 47. */
  language?: string
}

/** The audio and subtitles of a session, in the order of its playlist. */
export interface SessionTracks {
  audio: TrackLabel[]
  /** With the URL of a WebVTT file: `{version}/{file}`, next to the session's playlist. */
  subtitles: (TrackLabel & { version: string; file: string })[]
}

/** A text file, which is formatted only if its version is not cached. */
export interface TextFile {
  /** Files with equal versions have equal text. */
  version: string
  contentType: string
  /** `short`: it may change soon. `immutable`: it never changes. */
  caching: 'short' | 'hour' | 'immutable'
  format(): string
  /** Distinguishes files with the same path. */
  selection?: string
}

/**
 * Players that started with a growing playlist may reload it for this long after its end. Until
 * then, a new subtitle file must not make it multivariant.
 */
const SUBTITLE_FILES_AFTER_MS = 3_600_000
/** The start of a segment, which has a timestamp. */
const STAMP_BYTES = 188 * 2000

export interface PlaylistRequest {
  /** The recording of a session that is a single file. */
  file: OpenFile | undefined
  /** `trackKey` of an audio track; the default is the first, also if no track has this key. */
  audio?: string | undefined
  /** Default `original`. */
  quality?: Quality | undefined
  /** Opens a recording again. */
  open: (this: void, path: string) => Promise<OpenFile>
}

/**
 * `playlist.m3u8`: multivariant if there are several audio renditions to choose from, or subtitles
 * beside a video. Its video is with the audio that is requested.
 *
 * @throws AppError `no_such_quality`; `busy` if nothing of it can be listed yet, or the encoder is
 */
export async function sessionPlaylist(
  listing: Listing,
  { file, audio = '', quality = 'original', open }: PlaylistRequest,
): Promise<TextFile> {
  const [listed, second] = listing.recordings
  checkQuality(listing, quality)
  const encoded = await findEncodedTrack(listing, quality, open)
  // Several recordings play with the default audio of each: their renditions may differ.
  if (listed === undefined || second !== undefined || file === undefined) {
    return selectedPlaylist(listing, quality)
  }
  const renditions = await findRenditions(listing, listed, renditionOf(quality))
  const { audioTracks, subtitles } = renditions
  const muxed = Math.max(0, findTrack(audioTracks, audio))
  const isChoice = quality === 'original' && audioTracks.length > 1
  const hasText = quality !== 'audio' && subtitles.length > 0
  if (!isChoice && !hasText) return selectedPlaylist(listing, quality, muxed)
  const { recording } = listed
  const variant = renditionOf(quality, muxed)
  const bandwidth = await recording.bandwidth(file, quality === 'original' ? MAIN : variant)
  const { urlVersion, plan } = recording
  const variantVersion = recording.identityOf(variant).urlVersion
  const recorded = recording.tracksOf(variant)
  const tracks = encoded === undefined ? recorded : [encoded, ...recorded]
  const { isIndependent } = plan
  const facts = [variantVersion, renditionFacts(renditions), muxed]
  const selected = { renditions, variant, variantVersion }
  const text = playlistFile(listing, quality === 'original' ? facts : [...facts, quality], () =>
    formatMultivariant({ urlVersion, tracks, ...selected, bandwidth, isIndependent }),
  )
  return { ...text, selection: selectionOf(quality, muxed) }
}

/** The media playlist of a quality with an audio. */
function selectedPlaylist(listing: Listing, quality: Quality, audio = 0): TextFile {
  if (quality === 'original') return mediaPlaylist(listing, MAIN)
  const text = mediaPlaylist(listing, renditionOf(quality, audio))
  return { ...text, selection: selectionOf(quality, audio) }
}

function selectionOf(quality: Quality, audio: number): string {
  return quality === 'original' ? String(audio) : `${quality} ${audio}`
}

function checkQuality({ recordings: listed }: Listing, quality: Quality): void {
  if (quality === 'original') return
  const recordings = listed.map(({ recording }) => recording)
  if (!hasQuality(recordings, quality)) {
    throw new AppError('no_such_quality', 'the session has no such quality')
  }
  const rendition = renditionOf(quality)
  if (recordings.some((recording) => recording.planOf(rendition).segments.length > 0)) return
  throw new AppError('busy', 'the recording has only just begun; try again in a moment')
}

/**
 * The video of an encoded quality; undefined for others.
 *
 * @throws AppError `no_such_quality` if it cannot be encoded, `busy`
 */
async function findEncodedTrack(
  { recordings: [listed] }: Listing,
  quality: Quality,
  open: PlaylistRequest['open'],
): Promise<VideoTrack | undefined> {
  const rendition = renditionOf(quality)
  if (rendition.kind !== 'encoded' || listed === undefined) return undefined
  const { path, recording } = listed
  const track = await recording.encodes?.track(rendition, { open: async () => open(path) })
  if (track !== undefined) return track
  throw new AppError('no_such_quality', 'the video is HDR, or cannot be decoded')
}

/** The playlist of one rendition, for a session that is one recording. */
export async function renditionPlaylist(
  listing: Listing,
  listed: ListedRecording,
  rendition: Rendition,
): Promise<TextFile | undefined> {
  if (listing.recordings.length !== 1) return undefined
  const renditions = await findRenditions(listing, listed)
  if (rendition.kind === 'subtitles') {
    const exists = renditions.subtitles.some(({ id }) => id === rendition.id)
    return exists ? mediaPlaylist(listing, rendition, 'beside segments') : undefined
  }
  if (!listed.recording.has(rendition)) return undefined
  return mediaPlaylist(listing, rendition, 'beside segments')
}

/** One segment of a subtitle rendition. */
export async function subtitleSegment(
  listing: Listing,
  listed: ListedRecording,
  { rendition, number, tailBytes, file }: SegmentAddress & { file: OpenFile },
): Promise<TextFile | undefined> {
  const { recording } = listed
  const segment = recording.plannedSegment({ number, tailBytes, rendition })
  if (rendition.kind !== 'subtitles' || segment === undefined) return undefined
  const { subtitles } = await findRenditions(listing, listed)
  const track = subtitles.find(({ id }) => id === rendition.id)
  if (track === undefined) return undefined
  const { timescale } = recording.plan
  const map = await timestampMap(recording, number, file)
  return {
    ...subtitleFacts(listing, listed, { ...track, segment: [number, tailBytes ?? null] }),
    format: () => formatSubtitleSegment(track.cues, segment, { timescale, map }),
  }
}

/** All cues of one subtitle rendition. */
export async function subtitleFile(
  listing: Listing,
  listed: ListedRecording,
  id: string,
): Promise<TextFile | undefined> {
  if (listing.recordings.length !== 1) return undefined
  const { subtitles } = await findRenditions(listing, listed)
  const track = subtitles.find((each) => each.id === id)
  if (track === undefined) return undefined
  return {
    ...subtitleFacts(listing, listed, track),
    format: () => formatSubtitleFile(track.cues),
  }
}

/** The recording's own cues become more while it grows, also before the end of the last one. */
function subtitleFacts(
  { isGrowing }: Listing,
  { recording: { urlVersion, planned } }: ListedRecording,
  { id, cues, segment }: SubtitleRendition & { segment?: unknown },
): Omit<TextFile, 'format'> {
  const finished = planned.growth === undefined ? 'immutable' : 'hour'
  return {
    version: hashOf([urlVersion, id, segment, cues.length, cues.at(-1)?.endSeconds ?? null]),
    contentType: SUBTITLE_TYPE,
    caching: isGrowing ? 'short' : finished,
  }
}

/** What visitors can choose from. */
export async function sessionTracks(listing: Listing): Promise<SessionTracks> {
  const [listed, second] = listing.recordings
  if (listed === undefined) return { audio: [], subtitles: [] }
  const { audioTracks, subtitles } = await findRenditions(listing, listed)
  // Several recordings play with the default audio of each.
  const isSingle = second === undefined
  const { urlVersion: version } = listed.recording
  return {
    audio: audioTracks.slice(0, isSingle ? undefined : 1).map(labelOf),
    subtitles: (isSingle ? subtitles : []).map((track) => ({
      ...labelOf(track),
      version,
      file: subtitleFileName(track.id),
    })),
  }
}

function labelOf({ name, language }: TrackLabel): TrackLabel {
  return { name, ...(language !== undefined && { language }) }
}

/** A media playlist: that of the session, or one beside its segments. */
function mediaPlaylist(
  { recordings, growth, ...listing }: Listing,
  rendition: Rendition,
  place: 'session' | 'beside segments' = 'session',
): TextFile {
  const isText = rendition.kind === 'subtitles'
  const parts = recordings.map(({ recording, start }) => ({
    plan: recording.planOf(rendition),
    urlPrefix: place === 'session' ? `${recording.identityOf(rendition).urlVersion}/` : '',
    form: isText ? ('vtt' as const) : recording.formOf(rendition),
    rendition,
    startMs: start?.ms,
  }))
  const isClear = isText || recordings.every(({ recording: { key } }) => !key)
  const encryption = isClear ? 'none' : 'aes-128'
  // For a URL version, the number of segments and the last one's tail identify the list.
  const lists = recordings.map(({ recording, start }, at) => {
    const { urlVersion } = recording.identityOf(rendition)
    const { segments = [] } = parts[at]?.plan ?? {}
    return [urlVersion, segments.length, segments.at(-1)?.tailBytes ?? null, start?.ms ?? null]
  })
  return playlistFile(listing, [place, rendition, growth ?? null, lists], () =>
    formatPlaylist(parts, { encryption, growth }),
  )
}

function playlistFile(
  { isGrowing }: Pick<Listing, 'isGrowing'>,
  facts: unknown,
  format: () => string,
): TextFile {
  return {
    version: hashOf(facts),
    contentType: PLAYLIST_TYPE,
    caching: isGrowing ? 'short' : 'hour',
    format,
  }
}

async function findRenditions(
  { subtitleFiles }: Listing,
  { path, recording }: ListedRecording,
  rendition: Rendition = MAIN,
): Promise<Renditions> {
  const { growth, stat } = recording.planned
  const mayAddFiles = growth === undefined || Date.now() - stat.modifiedMs > SUBTITLE_FILES_AFTER_MS
  const sidecars = mayAddFiles ? await subtitleFiles?.find(path) : undefined
  return recording.renditions(sidecars ?? [], rendition)
}

/** MPEG-TS media has its own clock, fMP4 media has the session's. */
async function timestampMap(
  recording: HlsRecording,
  number: number,
  file: OpenFile,
): Promise<TimestampMap> {
  const fromStart = { mediaTicks: 0, localSeconds: 0 }
  if (recording.form === 'fmp4') return fromStart
  const { segments, timescale } = recording.plan
  const body = await recording.mainSegment(number, file)
  const mediaTicks = body && readFirstStamp(await readBodyHead(file, body, STAMP_BYTES))
  if (mediaTicks === undefined) return fromStart
  return {
    mediaTicks,
    localSeconds: secondsFromTicks(segments[number]?.startTicks ?? 0, timescale),
  }
}

/** Identifies the list of renditions. The ids of subtitles identify their cues. */
function renditionFacts({ audioTracks, subtitles }: Renditions): unknown {
  return [
    audioTracks,
    subtitles.map(({ id, name, language, isDefault }) => [id, name, language, isDefault]),
  ]
}

function hashOf(facts: unknown): string {
  return createHash('sha256').update(JSON.stringify(facts)).digest('base64url')
}
