// One connection: parses pipelined requests as they are answered, and answers one at a time.
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Requests of one connection that are parsed but not answered yet; further bytes stay unparsed. */
const MAX_UNANSWERED = 8
/** Ends the head of every request that Node accepts (RFC 9112 2.1: CRLF after an empty line). */
const HEAD_END = Buffer.from('\n\r\n')
const NOTHING = Buffer.alloc(0)

/**
 * Node parses each read of up to 64 KiB completely, and starts all of its requests at once: a
 * thousand in one read. This class is between the socket and Node's parser, which accepts the bytes
 * in any division: it passes them on head by head, and stops while enough requests are unanswered.
 * Then reading stops as well, so that the rest waits in the socket.
 */
export class PipelinedConnection {
  readonly #socket: Socket
  readonly #parse: (bytes: Buffer) => unknown
  #unparsed: Buffer = NOTHING
  /** Whether this class has paused the socket. Node pauses it as well, for its own reasons. */
  #isHolding = false
  #unanswered = 0
  /** Starts the requests after the current one, in order. */
  #waiting: (() => void)[] = []

  /** @param socket to which Node's server has just added its listeners */
  constructor(socket: Socket) {
    this.#socket = socket
    const parsers = socket.listeners('data')
    this.#parse = (bytes) => parsers.forEach((parse) => void Reflect.apply(parse, socket, [bytes]))
    socket.removeAllListeners('data').on('data', this.#receive)
    socket.on('resume', this.#feed)
    socket.once('close', this.#abandon)
  }

  /** Whether bytes of a response may have been sent that is not complete yet. */
  get isAnswering(): boolean {
    return this.#unanswered > 0
  }

  /** Calls `start` when all earlier responses are complete; never if the client disconnects. */
  add(response: ServerResponse, start: () => void): void {
    this.#unanswered += 1
    response.on('close', this.#onAnswered)
    if (this.#unanswered === 1) start()
    else this.#waiting.push(start)
  }

  readonly #onAnswered = (): void => {
    this.#unanswered -= 1
    // After `Connection: close`, Node has ended the socket.
    if (!this.#socket.writable) return this.#abandon()
    this.#waiting.shift()?.()
    if (!this.#isHolding) return
    this.#isHolding = false
    this.#socket.resume()
    this.#feed()
  }

  readonly #receive = (bytes: Buffer): void => {
    this.#unparsed = this.#unparsed.length === 0 ? bytes : Buffer.concat([this.#unparsed, bytes])
    this.#feed()
  }

  /** Also called after Node has resumed the socket. */
  readonly #feed = (): void => {
    // A slice can end two heads, if the first one began in an earlier read.
    while (this.#unparsed.length > 0 && this.#unanswered < MAX_UNANSWERED - 1) {
      if (!this.#socket.writable) return this.#abandon()
      if (this.#socket.isPaused()) return
      const slice = this.#nextSlice()
      this.#parse(slice)
    }
    if (this.#unparsed.length === 0 || this.#socket.isPaused()) return
    this.#isHolding = true
    this.#socket.pause()
  }

  /** Removes the bytes up to the end of the first head, or all if none ends. */
  #nextSlice(): Buffer {
    const bytes = this.#unparsed
    const end = bytes.indexOf(HEAD_END) + HEAD_END.length
    const isWhole = end < HEAD_END.length || end === bytes.length
    this.#unparsed = isWhole ? NOTHING : bytes.subarray(end)
    return isWhole ? bytes : bytes.subarray(0, end)
  }

  readonly #abandon = (): void => {
    this.#waiting = []
    this.#unparsed = NOTHING
  }
}
