// Sends a GET on a connection (RFC 9112). Accepts what stores return for a range, a body with
// Content-Length; the SDK handles everything else.
import type { ObjectBody, ObjectResponse } from './object-body.ts'
import type { StoreConnection } from './store-connection.ts'

export interface GetRequest {
  /** Path and query. */
  path: string
  headers: Record<string, string>
}

const END_OF_HEAD = '\r\n\r\n'
const MAX_HEAD_BYTES = 16 * 1024
const STATUS_LINE = /^HTTP\/1\.1 (?<status>[2-5]\d\d)(?: .*)?$/
const FIELD_LINE = /^(?<name>[\w!#$%&'*+.^`|~-]+):(?<value>.*)$/

/**
 * Resolves with the head of the response; the caller reads or destroys its body.
 *
 * @param onIdle called when the body was read to its end and the connection may be used again
 * @throws Error if the connection ends or the response is invalid; then it is closed
 */
export async function sendGet(
  connection: StoreConnection,
  request: GetRequest,
  onIdle: () => void,
): Promise<ObjectResponse> {
  try {
    connection.write(formatGet(request))
    const { text, rest } = await readHead(connection)
    const { status, fields } = parseHead(text)
    // Of an error, only the status is used.
    const contentLength = status < 300 ? parseLength(fields) : undefined
    const isClosing = /\bclose\b/i.test(fields.get('connection') ?? '')
    const isKeptAlive = contentLength !== undefined && !isClosing
    const onEnd = (): void => {
      if (isKeptAlive && connection.release()) onIdle()
      else connection.close()
    }
    return {
      status,
      contentRange: fields.get('content-range'),
      contentLength,
      etag: fields.get('etag'),
      body: new ResponseBody({ connection, first: rest, leftBytes: contentLength ?? 0, onEnd }),
    }
  } catch (error) {
    connection.close()
    throw error
  }
}

interface BodyOptions {
  connection: StoreConnection
  /** Received with the head. */
  first: Uint8Array
  leftBytes: number
  /** Called once, when the end was read. */
  onEnd: () => void
}

class ResponseBody implements ObjectBody {
  readonly #options: BodyOptions
  #first: Uint8Array | undefined
  #leftBytes: number
  #isOver = false

  constructor(options: BodyOptions) {
    this.#options = options
    this.#first = options.first.length > 0 ? options.first : undefined
    this.#leftBytes = options.leftBytes
  }

  async next(): Promise<Uint8Array | undefined> {
    if (this.#leftBytes === 0) {
      if (!this.#isOver) this.#options.onEnd()
      this.#isOver = true
      return undefined
    }
    const bytes = this.#first ?? (await this.#options.connection.read())
    this.#first = undefined
    this.#leftBytes -= bytes.length
    if (this.#leftBytes >= 0) return bytes
    this.destroy()
    throw new Error('a response is longer than it states')
  }

  destroy(): void {
    // Afterwards the connection may belong to another response.
    if (!this.#isOver) this.#options.connection.close()
    this.#isOver = true
  }
}

function formatGet({ path, headers }: GetRequest): string {
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  const lines = [`GET ${path} HTTP/1.1`, ...fields]
  const isValid = !path.includes(' ') && lines.every((line) => /^[ -~]*$/.test(line))
  if (!isValid) throw new Error('a header of the request is invalid')
  return lines.join('\r\n') + END_OF_HEAD
}

/** The head without its empty line, and the bytes after it. */
async function readHead(connection: StoreConnection): Promise<{ text: string; rest: Uint8Array }> {
  let head = Buffer.alloc(0)
  for (;;) {
    const bytes = await connection.read()
    const lengthBefore = head.length
    head = Buffer.concat([head, bytes.subarray(0, MAX_HEAD_BYTES)])
    const end = head.indexOf(END_OF_HEAD)
    if (end !== -1) {
      const rest = bytes.subarray(end + END_OF_HEAD.length - lengthBefore)
      return { text: head.toString('latin1', 0, end), rest }
    }
    if (head.length >= MAX_HEAD_BYTES) throw new Error('the head of a response is too long')
  }
}

/** Names in lower case; values of equal names are joined. */
function parseHead(text: string): { status: number; fields: Map<string, string> } {
  const [statusLine = '', ...fieldLines] = text.split('\r\n')
  const status = STATUS_LINE.exec(statusLine)?.groups?.status
  if (status === undefined) throw new Error('the response has another version or status')
  const fields = new Map<string, string>()
  for (const line of fieldLines) {
    const { name, value } = FIELD_LINE.exec(line)?.groups ?? {}
    if (name === undefined || value === undefined) throw new Error('a header is invalid')
    const before = fields.get(name.toLowerCase())
    const own = value.trim()
    fields.set(name.toLowerCase(), before === undefined ? own : `${before}, ${own}`)
  }
  return { status: Number(status), fields }
}

/** @throws Error if there is none, several, or a coding that replaces it (RFC 9112 6.3) */
function parseLength(fields: Map<string, string>): number {
  const length = fields.get('content-length') ?? ''
  if (!/^\d{1,15}$/.test(length) || fields.has('transfer-encoding'))
    throw new Error('the response has no length')
  return Number(length)
}
