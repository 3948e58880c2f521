// The text of a chat file: UTF-8, or UTF-16 or UTF-32 with a byte order mark.
import { TextDecoder } from 'node:util'

/** Decodes the next bytes of a file; what is incomplete at their end follows with the next call. */
export type DecodeText = (bytes: Uint8Array) => string

/** Bytes by which the encoding is recognised; a shorter file is no chat. */
export const MARK_BYTES = 4
const UTF32_BYTES = 4
const MAX_CODE_POINT = 0x10ffff
const INVALID = '\uFFFD'

/** @param start of the file, as the first call gets it: at least `MARK_BYTES` */
export function createDecoder(start: Uint8Array): DecodeText {
  const mark = Buffer.from(start.subarray(0, MARK_BYTES)).toString('hex')
  // Before UTF-16, whose mark is the start of this one.
  if (mark === 'fffe0000') return createUtf32Decoder('little')
  if (mark === '0000feff') return createUtf32Decoder('big')
  const isUtf16 = /^(?:fffe|feff)/.test(mark)
  const encoding = mark.startsWith('fffe') ? 'utf-16le' : 'utf-16be'
  const decoder = new TextDecoder(isUtf16 ? encoding : 'utf-8')
  return (bytes) => decoder.decode(bytes, { stream: true })
}

function createUtf32Decoder(order: 'little' | 'big'): DecodeText {
  let rest: Uint8Array = new Uint8Array()
  let markBytes = MARK_BYTES
  return (bytes) => {
    const all = Buffer.concat([rest, bytes])
    const end = all.length - (all.length % UTF32_BYTES)
    rest = all.subarray(end)
    const characters: string[] = []
    for (let at = markBytes; at < end; at += UTF32_BYTES) {
      const point = order === 'little' ? all.readUInt32LE(at) : all.readUInt32BE(at)
      characters.push(point > MAX_CODE_POINT ? INVALID : String.fromCodePoint(point))
    }
    markBytes = 0
    return characters.join('')
  }
}
