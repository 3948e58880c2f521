// File names next to a playlist: the last part of each URL.

/** Container of the segments. */
export type SegmentForm = 'ts' | 'fmp4'
export type ListedForm = SegmentForm | 'vtt'

/**
 * Content of a media playlist: video with the default audio, only an audio (0 is the default one),
 * video with another audio, key frames with an audio, encoded video of a height with an audio, or
 * subtitles.
 */
export type Rendition = PlayedRendition | { kind: 'subtitles'; id: string }
/** With video or audio. */
export type PlayedRendition =
  | { kind: 'main' }
  | { kind: 'audio' | 'muxed' | 'saver'; number: number }
  | EncodedRendition

export interface EncodedRendition {
  kind: 'encoded'
  height: Height
  number: number
}

/** Heights of encoded video that can be configured. */
export const HEIGHTS = [720, 480, 360] as const
export type Height = (typeof HEIGHTS)[number]

export const MAIN: PlayedRendition = { kind: 'main' }
/** The default audio alone. */
export const SOUND = { kind: 'audio', number: 0 } as const

/** Distances exceed the number of every audio track. */
const FIRST_NUMBERS = { audio: 0, muxed: 0x1_0000, saver: 0x2_0000, encoded: 0x4_0000 } as const
const NUMBERS_PER_HEIGHT = 0x400
/** The number of the default audio alone: 0 is the video with it. */
const DEFAULT_AUDIO_NUMBER = 0x3_0000

/** Identifies a rendition with video or audio among those of a recording; fits into 32 bits. */
export function renditionNumber(rendition: Rendition): number {
  if (rendition.kind === 'main' || rendition.kind === 'subtitles') return 0
  if (rendition.kind === 'audio' && rendition.number === 0) return DEFAULT_AUDIO_NUMBER
  const first = FIRST_NUMBERS[rendition.kind] + rendition.number
  return rendition.kind === 'encoded' ? first + rendition.height * NUMBERS_PER_HEIGHT : first
}

/** Whether its segments are fMP4, also those of a recording that is sent as MPEG-TS. */
export function isOfSamples({ kind }: Rendition): boolean {
  return kind === 'audio' || kind === 'saver' || kind === 'encoded'
}

const EXTENSIONS = { ts: 'ts', fmp4: 'm4s', vtt: 'vtt' } as const

/** Name of the init segment that applies from a segment on. */
export function initFileName(
  segmentNumber: number,
  form: ListedForm,
  rendition: Rendition = MAIN,
): string {
  return `${prefixOf(rendition)}init-${segmentNumber}.${form === 'ts' ? 'ts' : 'mp4'}`
}

/** Identifies a segment in a plan; for `tailBytes` see PlannedSegment. */
export interface SegmentNumber {
  number: number
  tailBytes?: number | undefined
}

/** Name of a segment. */
export function segmentFileName(
  { number, tailBytes }: SegmentNumber,
  form: ListedForm,
  rendition: Rendition = MAIN,
): string {
  const tail = tailBytes === undefined ? '' : `-${tailBytes}`
  return `${prefixOf(rendition)}${number}${tail}.${EXTENSIONS[form]}`
}

/** Name of a rendition's own playlist. */
export function playlistFileName(rendition: Rendition): string {
  switch (rendition.kind) {
    case 'main':
      return 'main.m3u8'
    case 'audio':
      return `audio-${rendition.number}.m3u8`
    case 'muxed':
      return `main-${rendition.number}.m3u8`
    case 'saver':
      return `saver-${rendition.number}.m3u8`
    case 'encoded':
      return `video-${rendition.height}-${rendition.number}.m3u8`
    case 'subtitles':
      return `text-${rendition.id}.m3u8`
  }
}

/** Name of the file with all cues of a subtitle rendition. */
export function subtitleFileName(id: string): string {
  return `text-${id}.vtt`
}

function prefixOf(rendition: Rendition): string {
  switch (rendition.kind) {
    case 'main':
      return ''
    case 'audio':
      return `a${rendition.number}-`
    case 'muxed':
      return `m${rendition.number}-`
    case 'saver':
      return `s${rendition.number}-`
    case 'encoded':
      return `v${rendition.height}-${rendition.number}-`
    case 'subtitles':
      return `t${rendition.id}-`
  }
}

/** A file name next to a playlist, parsed. */
export type FileName =
  | { kind: 'key' }
  | { kind: 'playlist'; rendition: Rendition }
  | { kind: 'subtitles'; id: string }
  | { kind: 'init'; rendition: Rendition; segmentNumber: number; form: SegmentForm }
  | ({ kind: 'segment'; rendition: Rendition; form: ListedForm } & SegmentNumber)

const NUMBER = String.raw`(?:0|[1-9]\d{0,6})`
const TAIL = String.raw`(?:-(?<tail>[1-9]\d{0,14}))?`
const AUDIO = String.raw`(?:0|[1-9]\d{0,2})`
const OTHER_AUDIO = String.raw`[1-9]\d{0,2}`
const ENCODED = `(?<height>${HEIGHTS.join('|')})-(?<encoded>${AUDIO})`
const PREFIX =
  `(?:a(?<audio>${AUDIO})-|m(?<muxed>${OTHER_AUDIO})-|s(?<saver>${AUDIO})-` + `|v${ENCODED}-)?`
/** Number of a subtitle track, and a hash of its content if that may change. */
const SUBTITLES_ID = String.raw`(?:0|[1-9]\d{0,2})(?:-[0-9a-f]{8})?`
const PLAYLIST_NAME = new RegExp(
  `^(?:main(?:-(?<muxed>${OTHER_AUDIO}))?|audio-(?<audio>${AUDIO})|saver-(?<saver>${AUDIO})` +
    String.raw`|video-${ENCODED}|text-(?<subtitles>${SUBTITLES_ID}))\.m3u8$`,
)
const SUBTITLE_FILE_NAME = new RegExp(`^text-(?<subtitles>${SUBTITLES_ID})\\.vtt$`)
const INIT_NAME = new RegExp(`^${PREFIX}init-(?<number>${NUMBER})\\.(?<extension>ts|mp4)$`)
const SEGMENT_NAME = new RegExp(`^${PREFIX}(?<number>${NUMBER})${TAIL}\\.(?<extension>ts|m4s)$`)
const SUBTITLE_NAME = new RegExp(
  `^t(?<subtitles>${SUBTITLES_ID})-(?<number>${NUMBER})${TAIL}\\.vtt$`,
)

/** Parses a file name that this module formats; undefined for any other. */
export function parseFileName(name: string): FileName | undefined {
  if (name === 'key') return { kind: 'key' }
  const playlist = PLAYLIST_NAME.exec(name)
  if (playlist !== null) return { kind: 'playlist', rendition: renditionOf(playlist.groups) }
  const subtitles = SUBTITLE_FILE_NAME.exec(name)?.groups?.subtitles
  if (subtitles !== undefined) return { kind: 'subtitles', id: subtitles }
  const init = INIT_NAME.exec(name)
  if (init !== null) {
    const form = init.groups?.extension === 'ts' ? 'ts' : 'fmp4'
    const segmentNumber = Number(init.groups?.number)
    return { kind: 'init', rendition: renditionOf(init.groups), segmentNumber, form }
  }
  const segment = SEGMENT_NAME.exec(name) ?? SUBTITLE_NAME.exec(name)
  if (segment === null) return undefined
  const { extension, number, tail } = segment.groups ?? {}
  const form = extension === undefined ? 'vtt' : extension === 'ts' ? 'ts' : 'fmp4'
  return {
    kind: 'segment',
    rendition: renditionOf(segment.groups),
    form,
    number: Number(number),
    ...(tail !== undefined && { tailBytes: Number(tail) }),
  }
}

function renditionOf(groups: Record<string, string | undefined> | undefined): Rendition {
  const { audio, muxed, saver, encoded, subtitles } = groups ?? {}
  const height = HEIGHTS.find((each) => String(each) === groups?.height)
  if (height !== undefined) return { kind: 'encoded', height, number: Number(encoded) }
  if (audio !== undefined) return { kind: 'audio', number: Number(audio) }
  if (muxed !== undefined) return { kind: 'muxed', number: Number(muxed) }
  if (saver !== undefined) return { kind: 'saver', number: Number(saver) }
  return subtitles === undefined ? MAIN : { kind: 'subtitles', id: subtitles }
}
