// Collects the subtitle cues of a recording on the session timeline, up to a limit, as WebVTT
// payloads (W3C WebVTT 4.2.2): from SRT, SSA, ASS and WebVTT.
import type { SubtitleCue, SubtitleTrack } from '../../media-index.ts'
import { MAX_CUE_BLOCK_BYTES, MAX_CUE_CHARACTERS, MAX_CUES } from '../matroska-limits.ts'
import {
  CLOCK_RATE,
  type PendingCue,
  type ScanMemory,
  type SubtitleStream,
} from '../matroska-source.ts'
import { inflateSync } from 'node:zlib'
import { cleanPayload, escapeSrt, escapeText } from '../../codec/webvtt-text.ts'

/** Duration of a cue without its own. */
const DEFAULT_CUE_TICKS = 5 * CLOCK_RATE

/** A subtitle block. Times are ticks of CLOCK_RATE on the section's clock. */
export interface SubtitleBlock {
  stream: SubtitleStream
  /** Position of the subtitle track. */
  track: number
  payload: Uint8Array
  startTicks: number
  /** 0 if not declared. */
  durationTicks: number
  /** Position of the section on the session timeline, once it is final. */
  shiftTicks?: number
}

export class CueList {
  readonly #memory: Pick<ScanMemory, 'pendingCues' | 'settledCues' | 'cueCount' | 'cueCharacters'>
  readonly #settled: SubtitleCue[][]

  /** Resumes from the final cues of an index. */
  constructor(memory: Omit<ScanMemory, 'walkState'>, subtitles: readonly SubtitleTrack[] = []) {
    this.#memory = memory
    this.#settled = subtitles.map(({ cues }, i) => cues.slice(0, memory.settledCues[i] ?? 0))
  }

  add({ stream, track, payload, startTicks, durationTicks, shiftTicks }: SubtitleBlock): void {
    const memory = this.#memory
    const shown = cueText(stream, payload)
    if (shown === '' || memory.cueCount >= MAX_CUES) return
    if (memory.cueCharacters + shown.length > MAX_CUE_CHARACTERS) return
    memory.cueCount += 1
    memory.cueCharacters += shown.length
    const endTicks = startTicks + (durationTicks || DEFAULT_CUE_TICKS)
    const cue = { track, startTicks, endTicks, text: shown }
    if (shiftTicks === undefined) memory.pendingCues.push(cue)
    else this.#list(track).push(placed(cue, shiftTicks))
  }

  /** Makes the pending cues final. */
  settle(shiftTicks: number): void {
    for (const cue of this.#memory.pendingCues) {
      this.#list(cue.track).push(placed(cue, shiftTicks))
    }
    this.#memory.pendingCues = []
  }

  /** All subtitle tracks with their cues, the pending ones shifted by `shiftTicks`. */
  tracks(streams: readonly SubtitleStream[], shiftTicks: number): SubtitleTrack[] {
    const tracks = streams.map(({ language, name, isDefault }, i): SubtitleTrack => {
      const settled = this.#list(i).toSorted(byStart)
      const pending = this.#memory.pendingCues.filter(({ track }) => track === i)
      return {
        ...(language !== undefined && { language }),
        ...(name !== undefined && { name }),
        isDefault,
        cues: [...settled, ...pending.map((cue) => placed(cue, shiftTicks)).toSorted(byStart)],
      }
    })
    this.#memory.settledCues = streams.map((_, i) => this.#list(i).length)
    return tracks
  }

  #list(track: number): SubtitleCue[] {
    while (this.#settled.length <= track) this.#settled.push([])
    return this.#settled[track] ?? []
  }
}

function placed({ startTicks, endTicks, text }: PendingCue, shiftTicks: number): SubtitleCue {
  const startSeconds = Math.max(0, startTicks - shiftTicks) / CLOCK_RATE
  return {
    startSeconds,
    endSeconds: Math.max(startSeconds + 0.001, (endTicks - shiftTicks) / CLOCK_RATE),
    text,
  }
}

function byStart(one: SubtitleCue, other: SubtitleCue): number {
  return one.startSeconds - other.startSeconds
}

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
