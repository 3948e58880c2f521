// Text of subtitle blocks as the payload of WebVTT cues (W3C WebVTT 4.2.2): SRT, SSA and ASS, and WebVTT itself.
import { inflateSync } from 'node:zlib'
import { cleanPayload, escapeSrt, escapeText } from '../codec/webvtt-text.ts'
import { MAX_CUE_BLOCK_BYTES } from './matroska-limits.ts'
import type { SubtitleStream } from './matroska-source.ts'

/** The cue's text, escaped; '' where nothing is to be shown. */
export function cueText(stream: SubtitleStream, payload: Uint8Array): string {
  const bytes = stream.isZlib ? inflated(payload) : payload
  const zero = bytes.indexOf(0)
  const raw = Buffer.from(zero < 0 ? bytes : bytes.subarray(0, zero)).toString('utf8')
  return cleanPayload(payloadText(stream.format, raw.replaceAll(/\r\n?/g, '\n')))
}

function payloadText(format: SubtitleStream['format'], text: string): string {
  switch (format) {
    case 'srt':
      return escapeSrt(text)
    case 'ass':
      return escapeText(assText(text))
    case 'webvtt':
      return text
    case 'webm-vtt':
      // Identifier and settings are the first two lines (WebM: WebVTT in WebM).
      return text.split('\n').slice(2).join('\n')
  }
}

/** What cannot be inflated has no text. */
function inflated(payload: Uint8Array): Uint8Array {
  try {
    return inflateSync(payload, { maxOutputLength: MAX_CUE_BLOCK_BYTES })
  } catch (error) {
    // zlib says so with an Error of its own, RangeError where the text is too long.
    if (error instanceof Error) return new Uint8Array()
    throw error
  }
}

/** In Matroska an event is ReadOrder, Layer, Style, Name, three margins, Effect, Text. */
const FIELDS_BEFORE_TEXT = 8
const OVERRIDE = /\{([^{}]*)\}/g

function assText(event: string): string {
  const text = event.split(',').slice(FIELDS_BEFORE_TEXT).join(',')
  let shown = ''
  let at = 0
  let isDrawing = false
  for (const match of text.matchAll(OVERRIDE)) {
    if (!isDrawing) shown += text.slice(at, match.index)
    at = match.index + match[0].length
    const drawing = match[1]?.match(/\\p(\d+)(?!.*\\p\d)/)
    if (drawing !== undefined && drawing !== null) isDrawing = Number(drawing[1]) > 0
  }
  if (!isDrawing) shown += text.slice(at)
  return shown.replaceAll(/\\N/g, '\n').replaceAll(/\\n/g, ' ').replaceAll(/\\h/g, '\u00a0')
}
