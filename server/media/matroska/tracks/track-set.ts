// Selects the served tracks of a Tracks element, and their order.
import type { AudioTrack, Track } from '../../media-index.ts'
import { MAX_SUBTITLE_TRACKS } from '../matroska-limits.ts'
import type { AudioStreamInfo, SubtitleStream, TrackSet, VideoStream } from '../matroska-source.ts'
import type { UnplayableReason } from '../../../base/problem.ts'
import { describeAudio } from './audio-stream.ts'
import type { TrackEntry } from './track-entry.ts'
import { describeVideo } from './video-stream.ts'

/** The served tracks, and why others are not served. */
export interface ChosenSet {
  set: TrackSet
  refusedVideo?: UnplayableReason
  /** Number of video tracks besides the served one. */
  furtherVideoTracks: number
  refusedAudioTracks: UnplayableReason[]
  /** Codecs of subtitle tracks that are not served. */
  refusedSubtitles: string[]
}

/**
 * The first enabled video track, all playable or transcodable audio tracks with the default one
 * first, and all subtitles.
 */
export function chooseTrackSet(entries: readonly TrackEntry[]): ChosenSet {
  const [videoEntry, ...furtherVideo] = enabledFirst(entries, 'video')
  const video = videoEntry && describeVideo(videoEntry)
  const described = enabledFirst(entries, 'audio').map((entry) => ({
    entry,
    audio: describeAudio(entry),
  }))
  const served = described.flatMap(({ entry, audio: audioTrack }) =>
    audioTrack.status === 'playable'
      ? [{ stream: audioTrack.stream, isDefault: entry.isDefault }]
      : [],
  )
  const subtitles = enabledFirst(entries, 'subtitle')
  return {
    set: {
      ...(video?.status === 'playable' && { video: video.stream }),
      audioTracks: defaultFirst(served),
      subtitles: subtitles.flatMap(describeSubtitle).slice(0, MAX_SUBTITLE_TRACKS),
    },
    ...(video?.status === 'unplayable' && { refusedVideo: video.reason }),
    furtherVideoTracks: furtherVideo.length,
    refusedAudioTracks: described.flatMap(({ audio: audioTrack }) =>
      audioTrack.status === 'unplayable' ? [audioTrack.reason] : [],
    ),
    refusedSubtitles: subtitles.flatMap((entry) =>
      describeSubtitle(entry).length > 0 ? [] : [entry.codec],
    ),
  }
}

/** Disabled tracks count only if there is no enabled one. */
function enabledFirst(entries: readonly TrackEntry[], kind: TrackEntry['kind']): TrackEntry[] {
  const ofKind = entries.filter((entry) => entry.kind === kind && entry.number > 0)
  const enabled = ofKind.filter((entry) => entry.isEnabled)
  return enabled.length > 0 ? enabled : ofKind
}

interface Candidate {
  stream: AudioStreamInfo
  isDefault: boolean
}

/** The default track is first; among equals of the same language, one that needs no transcoding. */
function defaultFirst(candidates: readonly Candidate[]): AudioStreamInfo[] {
  const preferred = candidates.find(({ isDefault }) => isDefault) ?? candidates[0]
  if (preferred === undefined) return []
  const peers = candidates.filter(
    ({ stream, isDefault }) =>
      isDefault === preferred.isDefault &&
      stream.described.language === preferred.stream.described.language,
  )
  const first =
    peers.find(({ stream }) => stream.described.transcodedFrom === undefined) ?? preferred
  return [first, ...candidates.filter((candidate) => candidate !== first)].map(
    ({ stream }) => stream,
  )
}

const SUBTITLE_FORMATS = new Map<string, SubtitleStream['format']>([
  ['S_TEXT/UTF8', 'srt'],
  ['S_TEXT/ASCII', 'srt'],
  ['S_TEXT/ASS', 'ass'],
  ['S_TEXT/SSA', 'ass'],
  ['S_ASS', 'ass'],
  ['S_SSA', 'ass'],
  ['S_TEXT/WEBVTT', 'webvtt'],
  ['D_WEBVTT/SUBTITLES', 'webm-vtt'],
  ['D_WEBVTT/CAPTIONS', 'webm-vtt'],
])

function describeSubtitle(entry: TrackEntry): SubtitleStream[] {
  const format = SUBTITLE_FORMATS.get(entry.codec)
  const { kind } = entry.encoding
  if (format === undefined || (kind !== 'none' && kind !== 'zlib')) return []
  const { number, language, name, isDefault } = entry
  return [
    {
      number,
      format,
      isZlib: kind === 'zlib',
      ...(language !== undefined && { language }),
      ...(name !== undefined && { name }),
      isDefault,
    },
  ]
}

/**
 * A later set with its audio in the order of the first, matched by language and then by position.
 * Audio that cannot continue the listed track (transcoded or not, another recorded format) is
 * dropped.
 */
export function alignSet(first: TrackSet, later: TrackSet): TrackSet {
  const left = later.audioTracks.filter((audioTrack) => audioTrack !== undefined)
  const audioTracks = first.audioTracks.map((listed) => {
    const matches = left.filter(
      (audioTrack) => listed !== undefined && isCompatible(listed, audioTrack),
    )
    const language = listed?.described.language
    const found =
      matches.find((audioTrack) => audioTrack.described.language === language) ?? matches[0]
    if (found !== undefined) left.splice(left.indexOf(found), 1)
    return found
  })
  const { subtitles } = later
  const { video } = first.video === undefined ? {} : later
  return {
    ...(video && { video }),
    audioTracks,
    subtitles: first.subtitles.flatMap((_, i) => subtitles.slice(i, i + 1)),
  }
}

function isCompatible(listed: AudioStreamInfo, audioTrack: AudioStreamInfo): boolean {
  const [before, after] = [listed.described.transcodedFrom, audioTrack.described.transcodedFrom]
  return (
    before?.codec === after?.codec &&
    before?.sampleRate === after?.sampleRate &&
    before?.channels === after?.channels
  )
}

/** The tracks of the index, from the first set. */
export function describeTracks(video: VideoStream | undefined, { audioTracks }: TrackSet): Track[] {
  const audio = audioTracks.flatMap((audioTrack): AudioTrack[] =>
    audioTrack ? [audioTrack.described] : [],
  )
  return [...(video ? [video.described] : []), ...audio]
}
