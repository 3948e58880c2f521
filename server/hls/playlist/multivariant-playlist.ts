// The text of a multivariant playlist (RFC 8216 4.3.4): one variant, with its further sounds and its texts.
import type { MediaIndex, VideoTrack } from '../../media/media-index.ts'
import type { Bandwidth } from './bandwidth.ts'
import type { Renditions, AudioRendition, SubtitleRendition } from './renditions.ts'
import { MAIN, playlistFileName } from './segment-names.ts'

export interface MultivariantOptions {
  /** First part of every URI. */
  urlVersion: string
  tracks: MediaIndex['tracks']
  renditions: Renditions
  bandwidth: Bandwidth
  /** As in the media playlists. */
  isIndependent: boolean
}

const AUDIO_TRACKS = 'audio'
const SUBTITLES = 'text'

/** URIs are relative to the playlist. */
export function formatMultivariant(options: MultivariantOptions): string {
  const { urlVersion, renditions, isIndependent } = options
  const { audioTracks, subtitles } = renditions
  return [
    '#EXTM3U',
    '#EXT-X-VERSION:6',
    ...(isIndependent ? ['#EXT-X-INDEPENDENT-SEGMENTS'] : []),
    ...(audioTracks.length > 1 ? audioTracks.map((audio) => audioLine(audio, urlVersion)) : []),
    ...subtitles.map((text) => textLine(text, urlVersion)),
    `#EXT-X-STREAM-INF:${variantAttributes(options).join(',')}`,
    `${urlVersion}/${playlistFileName(MAIN)}`,
    '',
  ].join('\n')
}

/** The default sound comes with the pictures: it has no URI (RFC 8216 4.3.4.2.1). */
function audioLine(audio: AudioRendition, urlVersion: string): string {
  const { number, channels } = audio
  const isDefault = number === 0
  return mediaLine([
    'TYPE=AUDIO',
    `GROUP-ID="${AUDIO_TRACKS}"`,
    ...labels(audio),
    `DEFAULT=${yesNo(isDefault)}`,
    `AUTOSELECT=${yesNo(isDefault || audio.isChosenByLanguage)}`,
    `CHANNELS="${channels}"`,
    ...(isDefault ? [] : [`URI="${urlVersion}/${playlistFileName({ kind: 'audio', number })}"`]),
  ])
}

function textLine(text: SubtitleRendition, urlVersion: string): string {
  const { id, isDefault, isChosenByLanguage } = text
  return mediaLine([
    'TYPE=SUBTITLES',
    `GROUP-ID="${SUBTITLES}"`,
    ...labels(text),
    `DEFAULT=${yesNo(isDefault)}`,
    `AUTOSELECT=${yesNo(isDefault || isChosenByLanguage)}`,
    'FORCED=NO',
    `URI="${urlVersion}/${playlistFileName({ kind: 'text', id })}"`,
  ])
}

function mediaLine(attributes: string[]): string {
  return `#EXT-X-MEDIA:${attributes.join(',')}`
}

function labels({ name, language }: { name: string; language?: string }): string[] {
  return [`NAME="${quotable(name)}"`, ...(language ? [`LANGUAGE="${quotable(language)}"`] : [])]
}

function variantAttributes({ tracks, renditions, bandwidth }: MultivariantOptions): string[] {
  const { audioTracks, subtitles } = renditions
  const video = tracks.find((track) => track.kind === 'video')
  const codecs = [...new Set([video, ...audioTracks].flatMap((track) => track?.codec ?? []))]
  return [
    `BANDWIDTH=${Math.ceil(bandwidth.peak)}`,
    `AVERAGE-BANDWIDTH=${Math.ceil(bandwidth.average)}`,
    ...(codecs.length > 0 ? [`CODECS="${codecs.map(quotable).join(',')}"`] : []),
    ...(video ? [`RESOLUTION=${resolution(video)}`] : []),
    ...(audioTracks.length > 1 ? [`AUDIO="${AUDIO_TRACKS}"`] : []),
    ...(subtitles.length > 0 ? [`SUBTITLES="${SUBTITLES}"`] : []),
  ]
}

/** As it is shown, so upright. */
function resolution({ width, height, rotationDegrees }: VideoTrack): string {
  const isTurned = rotationDegrees === 90 || rotationDegrees === 270
  return isTurned ? `${height}x${width}` : `${width}x${height}`
}

/** RFC 8216 4.2: no line feed, carriage return or double quote in a quoted string. */
function quotable(text: string): string {
  // eslint-disable-next-line no-control-regex -- controls have no place in a playlist
  return text.replaceAll('"', "'").replaceAll(/[\u0000-\u001f\u007f\u2028\u2029]/g, ' ')
}

function yesNo(value: boolean): 'YES' | 'NO' {
  return value ? 'YES' : 'NO'
}
