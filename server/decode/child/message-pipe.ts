// Messages over a pipe, each as its length and the value in the format of `node:v8`. A malformed
// message on Node's own channel ends the process that receives it.
import type { Readable, Writable } from 'node:stream'
import { deserialize, serialize } from 'node:v8'

const LENGTH_BYTES = 4

export interface MessageReceiver {
  onMessage: (message: unknown) => void
  /** No message follows. Default none, for a sender that is trusted. */
  onMalformed?: () => void
  /** Longest message. Default unlimited. */
  maxBytes?: number
}

export function sendMessage(to: Writable, message: unknown): void {
  const value = serialize(message)
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32BE(value.length)
  to.cork()
  to.write(length)
  to.write(value)
  to.uncork()
}

export function receiveMessages(from: Readable, receiver: MessageReceiver): void {
  const { onMessage, onMalformed, maxBytes = Infinity } = receiver
  const received = new ReceivedBytes()
  let lengthBytes: number | undefined
  const takeMessages = (): void => {
    for (;;) {
      lengthBytes ??= received.take(LENGTH_BYTES)?.readUInt32BE()
      if (lengthBytes === undefined) return
      if (lengthBytes > maxBytes) throw new RangeError('the message is too long')
      const value = received.take(lengthBytes)
      if (value === undefined) return
      lengthBytes = undefined
      onMessage(deserialize(value))
    }
  }
  const onData = (chunk: Buffer): void => {
    received.add(chunk)
    try {
      takeMessages()
    } catch {
      from.off('data', onData)
      from.destroy()
      onMalformed?.()
    }
  }
  from.on('data', onData)
}

/** Bytes that belong to no message yet. */
class ReceivedBytes {
  #chunks: Buffer[] = []
  #sizeBytes = 0

  add(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#sizeBytes += chunk.length
  }

  /** The first bytes, in memory of their own; undefined while there are fewer. */
  take(sizeBytes: number): Buffer | undefined {
    if (this.#sizeBytes < sizeBytes) return undefined
    const taken = Buffer.alloc(sizeBytes)
    let filled = 0
    while (filled < sizeBytes) {
      const [chunk = Buffer.alloc(0)] = this.#chunks
      const copied = chunk.copy(taken, filled)
      filled += copied
      if (copied === chunk.length) this.#chunks.shift()
      else this.#chunks[0] = chunk.subarray(copied)
    }
    this.#sizeBytes -= sizeBytes
    return taken
  }
}
