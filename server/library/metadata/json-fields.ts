// Reads a few fields of a JSON object (RFC 8259) in a stream. The rest is only checked, so that a
// file costs no more memory than these fields: `JSON.parse` makes hundreds of megabytes of a file
// of 16 MiB with empty objects.
import type { SidecarParser } from './sidecar-parser.ts'

/** Bytes of one field. A longer string is truncated, a longer list loses its last entries. */
const MAX_FIELD_BYTES = 512 * 1024
/** Bytes of a key that may be a wanted one. */
const MAX_KEY_BYTES = 64
/** Memory of a field at first. */
const FIRST_FIELD_BYTES = 1024
/** Objects and lists inside of each other. */
const MAX_DEPTH = 512
/** Digits of a number. */
const MAX_TOKEN_BYTES = 1024

const TOKEN = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/

/** What may follow, or what is being read. */
type State =
  | 'value'
  | 'value-or-end'
  | 'key'
  | 'key-or-end'
  | 'colon'
  | 'comma-or-end'
  | 'string'
  | 'escape'
  | 'hex'
  | 'token'
  | 'nothing'

/** A key, or the value of a wanted key. */
interface Capture {
  key: string | undefined
  /** The first `sizeBytes` are captured. */
  bytes: Buffer
  sizeBytes: number
  /** Size after the last whole entry of a list. */
  wholeBytes: number
  isCut: boolean
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const COMMA = 0x2c
const COLON = 0x3a
const LETTER_U = 0x75
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf] as const
const escapes = new Set(Buffer.from('"\\/bfnrt'))
const hexDigits = new Set(Buffer.from('0123456789abcdefABCDEF'))
const spaces = new Set(Buffer.from(' \t\r\n'))

/** Values of the wanted keys. */
export type JsonFields = ReadonlyMap<string, unknown>

/** Undefined for what `JSON.parse` rejects, is not an object, or is nested too deeply. */
export class JsonFieldsParser implements SidecarParser<JsonFields> {
  readonly #wanted: ReadonlySet<string>
  readonly #fields = new Map<string, unknown>()
  #state: State = 'value'
  /** The closing byte of each open object and list. */
  readonly #open: number[] = []
  readonly #keyBytes = Buffer.alloc(MAX_KEY_BYTES)
  #isKey = false
  #hexLeft = 0
  #token = ''
  /** The wanted key whose value is next. */
  #key: string | undefined
  #capture: Capture | undefined
  #isObject = false
  #isBroken = false
  #position = 0

  constructor(wanted: readonly string[]) {
    this.#wanted = new Set(wanted)
  }

  add(bytes: Uint8Array): boolean {
    for (let at = this.#skipMark(bytes); at < bytes.length;) {
      const before = this.#capture
      const next = this.#step(bytes, at)
      if (next === undefined) {
        this.#isBroken = true
        return false
      }
      const capture = this.#capture ?? before
      if (capture !== undefined) this.#extend(capture, bytes.subarray(at, next))
      if (before !== undefined && this.#capture === undefined) this.#finish(before)
      at = next
    }
    this.#position += bytes.length
    return true
  }

  end(): JsonFields | undefined {
    const isWhole = this.#state === 'nothing' && this.#open.length === 0
    return this.#isObject && isWhole && !this.#isBroken ? this.#fields : undefined
  }

  #skipMark(bytes: Uint8Array): number {
    const hasMark = this.#position === 0 && BYTE_ORDER_MARK.every((byte, at) => bytes[at] === byte)
    return hasMark ? BYTE_ORDER_MARK.length : 0
  }

  /** Reads at least one byte, or ends a token; returns the next position, undefined if broken. */
  #step(bytes: Uint8Array, at: number): number | undefined {
    if (this.#state === 'string') return this.#readString(bytes, at)
    if (this.#state === 'token') return this.#readToken(bytes, at)
    const byte = bytes[at] ?? 0
    const isInString = this.#state === 'escape' || this.#state === 'hex'
    if (isInString) return this.#readEscape(byte) ? at + 1 : undefined
    return spaces.has(byte) || this.#readMark(byte) ? at + 1 : undefined
  }

  /** One byte after a backslash. Returns whether it may be here. */
  #readEscape(byte: number): boolean {
    if (this.#state === 'hex') {
      this.#hexLeft -= 1
      if (this.#hexLeft === 0) this.#state = 'string'
      return hexDigits.has(byte)
    }
    this.#hexLeft = 4
    this.#state = byte === LETTER_U ? 'hex' : 'string'
    return byte === LETTER_U || escapes.has(byte)
  }

  /** One byte outside of strings and tokens. Returns whether it may be here. */
  #readMark(byte: number): boolean {
    const state = this.#state
    const mayEnd = state === 'comma-or-end' || state === 'key-or-end' || state === 'value-or-end'
    if (mayEnd && byte === this.#open.at(-1)) return this.#close()
    if (state === 'comma-or-end') {
      this.#state = this.#open.at(-1) === CLOSE_OBJECT ? 'key' : 'value'
      return byte === COMMA
    }
    if (state === 'colon') {
      this.#state = 'value'
      return byte === COLON
    }
    if (state === 'value' || state === 'value-or-end') return this.#beginValue(byte)
    return state !== 'nothing' && this.#beginKey(byte)
  }

  #beginKey(byte: number): boolean {
    this.#isKey = true
    this.#state = 'string'
    if (this.#open.length === 1) this.#begin(undefined)
    return byte === QUOTE
  }

  #beginValue(byte: number): boolean {
    if (this.#open.length === 0) this.#isObject = byte === OPEN_OBJECT
    if (this.#open.length === 1 && this.#key !== undefined) this.#begin(this.#key)
    if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      this.#open.push(byte === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_LIST)
      this.#state = byte === OPEN_OBJECT ? 'key-or-end' : 'value-or-end'
      return this.#open.length <= MAX_DEPTH
    }
    this.#isKey = false
    this.#state = byte === QUOTE ? 'string' : 'token'
    this.#token = byte === QUOTE ? '' : String.fromCharCode(byte)
    return true
  }

  #close(): boolean {
    this.#open.pop()
    this.#endValue()
    return true
  }

  #endValue(): void {
    this.#state = this.#open.length === 0 ? 'nothing' : 'comma-or-end'
    if (this.#open.length === 1) this.#capture = undefined
  }

  /** The characters of a string up to an escape or its end. */
  #readString(bytes: Uint8Array, start: number): number | undefined {
    for (let at = start; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0
      if (byte < 0x20) return undefined
      if (byte === BACKSLASH) {
        this.#state = 'escape'
        return at + 1
      }
      if (byte === QUOTE) {
        this.#endString()
        return at + 1
      }
    }
    return bytes.length
  }

  #endString(): void {
    if (!this.#isKey) return this.#endValue()
    this.#state = 'colon'
    if (this.#open.length === 1) this.#capture = undefined
  }

  /** A number, `true`, `false` or `null`, up to the byte after it. */
  #readToken(bytes: Uint8Array, start: number): number | undefined {
    let end = start
    while (end < bytes.length && !isDelimiter(bytes[end] ?? 0)) end += 1
    if (this.#token.length + end - start > MAX_TOKEN_BYTES) return undefined
    for (let at = start; at < end; at += 1) this.#token += String.fromCharCode(bytes[at] ?? 0)
    if (end === bytes.length) return end
    if (!TOKEN.test(this.#token)) return undefined
    this.#endValue()
    return end
  }

  #begin(key: string | undefined): void {
    // The keys of an object are captured one after the other.
    const bytes = key === undefined ? this.#keyBytes : Buffer.alloc(FIRST_FIELD_BYTES)
    this.#capture = { key, bytes, sizeBytes: 0, wholeBytes: 0, isCut: false }
  }

  #extend(capture: Capture, bytes: Uint8Array): void {
    const maxBytes = capture.key === undefined ? MAX_KEY_BYTES : MAX_FIELD_BYTES
    const room = maxBytes - capture.sizeBytes
    if (bytes.length > room) capture.isCut = true
    if (room === 0) return
    const added = Math.min(bytes.length, room)
    if (capture.sizeBytes + added > capture.bytes.length) {
      const larger = Math.max(2 * capture.bytes.length, capture.sizeBytes + added)
      capture.bytes = Buffer.concat([capture.bytes], larger)
    }
    capture.bytes.set(bytes.subarray(0, added), capture.sizeBytes)
    capture.sizeBytes += added
    const isBetween = this.#open.length === 2 && this.#state === 'comma-or-end'
    if (isBetween && !capture.isCut) capture.wholeBytes = capture.sizeBytes
  }

  #finish(capture: Capture): void {
    const text = capture.bytes.toString('utf8', 0, capture.sizeBytes)
    if (capture.key === undefined) {
      const key = capture.isCut ? undefined : parseKey(text)
      this.#key = key !== undefined && this.#wanted.has(key) ? key : undefined
      return
    }
    this.#key = undefined
    // As in JSON.parse, the last of equal keys counts.
    this.#fields.set(capture.key, capture.isCut ? parseCut(capture, text) : JSON.parse(text))
  }
}

/** `text` is a valid string; few keys have escapes. */
function parseKey(text: string): string | undefined {
  if (!text.includes('\\')) return text.slice(1, -1)
  const key: unknown = JSON.parse(text)
  return typeof key === 'string' ? key : undefined
}

function isDelimiter(byte: number): boolean {
  return spaces.has(byte) || byte === COMMA || byte === CLOSE_LIST || byte === CLOSE_OBJECT
}

/** Length of an incomplete escape, `\u0000`, and of an incomplete UTF-8 sequence. */
const MAX_INCOMPLETE = 8

/** The start of a string or list; undefined for an object. */
function parseCut({ bytes, wholeBytes }: Capture, text: string): unknown {
  if (text.startsWith('[')) {
    const whole = bytes.toString('utf8', 0, wholeBytes)
    return wholeBytes === 0 ? [] : JSON.parse(`${whole}]`)
  }
  for (let left = 0; text.startsWith('"') && left < MAX_INCOMPLETE; left += 1) {
    try {
      return JSON.parse(`${text.slice(0, text.length - left)}"`)
    } catch {
      // SyntaxError: it ends inside an escape.
    }
  }
  return undefined
}
