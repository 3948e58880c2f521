// Parses the file name of a recording: its container's extension, and whether it is still being
// written.

/**
 * Extensions of recordings (lower case) by preference: the first playable file of a session is
 * served.
 */
const extensions = ['.mp4', '.m4v', '.mov', '.ts', '.m2ts', '.mkv', '.webm', '.flv']

/** Suffix of incomplete downloads. */
const PARTIAL_ENDING = '.part'
/**
 * Recorders and downloaders insert these before the extension of incomplete files: `x.tmp.ts`,
 * `x.f137.mp4.part`.
 */
const TEMPORARY_MARK = '.tmp'
const strippedEndings = new Set([
  'part',
  'tmp',
  'temp',
  ...extensions.map((ending) => ending.slice(1)),
])
const FORMAT_MARK = /\.f\d{1,4}$/
/** YouTube's audio-only format numbers: downloaders fetch them beside the video. */
const AUDIO_FORMAT_MARK = /\.f(?:139|140|141|171|172|249|250|251)$/

/** After all files of a session: a folder of parts, then incomplete files. */
export const FOLDER_RANK = extensions.length
const IN_PROGRESS_RANK = FOLDER_RANK + 1

/** A parsed file name. */
export interface RecordingName {
  /** The name of the complete recording, without its extension. */
  base: string
  /** Rank among the recordings of one session; the lowest is tried first. */
  rank: number
}

/** Undefined if the name is not that of a recording. */
export function parseRecordingName(name: string): RecordingName | undefined {
  if (!name.toLowerCase().endsWith(PARTIAL_ENDING)) return parseEnding(name)
  const whole = parseEnding(name.slice(0, -PARTIAL_ENDING.length))
  if (whole === undefined || AUDIO_FORMAT_MARK.test(whole.base)) return undefined
  return inProgress({ ...whole, base: whole.base.replace(FORMAT_MARK, '') })
}

/**
 * The recording extension at the end of a string (lower case, with its dot); undefined if there is
 * none.
 */
export function endingOf(text: string): string | undefined {
  const lower = text.toLowerCase()
  return extensions.find((extension) => lower.endsWith(extension))
}

/** The part of a name that does not change when the recording is finished and renamed. */
export function stripEndings(name: string): string {
  const parts = name.split('.')
  const last = parts.findLastIndex((part) => !strippedEndings.has(part.toLowerCase()))
  return parts.slice(0, Math.max(last, 0) + 1).join('.')
}

function parseEnding(name: string): RecordingName | undefined {
  const dot = name.lastIndexOf('.')
  const rank = dot > 0 ? extensions.indexOf(name.slice(dot).toLowerCase()) : -1
  if (rank === -1) return undefined
  const base = name.slice(0, dot)
  const whole = base.slice(0, -TEMPORARY_MARK.length)
  const isTemporary = whole !== '' && base.toLowerCase().endsWith(TEMPORARY_MARK)
  return isTemporary ? inProgress({ base: whole, rank }) : { base, rank }
}

function inProgress({ base, rank }: RecordingName): RecordingName {
  return { base, rank: rank + (rank < IN_PROGRESS_RANK ? IN_PROGRESS_RANK : 0) }
}
