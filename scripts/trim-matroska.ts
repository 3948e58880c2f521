// Trims a Matroska file to a smaller fixture in which one track ends early:
// `node scripts/trim-matroska.ts IN OUT TRACK SECONDS`
import { readFileSync, writeFileSync } from 'node:fs'

// RFC 9559 5.1: element ids.
const SEGMENT = 0x18538067
const CLUSTER = 0x1f43b675
const CLUSTER_TIMESTAMP = 0xe7
const SIMPLE_BLOCK = 0xa3
const SEEK_HEAD = 0x114d9b74
const CUES = 0x1c53bb6b

const UNKNOWN_SIZE = 0xff

interface Element {
  id: number
  /** The complete element, including its header. */
  bytes: Buffer
  content: Buffer
}

function* elements(bytes: Buffer): Generator<Element> {
  for (let at = 0; at < bytes.length;) {
    const idBytes = Math.clz32(bytes.readUInt8(at)) - 23
    const sizeAt = at + idBytes
    const sizeBytes = Math.clz32(bytes.readUInt8(sizeAt)) - 23
    const contentAt = sizeAt + sizeBytes
    const isUnknown = /^(?:ff|01f{14})$/.test(bytes.toString('hex', sizeAt, contentAt))
    const size = bytes.readUIntBE(sizeAt, Math.min(sizeBytes, 6)) % 2 ** (7 * sizeBytes)
    if (sizeBytes > 6 && !isUnknown) throw new Error('an element is larger than this script reads')
    const end = isUnknown ? bytes.length : contentAt + size
    const id = bytes.readUIntBE(at, idBytes)
    yield { id, bytes: bytes.subarray(at, end), content: bytes.subarray(contentAt, end) }
    at = end
  }
}

/** An element with a size of eight bytes. */
function element(id: number, content: Buffer): Buffer {
  const head = Buffer.alloc(8)
  head.writeBigUInt64BE(BigInt(content.length) | (1n << 56n))
  return Buffer.concat([Buffer.from(id.toString(16), 'hex'), head, content])
}

/** Times are in milliseconds (a TimestampScale of 1,000,000), track numbers below 128. */
function trimCluster(cluster: Buffer, { track, endMs }: { track: number; endMs: number }): Buffer {
  const parts = [...elements(cluster)]
  const timestamp = parts.find(({ id }) => id === CLUSTER_TIMESTAMP)?.content
  const startMs = timestamp?.readUIntBE(0, timestamp.length) ?? 0
  const kept = parts.filter(({ id, content }) => {
    const isOfTrack = id === SIMPLE_BLOCK && (content.readUInt8(0) & 0x7f) === track
    return !isOfTrack || startMs + content.readInt16BE(1) < endMs
  })
  return element(CLUSTER, Buffer.concat(kept.map(({ bytes }) => bytes)))
}

const [input, output, track, seconds] = process.argv.slice(2)
if (input === undefined || output === undefined || seconds === undefined) {
  throw new Error('usage: trim-matroska.ts IN OUT TRACK SECONDS')
}
const trimmed = [...elements(readFileSync(input))].flatMap(({ id, bytes, content }) => {
  if (id !== SEGMENT) return [bytes]
  const kept = [...elements(content)]
    // Their positions are no longer valid.
    .filter((inner) => inner.id !== SEEK_HEAD && inner.id !== CUES)
    .map((inner) =>
      inner.id === CLUSTER
        ? trimCluster(inner.content, { track: Number(track), endMs: Number(seconds) * 1000 })
        : inner.bytes,
    )
  const head = Buffer.from([...Buffer.from(SEGMENT.toString(16), 'hex'), UNKNOWN_SIZE])
  return [head, ...kept]
})
writeFileSync(output, Buffer.concat(trimmed))
