// Names of the files beside a playlist: what each URL's last part asks for.

/** What segments are: MPEG-TS, fMP4, or WebVTT. */
export type SegmentForm = 'ts' | 'fmp4'
export type ListedForm = SegmentForm | 'vtt'

/** What a playlist lists: pictures with the default sound, one further sound (from 1), or one text. */
export type Rendition =
  | { kind: 'main' }
  | { kind: 'audio'; number: number }
  | { kind: 'text'; id: string }

export const MAIN: Rendition = { kind: 'main' }

/** 0 for the sound that comes with the pictures. */
export function audioNumber(rendition: Rendition): number {
  return rendition.kind === 'audio' ? rendition.number : 0
}

const EXTENSIONS = { ts: 'ts', fmp4: 'm4s', vtt: 'vtt' } as const

/** Name of the init that holds from a segment on. */
export function initFileName(
  segmentNumber: number,
  form: ListedForm,
  rendition: Rendition = MAIN,
): string {
  return `${prefixOf(rendition)}init-${segmentNumber}.${form === 'ts' ? 'ts' : 'mp4'}`
}

/** A segment's place in a plan: its number, and its mark where the recording may yet go on (PlannedSegment). */
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
  const mark = tailBytes === undefined ? '' : `-${tailBytes}`
  return `${prefixOf(rendition)}${number}${mark}.${EXTENSIONS[form]}`
}

/** Name of a rendition's own playlist. */
export function playlistFileName(rendition: Rendition): string {
  switch (rendition.kind) {
    case 'main':
      return 'main.m3u8'
    case 'audio':
      return `audio-${rendition.number}.m3u8`
    case 'text':
      return `text-${rendition.id}.m3u8`
  }
}

function prefixOf(rendition: Rendition): string {
  switch (rendition.kind) {
    case 'main':
      return ''
    case 'audio':
      return `a${rendition.number}-`
    case 'text':
      return `t${rendition.id}-`
  }
}

/** What a file name in a segment URL asks for. */
export type SegmentFile =
  | { kind: 'key' }
  | { kind: 'playlist'; rendition: Rendition }
  | { kind: 'init'; rendition: Rendition; segmentNumber: number; form: SegmentForm }
  | ({ kind: 'segment'; rendition: Rendition; form: ListedForm } & SegmentNumber)

const NUMBER = String.raw`(?:0|[1-9]\d{0,6})`
const TAIL = String.raw`(?:-(?<tail>[1-9]\d{0,14}))?`
/** Of a text: its place, and what stands for its content where that may change. */
const TEXT_ID = String.raw`(?:0|[1-9]\d{0,2})(?:-[0-9a-f]{8})?`
const PLAYLIST_NAME = new RegExp(
  `^(?:main|audio-(?<audio>[1-9]\\d{0,2})|text-(?<text>${TEXT_ID}))\\.m3u8$`,
)
const INIT_NAME = new RegExp(
  `^(?:a(?<audio>[1-9]\\d{0,2})-)?init-(?<number>${NUMBER})\\.(?<extension>ts|mp4)$`,
)
const SEGMENT_NAME = new RegExp(
  `^(?:a(?<audio>[1-9]\\d{0,2})-)?(?<number>${NUMBER})${TAIL}\\.(?<extension>ts|m4s)$`,
)
const TEXT_NAME = new RegExp(`^t(?<text>${TEXT_ID})-(?<number>${NUMBER})${TAIL}\\.vtt$`)

/** Reads a file name that this module formats; undefined for any other. */
export function parseSegmentFileName(name: string): SegmentFile | undefined {
  if (name === 'key') return { kind: 'key' }
  const playlist = PLAYLIST_NAME.exec(name)
  if (playlist !== null) return { kind: 'playlist', rendition: renditionOf(playlist.groups) }
  const init = INIT_NAME.exec(name)
  if (init !== null) {
    const form = init.groups?.extension === 'ts' ? 'ts' : 'fmp4'
    const segmentNumber = Number(init.groups?.number)
    return { kind: 'init', rendition: renditionOf(init.groups), segmentNumber, form }
  }
  const segment = SEGMENT_NAME.exec(name) ?? TEXT_NAME.exec(name)
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
  if (groups?.audio !== undefined) return { kind: 'audio', number: Number(groups.audio) }
  return groups?.text === undefined ? MAIN : { kind: 'text', id: groups.text }
}
