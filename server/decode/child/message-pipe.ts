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

/** Memory and time are linear in the bytes, whatever the chunks that they arrive in. */
export function receiveMessages(from: Readable, receiver: MessageReceiver): void {
  const { onMessage, onMalformed, maxBytes = Infinity } = receiver
  let part: 'length' | 'value' = 'length'
  let bytes = Buffer.alloc(LENGTH_BYTES)
  let filled = 0
  const take = (chunk: Buffer): void => {
    for (let at = 0; at < chunk.length;) {
      const copied = chunk.copy(bytes, filled, at)
      at += copied
      filled += copied
      if (filled < bytes.length) return
      const whole = bytes
      const sizeBytes = part === 'length' ? whole.readUInt32BE() : LENGTH_BYTES
      if (sizeBytes > maxBytes) throw new RangeError('the message is too long')
      bytes = Buffer.alloc(sizeBytes)
      filled = 0
      part = part === 'length' ? 'value' : 'length'
      if (part === 'length') onMessage(deserialize(whole))
    }
  }
  const onData = (chunk: Buffer): void => {
    try {
      take(chunk)
    } catch {
      from.off('data', onData)
      from.destroy()
      onMalformed?.()
    }
  }
  from.on('data', onData)
}
