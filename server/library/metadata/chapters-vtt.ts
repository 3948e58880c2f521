// `.chapters.vtt`: a WebVTT file whose cues are chapters (W3C WebVTT 1.4).
import { MAX_READ_CHAPTERS, orderChapters } from './chapters.ts'
import type { Chapter, RawChapter } from './chapters.ts'
import type { SidecarParser } from './sidecar-parser.ts'

/** A longer line ends the file. */
const MAX_LINE_LENGTH = 64 * 1024
/** Characters of the title of one chapter that are read. */
const MAX_TITLE_LENGTH = 4096

const TIME = /(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})/
const TIMES = new RegExp(String.raw`^\s*${TIME.source}\s*-->\s*${TIME.source}(?:\s|$)`)
const HEADER = /^\uFEFF?WEBVTT(?:[ \t]|$)/
const TAG = /<[^<>]*>/g
const ENTITY = /&(amp|lt|gt|nbsp|lrm|rlm|quot);/g
const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  nbsp: ' ',
  lrm: '\u200E',
  rlm: '\u200F',
  quot: '"',
}

/** Undefined for a file that is not WebVTT. Blocks that are no cues are skipped. */
export class ChaptersVttParser implements SidecarParser<Chapter[]> {
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  readonly #chapters: RawChapter[] = []
  #rest = ''
  #hasHeader = false
  #isEnded = false
  #cue: { startSeconds: number; endSeconds: number; title: string } | undefined

  add(bytes: Uint8Array): boolean {
    this.#addText(this.#decoder.decode(bytes, { stream: true }))
    return !this.#isEnded
  }

  end(): Chapter[] | undefined {
    this.#addText(`${this.#decoder.decode()}\n\n`)
    return this.#hasHeader ? orderChapters(this.#chapters) : undefined
  }

  #addText(text: string): void {
    if (this.#isEnded) return
    // The second half of a line end may be in the next chunk.
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/)
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#addLine(line)
    const isFull = this.#chapters.length >= MAX_READ_CHAPTERS
    if (isFull || this.#rest.length > MAX_LINE_LENGTH) this.#isEnded = true
  }

  #addLine(line: string): void {
    if (this.#isEnded) return
    if (!this.#hasHeader) {
      this.#hasHeader = HEADER.test(line)
      this.#isEnded = !this.#hasHeader
      return
    }
    const times = parseTimes(line)
    if (times !== undefined || line.trim() === '') this.#endCue()
    if (times !== undefined) this.#cue = { ...times, title: '' }
    else if (this.#cue !== undefined && this.#cue.title.length < MAX_TITLE_LENGTH)
      this.#cue.title += ` ${line.slice(0, MAX_TITLE_LENGTH)}`
  }

  #endCue(): void {
    const cue = this.#cue
    this.#cue = undefined
    if (cue !== undefined) this.#chapters.push({ ...cue, title: plainText(cue.title) })
  }
}

function parseTimes(line: string): { startSeconds: number; endSeconds: number } | undefined {
  const times = line.includes('-->') ? TIMES.exec(line) : null
  if (times === null) return undefined
  return { startSeconds: seconds(times.slice(1, 5)), endSeconds: seconds(times.slice(5, 9)) }
}

function seconds([hours = '0', minutes, whole, fraction = '']: (string | undefined)[]): number {
  const milliseconds = Number(fraction.padEnd(3, '0'))
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(whole) + milliseconds / 1000
}

/** Removes tags, then replaces each entity once: `&amp;lt;` becomes `&lt;`, not `<`. */
function plainText(payload: string): string {
  return payload
    .replaceAll(TAG, '')
    .replaceAll(ENTITY, (entity, name: string) => ENTITIES[name] ?? entity)
}
