// The buckets of a chat as they are stored: each minute compressed, many minutes in one pack.
import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { gunzipSync, gzipSync } from 'node:zlib'
import { z } from 'zod'
import type { MessageStore } from './message-store.ts'

/** A pack ends with the bucket that reaches this size. */
const PACK_BYTES = 512 * 1024
/** Characters of base64url: 132 bits of a hash. */
const VERSION_LENGTH = 22
/** Of one bucket: more than anyone reads in a minute. */
export const MAX_BUCKET_MESSAGES = 6000
export const MAX_BUCKET_BYTES = 1024 * 1024

const BUCKET_START = '{"messages":['
const BUCKET_END = ']}'

const numbers = z.array(z.int().nonnegative())

export const bucketTableSchema = z.object({
  /** Messages in each bucket. */
  counts: numbers,
  /** Size of each compressed bucket. */
  sizes: numbers,
  /** The first bucket of each pack. */
  packs: numbers,
  /** The nth identifies the content of the first n buckets; the last one, that of all. */
  versions: z.array(z.string()).min(1),
})

/** Where the buckets of a chat are. */
export type BucketTable = z.infer<typeof bucketTableSchema>

export interface PackedChat extends BucketTable {
  /** The packs. */
  bytes: Uint8Array<ArrayBuffer>[]
}

/** Compresses one bucket at a time, and lets other work of the thread run in between. */
export async function packBuckets(store: MessageStore): Promise<PackedChat> {
  const hash = createHash('sha256')
  const versionOf = (): string => hash.copy().digest('base64url').slice(0, VERSION_LENGTH)
  const versions = [versionOf()]
  const packed: PackedChat = { counts: [], sizes: [], packs: [], versions, bytes: [] }
  let pack: Buffer[] = []
  let packBytes = 0
  const endPack = (): void => {
    if (pack.length > 0) packed.bytes.push(Buffer.concat(pack))
    pack = []
    packBytes = 0
  }
  const target = Buffer.allocUnsafeSlow(MAX_BUCKET_BYTES)
  for (const [bucket, messages] of store.buckets().entries()) {
    const { content, count } = formatBucket(store, messages, target)
    hash.update(content)
    versions.push(versionOf())
    const compressed = gzipSync(content)
    if (packBytes === 0) packed.packs.push(bucket)
    pack.push(compressed)
    packBytes += compressed.length
    packed.counts.push(count)
    packed.sizes.push(compressed.length)
    if (packBytes >= PACK_BYTES) endPack()
    await nextTurn()
  }
  endPack()
  return packed
}

/** The pack with a bucket; undefined if there is no such bucket. */
export function findPack({ counts, packs }: BucketTable, bucket: number): number | undefined {
  return bucket < counts.length ? packs.findLastIndex((first) => first <= bucket) : undefined
}

/** The JSON of a bucket, from the bytes of its pack; undefined if they are corrupt. */
export function readBucket(
  { sizes, packs }: BucketTable,
  bucket: number,
  { pack, bytes }: { pack: number; bytes: Uint8Array },
): string | undefined {
  const before = sizes.slice(packs[pack] ?? 0, bucket)
  const start = before.reduce((sum, size) => sum + size, 0)
  const compressed = bytes.subarray(start, start + (sizes[bucket] ?? 0))
  try {
    return gunzipSync(compressed, { maxOutputLength: 2 * MAX_BUCKET_BYTES }).toString()
  } catch {
    return undefined
  }
}

/** The JSON of as many messages as the target has room for. */
function formatBucket(
  store: MessageStore,
  messages: readonly number[],
  target: Buffer,
): { content: Buffer; count: number } {
  let at = target.write(BUCKET_START)
  let count = 0
  for (const message of messages.slice(0, MAX_BUCKET_MESSAGES)) {
    const start = at + (count === 0 ? 0 : target.write(',', at))
    const end = store.write(message, target.subarray(0, -BUCKET_END.length), start)
    if (end === undefined) break
    at = end
    count += 1
  }
  at += target.write(BUCKET_END, at)
  return { content: target.subarray(0, at), count }
}
