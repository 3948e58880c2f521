// Parses subtitle files: SRT and WebVTT.
import { cleanPayload, escapeSrt } from './webvtt-text.ts'
import type { SubtitleCue } from '../media-index.ts'

export type SubtitleFormat = 'srt' | 'vtt'

/** Limits of one file and of one cue. */
const MAX_CUES = 200_000
const MAX_CUE_CHARACTERS = 10_000
/** Of all cues: an escaped character takes up to five. */
const MAX_CHARACTERS = 8 * 1024 * 1024

const TIME = /(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})/
const TIMES = new RegExp(`^${TIME.source}\\s*-->\\s*${TIME.source}`)
const ARROW = '-->'
const LINE_END = /[\r\n]|$/g
const BLANK_LINE = /(?:\r\n|\n|\r(?!\n))[^\S\r\n]*(?=[\r\n]|$)/g

/** The cues in order of their starts. Blocks that are not cues are skipped. */
export function parseSubtitles(bytes: Uint8Array, format: SubtitleFormat): SubtitleCue[] {
  const cues: SubtitleCue[] = []
  let characters = 0
  for (const { times, payload } of findCues(decodeText(bytes))) {
    const escaped = cleanPayload(format === 'srt' ? escapeSrt(payload) : payload)
    characters += escaped.length
    if (cues.length === MAX_CUES || characters > MAX_CHARACTERS) break
    if (escaped !== '' && times.endSeconds > times.startSeconds)
      cues.push({ ...times, text: escaped })
  }
  return cues.toSorted((left, right) => left.startSeconds - right.startSeconds)
}

interface FoundCue {
  times: Pick<SubtitleCue, 'startSeconds' | 'endSeconds'>
  payload: string
}

/** Searches for arrows instead of splitting the text: a hostile file has millions of lines. */
function* findCues(text: string): Generator<FoundCue> {
  let from = 0
  for (let arrow = text.indexOf(ARROW); arrow !== -1; arrow = text.indexOf(ARROW, from)) {
    const before = text.slice(from, arrow)
    const start = from + Math.max(before.lastIndexOf('\n'), before.lastIndexOf('\r')) + 1
    from = find(LINE_END, text, arrow)
    const times = parseTimes(text.slice(start, from))
    if (times === undefined) continue
    const end = find(BLANK_LINE, text, from)
    yield { times, payload: text.slice(from, Math.min(end, from + MAX_CUE_CHARACTERS)) }
    from = end
  }
}

/** Where a global expression matches first, or the end of the text. */
function find(expression: RegExp, text: string, from: number): number {
  expression.lastIndex = from
  return expression.exec(text)?.index ?? text.length
}

/** UTF-8 or UTF-16, else Windows-1252. */
function decodeText(bytes: Uint8Array): string {
  const [first, second] = bytes
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    // TypeError: not UTF-8.
    return new TextDecoder('windows-1252').decode(bytes)
  }
}

function parseTimes(line: string): { startSeconds: number; endSeconds: number } | undefined {
  const times = TIMES.exec(line.trimStart())
  if (times === null) return undefined
  return { startSeconds: seconds(times.slice(1, 5)), endSeconds: seconds(times.slice(5, 9)) }
}

function seconds([hours = '0', minutes, whole, fraction = '']: (string | undefined)[]): number {
  return (
    Number(hours) * 3600 +
    Number(minutes) * 60 +
    Number(whole) +
    Number(fraction.padEnd(3, '0')) / 1000
  )
}
