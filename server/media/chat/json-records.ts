// Splits JSON (RFC 8259) into records: the objects in a list at the root, or those in an object at
// the root and in its lists; and text into lines: JSON Lines, or those of a log. What is too long,
// such as images of emotes, is never in memory.
import { keepRecord, MAX_RECORD_LENGTH } from './record-splitter.ts'
import type { OnRecord, RecordSplitter } from './record-splitter.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
/** Objects and lists around a record. */
const MAX_RECORD_DEPTH = 2

export class JsonRecords implements RecordSplitter {
  readonly #onRecord: OnRecord
  readonly #maxLength: number
  /** Open objects and lists. */
  #depth = 0
  #isInString = false
  #isEscaped = false
  /** The start of the open record, from earlier chunks. */
  #record: string | undefined
  /** Depth outside of it. */
  #recordDepth = 0

  /** @param maxLength of a record, in UTF-16 code units */
  constructor(onRecord: OnRecord, maxLength = MAX_RECORD_LENGTH) {
    this.#onRecord = onRecord
    this.#maxLength = maxLength
  }

  add(text: string): void {
    let start = 0
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at)
      if (this.#isInString) this.#readString(code)
      else if (code === QUOTE) this.#isInString = true
      else if (code === OPEN_OBJECT || code === OPEN_LIST) {
        if (this.#opensRecord(code)) start = at
        this.#depth += 1
      } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) {
        this.#depth = Math.max(0, this.#depth - 1)
        if (this.#depth <= this.#recordDepth) this.#closeRecord(text.slice(start, at + 1))
      }
    }
    if (this.#record === undefined || this.#record.length > this.#maxLength) return
    this.#record = keepRecord(this.#record + text.slice(start), this.#maxLength)
  }

  end(): void {
    this.#record = undefined
  }

  #readString(code: number): void {
    if (this.#isEscaped) this.#isEscaped = false
    else if (code === BACKSLASH) this.#isEscaped = true
    else if (code === QUOTE) this.#isInString = false
  }

  #opensRecord(code: number): boolean {
    const isInside = this.#depth >= 1 && this.#depth <= MAX_RECORD_DEPTH
    if (code !== OPEN_OBJECT || !isInside || this.#record !== undefined) return false
    this.#record = ''
    this.#recordDepth = this.#depth
    return true
  }

  #closeRecord(end: string): void {
    const record = this.#record === undefined ? undefined : this.#record + end
    if (record !== undefined && record.length <= this.#maxLength) {
      parseRecord(record, this.#onRecord)
    }
    this.#record = undefined
  }
}

/** Passes on the record, if it is valid JSON. */
function parseRecord(text: string, onRecord: OnRecord): void {
  let record: unknown
  try {
    record = JSON.parse(text)
  } catch {
    // SyntaxError
    return
  }
  onRecord(record)
}

export class LineRecords implements RecordSplitter {
  readonly #onRecord: OnRecord
  readonly #content: 'json' | 'text'
  /** The start of the last line. */
  #rest = ''

  constructor(content: 'json' | 'text', onRecord: OnRecord) {
    this.#content = content
    this.#onRecord = onRecord
  }

  add(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = keepRecord(lines.pop() ?? '')
    for (const line of lines) this.#read(line)
  }

  /** The last line may lack its newline. JSON shows whether it is cut off. */
  end(isGrowing: boolean): void {
    if (this.#content === 'json' || !isGrowing) this.#read(this.#rest)
  }

  #read(line: string): void {
    if (line.length > MAX_RECORD_LENGTH) return
    if (this.#content === 'json') parseRecord(line, this.#onRecord)
    else this.#onRecord(line.trim())
  }
}
