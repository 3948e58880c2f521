// Formats multivariant playlists (RFC 8216 4.3.4): one variant with its audio and subtitles.
import { uprightSize } from '../../../media/media-index.ts'
import type { MediaIndex } from '../../../media/media-index.ts'
import type { Bandwidth } from './bandwidth.ts'
import type { Renditions, AudioRendition, SubtitleRendition } from './renditions.ts'
import { playlistFileName } from './segment-names.ts'
import type { PlayedRendition } from './segment-names.ts'

export interface MultivariantOptions {
  /** First segment of every URI path. */
  urlVersion: string
  /** Of what is played; default the same. */
  variantVersion?: string
  tracks: MediaIndex['tracks']
  renditions: Renditions
  /** What is played. Only beside the video with the default audio, other audio is offered. */
  variant: PlayedRendition
  bandwidth: Bandwidth
  /** As in the media playlists. */
  isIndependent: boolean
}

const AUDIO_GROUP = 'audio'
const SUBTITLE_GROUP = 'text'

/** URIs are relative to the playlist. */
export function formatMultivariant(options: MultivariantOptions): string {
  const { urlVersion, variantVersion = urlVersion, renditions, variant, isIndependent } = options
  const { subtitles } = renditions
  const audioTracks = offeredAudio(options)
  return [
    '#EXTM3U',
    '#EXT-X-VERSION:6',
    ...(isIndependent ? ['#EXT-X-INDEPENDENT-SEGMENTS'] : []),
    ...(audioTracks.length > 1 ? audioTracks.map((audio) => audioLine(audio, urlVersion)) : []),
    ...subtitles.map((rendition) => subtitleLine(rendition, urlVersion)),
    `#EXT-X-STREAM-INF:${variantAttributes(options).join(',')}`,
    `${variantVersion}/${playlistFileName(variant)}`,
    '',
  ].join('\n')
}

function offeredAudio({ renditions, variant }: MultivariantOptions): readonly AudioRendition[] {
  const { audioTracks } = renditions
  if (variant.kind === 'main') return audioTracks
  return audioTracks.filter(({ number }) => number === variant.number)
}

/** The default audio is muxed with the video, so it has no URI (RFC 8216 4.3.4.2.1). */
function audioLine(audio: AudioRendition, urlVersion: string): string {
  const { number, channels } = audio
  const isDefault = number === 0
  return mediaLine([
    'TYPE=AUDIO',
    `GROUP-ID="${AUDIO_GROUP}"`,
    ...labels(audio),
    `DEFAULT=${yesNo(isDefault)}`,
    `AUTOSELECT=${yesNo(isDefault || audio.isFirstOfLanguage)}`,
    `CHANNELS="${channels}"`,
    ...(isDefault ? [] : [`URI="${urlVersion}/${playlistFileName({ kind: 'audio', number })}"`]),
  ])
}

function subtitleLine(subtitles: SubtitleRendition, urlVersion: string): string {
  const { id, isDefault, isFirstOfLanguage } = subtitles
  return mediaLine([
    'TYPE=SUBTITLES',
    `GROUP-ID="${SUBTITLE_GROUP}"`,
    ...labels(subtitles),
    `DEFAULT=${yesNo(isDefault)}`,
    `AUTOSELECT=${yesNo(isDefault || isFirstOfLanguage)}`,
    'FORCED=NO',
    `URI="${urlVersion}/${playlistFileName({ kind: 'subtitles', id })}"`,
  ])
}

function mediaLine(attributes: string[]): string {
  return `#EXT-X-MEDIA:${attributes.join(',')}`
}

function labels({ name, language }: { name: string; language?: string }): string[] {
  return [`NAME="${quotable(name)}"`, ...(language ? [`LANGUAGE="${quotable(language)}"`] : [])]
}

function variantAttributes(options: MultivariantOptions): string[] {
  const { tracks, renditions, bandwidth } = options
  const { subtitles } = renditions
  const audioTracks = offeredAudio(options)
  const video = tracks.find((track) => track.kind === 'video')
  const size = video && uprightSize(video)
  const codecs = [...new Set([video, ...audioTracks].flatMap((track) => track?.codec ?? []))]
  return [
    `BANDWIDTH=${Math.ceil(bandwidth.peak)}`,
    `AVERAGE-BANDWIDTH=${Math.ceil(bandwidth.average)}`,
    ...(codecs.length > 0 ? [`CODECS="${codecs.map(quotable).join(',')}"`] : []),
    ...(size ? [`RESOLUTION=${size.width}x${size.height}`] : []),
    ...(audioTracks.length > 1 ? [`AUDIO="${AUDIO_GROUP}"`] : []),
    ...(subtitles.length > 0 ? [`SUBTITLES="${SUBTITLE_GROUP}"`] : []),
  ]
}

/** RFC 8216 4.2: no line feed, carriage return or double quote in a quoted string. */
function quotable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- a playlist must not contain control characters
  return text.replaceAll('"', "'").replaceAll(/[\u0000-\u001f\u007f\u2028\u2029]/g, ' ')
}

function yesNo(value: boolean): 'YES' | 'NO' {
  return value ? 'YES' : 'NO'
}
