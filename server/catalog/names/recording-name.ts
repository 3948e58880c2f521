// What a file's name says of a recording beside its session: the container's ending, and whether it is still on its way.

/** Endings of recordings (lower case), best first: of two files of one session the first that plays is served. */
const extensions = ['.mp4', '.m4v', '.mov', '.ts', '.m2ts', '.mkv', '.webm', '.flv']

/** Downloaders add this to a name until the file is whole. */
const PARTIAL_ENDING = '.part'
/** Recorders and downloaders put these before the ending until the file is whole: `x.tmp.ts`, `x.f137.mp4.part`. */
const TEMPORARY_MARK = '.tmp'
const anyEndings = new RegExp(
  `(?:\\.(?:part|tmp|temp|${extensions.map((ending) => ending.slice(1)).join('|')}))+$`,
  'i',
)
const FORMAT_MARK = /\.f\d{1,4}$/
/** Formats that are sound alone (YouTube's numbers), which a downloader fetches beside the pictures. */
const AUDIO_FORMAT_MARK = /\.f(?:139|140|141|171|172|249|250|251)$/

/** Behind all files of a session: a folder of parts, and behind that what is not whole yet. */
export const FOLDER_RANK = extensions.length
const IN_PROGRESS_RANK = FOLDER_RANK + 1

/** The name of a recording's file, taken apart. */
export interface RecordingName {
  /** The name that the whole recording has, without its ending. */
  base: string
  /** Place among the recordings of one session; the lowest is tried first. */
  rank: number
}

/** Undefined where the name is none of a recording. */
export function parseRecordingName(name: string): RecordingName | undefined {
  if (!name.toLowerCase().endsWith(PARTIAL_ENDING)) return parseEnding(name)
  const whole = parseEnding(name.slice(0, -PARTIAL_ENDING.length))
  if (whole === undefined || AUDIO_FORMAT_MARK.test(whole.base)) return undefined
  return inProgress({ ...whole, base: whole.base.replace(FORMAT_MARK, '') })
}

/** The ending of a recording (in lower case, with its dot) that a text ends with; undefined where it ends otherwise. */
export function endingOf(text: string): string | undefined {
  const lower = text.toLowerCase()
  return extensions.find((extension) => lower.endsWith(extension))
}

/** The part of a name that does not change when the recording is finished and renamed. */
export function stripEndings(name: string): string {
  return name.replace(anyEndings, '')
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
