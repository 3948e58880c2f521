// Splits JSON (RFC 8259) into records: the objects in a list at the root, or in one field of an
// object at the root. Other content, such as images of emotes, is skipped and never in memory.
import { MAX_RECORD_LENGTH } from './record-splitter.ts'
import type { RecordSink, RecordSplitter } from './record-splitter.ts'

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BACKSLASH = 0x5c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
/** Of a key that may be a wanted one. */
const MAX_KEY_LENGTH = 64

/** What of the root object is read. */
export interface WantedFields {
  /** A list of records. */
  list: string
  /** An object that is one record. */
  object: string
}

/** Text that is copied, from a position in this chunk or an earlier one. */
interface Capture {
  /** Undefined for a key. */
  name: string | undefined
  /** What earlier chunks contributed. */
  text: string
  isTooLong: boolean
}

export class JsonRecords implements RecordSplitter {
  readonly #sink: RecordSink
  readonly #wanted: WantedFields
  /** Open objects and lists. */
  #depth = 0
  #isRootObject = false
  #isInString = false
  #isEscaped = false
  /** Whether the next string at the root is a key. */
  #mayBeKey = false
  /** The last key at the root. */
  #key = ''
  #capture: Capture | undefined
  /** Where the captured text starts in this chunk. */
  #start = 0
  /** Depth outside of the captured record. */
  #recordDepth = 0

  constructor(wanted: WantedFields, sink: RecordSink) {
    this.#wanted = wanted
    this.#sink = sink
  }

  add(text: string): void {
    this.#start = 0
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at)
      if (this.#isInString) this.#readString(code, text, at)
      else if (code === QUOTE) this.#openString(at)
      else if (code === OPEN_OBJECT || code === OPEN_LIST) this.#open(code, at)
      else if (code === CLOSE_OBJECT || code === CLOSE_LIST) this.#close(text, at)
      else if (code === COMMA && this.#depth === 1) this.#mayBeKey = this.#isRootObject
      else if (code === COLON && this.#depth === 1) this.#mayBeKey = false
    }
    if (this.#capture !== undefined) extend(this.#capture, text.slice(this.#start))
  }

  end(): void {
    this.#capture = undefined
  }

  #readString(code: number, text: string, at: number): void {
    if (this.#isEscaped) this.#isEscaped = false
    else if (code === BACKSLASH) this.#isEscaped = true
    else if (code === QUOTE) {
      this.#isInString = false
      if (this.#capture?.name === undefined) this.#endKey(text, at)
    }
  }

  #openString(at: number): void {
    this.#isInString = true
    if (this.#depth === 1 && this.#mayBeKey) this.#begin(undefined, at + 1)
  }

  #endKey(text: string, at: number): void {
    if (this.#capture === undefined) return
    extend(this.#capture, text.slice(this.#start, at))
    this.#key = this.#capture.text
    this.#capture = undefined
    this.#mayBeKey = false
  }

  #open(code: number, at: number): void {
    if (this.#depth === 0) {
      this.#isRootObject = code === OPEN_OBJECT
      this.#mayBeKey = this.#isRootObject
      this.#key = ''
    }
    const name =
      this.#capture === undefined && code === OPEN_OBJECT ? this.#recordName() : undefined
    if (name !== undefined) {
      this.#recordDepth = this.#depth
      this.#begin(name, at)
    }
    this.#depth += 1
  }

  /** The name of a record that starts here; undefined if none does. */
  #recordName(): string | undefined {
    const { list, object } = this.#wanted
    if (this.#depth === 1) {
      if (!this.#isRootObject) return ''
      return this.#key === object ? object : undefined
    }
    return this.#depth === 2 && this.#isRootObject && this.#key === list ? list : undefined
  }

  #close(text: string, at: number): void {
    this.#depth = Math.max(0, this.#depth - 1)
    const capture = this.#capture
    if (capture?.name === undefined || this.#depth > this.#recordDepth) return
    extend(capture, text.slice(this.#start, at + 1))
    this.#capture = undefined
    if (capture.isTooLong) this.#sink.onSkipped()
    else parseRecord(capture.name, capture.text, this.#sink)
  }

  #begin(name: string | undefined, start: number): void {
    this.#capture = { name, text: '', isTooLong: false }
    this.#start = start
  }
}

function extend(capture: Capture, text: string): void {
  const maxLength = capture.name === undefined ? MAX_KEY_LENGTH : MAX_RECORD_LENGTH
  capture.isTooLong ||= capture.text.length + text.length > maxLength
  // A key that is too long is none of the wanted ones.
  capture.text = capture.isTooLong ? '' : capture.text + text
}

/** The record, if it is valid JSON. */
export function parseRecord(name: string, text: string, sink: RecordSink): void {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // SyntaxError
    sink.onSkipped()
    return
  }
  sink.onRecord({ name, value })
}
