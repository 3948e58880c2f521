// Chooses which tracks of a Tracks element are served, and in which order.
import type { AudioTrack, Track } from '../media-index.ts'
import { MAX_TEXT_TRACKS } from './matroska-limits.ts'
import type { SoundStream, TextStream, TrackSet, VideoStream } from './matroska-source.ts'
import { describeSound } from './sound-stream.ts'
import type { TrackEntry } from './track-entry.ts'
import { describeVideo } from './video-stream.ts'

/** What is served, and why pictures or sound are not, where there are some that are not. */
export interface ChosenSet {
  set: TrackSet
  refusedVideo?: string
  refusedSounds: string[]
  refusedTexts: string[]
}

/** The first enabled video track, all sounds that can be served with the default one first, all text. */
export function chooseTrackSet(entries: readonly TrackEntry[]): ChosenSet {
  const [videoEntry] = enabledFirst(entries, 'video')
  const video = videoEntry && describeVideo(videoEntry)
  const described = enabledFirst(entries, 'audio').map((entry) => ({
    entry,
    sound: describeSound(entry),
  }))
  const served = described.flatMap(({ entry, sound }) =>
    sound.status === 'playable' ? [{ stream: sound.stream, isDefault: entry.isDefault }] : [],
  )
  const texts = enabledFirst(entries, 'text')
  return {
    set: {
      ...(video?.status === 'playable' && { video: video.stream }),
      sounds: defaultFirst(served),
      texts: texts.flatMap(describeText).slice(0, MAX_TEXT_TRACKS),
    },
    ...(video?.status === 'unplayable' && { refusedVideo: video.reason }),
    refusedSounds: described.flatMap(({ sound }) =>
      sound.status === 'unplayable' ? [sound.reason] : [],
    ),
    refusedTexts: texts.flatMap((entry) =>
      describeText(entry).length > 0 ? [] : [`text of the kind '${entry.codec}' is not served`],
    ),
  }
}

/** A disabled track is taken only where no enabled one is there. */
function enabledFirst(entries: readonly TrackEntry[], kind: TrackEntry['kind']): TrackEntry[] {
  const ofKind = entries.filter((entry) => entry.kind === kind && entry.number > 0)
  const enabled = ofKind.filter((entry) => entry.isEnabled)
  return enabled.length > 0 ? enabled : ofKind
}

interface Candidate {
  stream: SoundStream
  isDefault: boolean
}

/** The container's default first; of equal rank and language one that needs no transcoding. */
function defaultFirst(candidates: readonly Candidate[]): SoundStream[] {
  const marked = candidates.find(({ isDefault }) => isDefault) ?? candidates[0]
  if (marked === undefined) return []
  const peers = candidates.filter(
    ({ stream, isDefault }) =>
      isDefault === marked.isDefault &&
      stream.described.language === marked.stream.described.language,
  )
  const first = peers.find(({ stream }) => stream.described.transcodedFrom === undefined) ?? marked
  return [first, ...candidates.filter((candidate) => candidate !== first)].map(
    ({ stream }) => stream,
  )
}

const TEXT_FORMATS = new Map<string, TextStream['format']>([
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

function describeText(entry: TrackEntry): TextStream[] {
  const format = TEXT_FORMATS.get(entry.codec)
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
 * A later set with its sounds in the order of the first, by language and then by place. A sound that would need another
 * kind of handling (transcoded or not, another recorded codec) than the listed one is left out.
 */
export function alignSet(first: TrackSet, later: TrackSet): TrackSet {
  const left = later.sounds.filter((sound) => sound !== undefined)
  const sounds = first.sounds.map((listed) => {
    const fits = left.filter((sound) => listed !== undefined && isHandledAlike(listed, sound))
    const language = listed?.described.language
    const found = fits.find((sound) => sound.described.language === language) ?? fits[0]
    if (found !== undefined) left.splice(left.indexOf(found), 1)
    return found
  })
  const { texts } = later
  const { video } = first.video === undefined ? {} : later
  return {
    ...(video && { video }),
    sounds,
    texts: first.texts.flatMap((_, i) => texts.slice(i, i + 1)),
  }
}

function isHandledAlike(listed: SoundStream, sound: SoundStream): boolean {
  const [before, now] = [listed.described.transcodedFrom, sound.described.transcodedFrom]
  return (
    before?.codec === now?.codec &&
    before?.sampleRate === now?.sampleRate &&
    before?.channels === now?.channels
  )
}

/** The index's tracks, as the first set has them. */
export function describeTracks(video: VideoStream | undefined, { sounds }: TrackSet): Track[] {
  const audio = sounds.flatMap((sound): AudioTrack[] => (sound ? [sound.described] : []))
  return [...(video ? [video.described] : []), ...audio]
}
