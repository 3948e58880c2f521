// A relay that makes loopback a link of a given speed and round trip: the kernel may have no netem.
// A connection costs a round trip and starts slowly, as TCP does (RFC 5681, RFC 6928).
import { connect, createServer } from 'node:net'
import type { Socket } from 'node:net'
import { findFreePort } from '../../test/support/servers/free-port.ts'

export interface Link {
  megabitsPerSecond: number
  roundTripMs: number
}

/** Bytes that enter the link at once: four full segments of TCP. */
const PIECE_BYTES = 4 * 1460
/** Ten segments (RFC 6928). */
const FIRST_WINDOW_BYTES = 10 * 1460
/** Bytes that wait in the relay before it stops reading. */
const QUEUE_BYTES = 256 * 1024

/** Relays to the origin of a site until the process ends. Returns that at the far end. */
export async function startLink(
  origin: string,
  { megabitsPerSecond, roundTripMs }: Link,
): Promise<string> {
  const { hostname, port } = new URL(origin)
  const bytesPerMs = (megabitsPerSecond * 1000) / 8
  const [up, down] = [new Line(bytesPerMs, roundTripMs), new Line(bytesPerMs, roundTripMs)]
  const listener = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const server = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
    // The handshake of a real link.
    client.pause()
    setTimeout(() => relay(client.resume(), server, up), roundTripMs)
    relay(server, client, down)
  })
  const far = await findFreePort()
  listener.listen(far, '127.0.0.1').unref()
  return `http://127.0.0.1:${far}`
}

/** One direction of the link, which all connections share. */
class Line {
  readonly delayMs: number
  /** Twice what is on its way at full speed: the queue of a router. */
  readonly maxWindowBytes: number
  readonly #bytesPerMs: number
  #freeMs = 0

  constructor(bytesPerMs: number, roundTripMs: number) {
    this.#bytesPerMs = bytesPerMs
    this.delayMs = roundTripMs / 2
    this.maxWindowBytes = Math.max(FIRST_WINDOW_BYTES, 2 * bytesPerMs * roundTripMs)
  }

  /** Calls back when the bytes arrive at the other end. */
  send(byteCount: number, arrived: () => void): void {
    const nowMs = performance.now()
    this.#freeMs = Math.max(nowMs, this.#freeMs) + byteCount / this.#bytesPerMs
    setTimeout(arrived, this.#freeMs + this.delayMs - nowMs)
  }
}

/** Passes on what one side of a connection sends, as far as its congestion window allows. */
function relay(from: Socket, to: Socket, line: Line): void {
  const queue: Buffer[] = []
  const sent: Buffer[] = []
  let [queuedBytes, sentBytes] = [0, 0]
  let windowBytes = FIRST_WINDOW_BYTES
  let isEnded = false
  const pump = (): void => {
    for (let piece = queue[0]; piece !== undefined; piece = queue[0]) {
      if (sentBytes + piece.byteLength > windowBytes) return
      queue.shift()
      sent.push(piece)
      sentBytes += piece.byteLength
      line.send(piece.byteLength, deliver)
    }
  }
  // Timers of nearly the same time may end in another order than they began.
  const deliver = (): void => {
    const piece = sent.shift() ?? Buffer.alloc(0)
    to.write(piece)
    setTimeout(() => acknowledge(piece.byteLength), line.delayMs)
  }
  const acknowledge = (byteCount: number): void => {
    sentBytes -= byteCount
    queuedBytes -= byteCount
    windowBytes = Math.min(windowBytes + byteCount, line.maxWindowBytes)
    if (queuedBytes < QUEUE_BYTES) from.resume()
    if (isEnded && queuedBytes === 0) to.end()
    pump()
  }
  from.on('data', (bytes: Buffer) => {
    for (let at = 0; at < bytes.byteLength; at += PIECE_BYTES)
      queue.push(bytes.subarray(at, at + PIECE_BYTES))
    queuedBytes += bytes.byteLength
    if (queuedBytes >= QUEUE_BYTES) from.pause()
    pump()
  })
  from.on('end', () => {
    isEnded = true
    if (queuedBytes === 0) to.end()
  })
  from.on('error', () => to.destroy())
  from.on('close', () => {
    if (!isEnded) to.destroy()
  })
}
