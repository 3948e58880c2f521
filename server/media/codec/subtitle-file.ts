// Parses subtitle files: SRT and WebVTT.
import { cleanPayload, escapeSrt } from './webvtt-text.ts'
import type { SubtitleCue } from '../media-index.ts'

export type SubtitleFormat = 'srt' | 'vtt'

/** Limits of one file and of one cue. */
const MAX_CUES = 200_000
const MAX_CUE_CHARACTERS = 10_000

const TIME = /(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})/
const TIMES = new RegExp(`^${TIME.source}\\s*-->\\s*${TIME.source}`)

/** The cues in order of their starts. Blocks that are not cues are skipped. */
export function parseSubtitles(bytes: Uint8Array, format: SubtitleFormat): SubtitleCue[] {
  const lines = decodeText(bytes).split(/\r\n|\r|\n/)
  const cues: SubtitleCue[] = []
  for (let at = 0; at < lines.length && cues.length < MAX_CUES; at += 1) {
    const times = parseTimes(lines[at] ?? '')
    if (times === undefined) continue
    const payload: string[] = []
    for (at += 1; at < lines.length && lines[at]?.trim() !== ''; at += 1)
      payload.push(lines[at] ?? '')
    const text = payload.join('\n').slice(0, MAX_CUE_CHARACTERS)
    const escaped = cleanPayload(format === 'srt' ? escapeSrt(text) : text)
    if (escaped !== '' && times.endSeconds > times.startSeconds)
      cues.push({ ...times, text: escaped })
  }
  return cues.toSorted((left, right) => left.startSeconds - right.startSeconds)
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
