// Converts subtitle blocks to WebVTT payloads (W3C WebVTT 4.2.2): SRT, SSA, ASS and WebVTT.
import { inflateSync } from 'node:zlib'
import { cleanPayload, escapeSrt, escapeText } from '../../codec/webvtt-text.ts'
import { MAX_CUE_BLOCK_BYTES } from '../matroska-limits.ts'
import type { SubtitleStream } from '../matroska-source.ts'

/** The escaped text of a cue; empty if nothing is visible. */
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

/** Empty for corrupt data. */
function inflated(payload: Uint8Array): Uint8Array {
  try {
    return inflateSync(payload, { maxOutputLength: MAX_CUE_BLOCK_BYTES })
  } catch (error) {
    // zlib throws its own Error, or RangeError if the output is too long.
    if (error instanceof Error) return new Uint8Array()
    throw error
  }
}

/** A Matroska event is ReadOrder, Layer, Style, Name, three margins, Effect, Text. */
const ASS_FIELDS_BEFORE_TEXT = 8
const OVERRIDE = /\{[^{}]*\}/g
/** The last one of a block is in force. */
const DRAWING = /\\p(\d+)/g

function assText(event: string): string {
  const text = event.split(',').slice(ASS_FIELDS_BEFORE_TEXT).join(',')
  let shown = ''
  let at = 0
  let isDrawing = false
  for (const match of text.matchAll(OVERRIDE)) {
    if (!isDrawing) shown += text.slice(at, match.index)
    at = match.index + match[0].length
    const scale = [...match[0].matchAll(DRAWING)].at(-1)?.[1]
    if (scale !== undefined) isDrawing = Number(scale) > 0
  }
  if (!isDrawing) shown += text.slice(at)
  return shown.replaceAll(/\\N/g, '\n').replaceAll(/\\n/g, ' ').replaceAll(/\\h/g, '\u00a0')
}
