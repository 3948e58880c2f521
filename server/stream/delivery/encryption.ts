// AES-128 of whole segments (RFC 8216 4.3.2.4, 5.2): a key per session and URL version, an IV per
// segment.
import { createHash, hkdfSync } from 'node:crypto'
import type { SessionReference } from '../../../shared/paths.ts'
import { BLOCK_BYTES } from './block-cipher.ts'
import type { EncryptBlocks } from './block-cipher.ts'

const KEY_BYTES = 16
const VERSION_BYTES = 12
/** The same number of bytes in base64url. */
const URL_VERSION = /^[\w-]{16}$/

/** Settings that change the bytes of segments. */
export interface HlsSettings {
  segmentSeconds: number
  /** As in `SegmentDurations`. */
  startSegmentSeconds: number
  encryption: 'aes-128' | 'none'
  /** Input of every key. Nodes with the same secret serve the same bytes. */
  secret: string
}

/** Increase it when a code change gives the same recording other segment bytes. */
const FORMAT_VERSION = 6

/** What identifies the bytes of a recording's renditions in URLs, and encrypts them. */
export interface UrlIdentity {
  urlVersion: string
  /** Undefined if segments are sent in the clear. */
  key: Buffer | undefined
}

/** @param content as in `formatUrlVersion` */
export function identifyUrls(
  content: string,
  session: SessionReference,
  settings: HlsSettings,
): UrlIdentity {
  const urlVersion = formatUrlVersion(content, settings)
  if (settings.encryption === 'none') return { urlVersion, key: undefined }
  return { urlVersion, key: deriveSegmentKey(settings.secret, session, urlVersion) }
}

/**
 * The part of a segment URL that identifies the recording, the settings and the key.
 *
 * @param content identifies the recording's bytes and their container
 */
export function formatUrlVersion(content: string, settings: HlsSettings): string {
  const keyHash =
    settings.encryption === 'none'
      ? 'none'
      : deriveBytes(settings.secret, 'url version', 16).toString('hex')
  const facts = JSON.stringify([
    FORMAT_VERSION,
    content,
    settings.segmentSeconds,
    settings.startSegmentSeconds,
    settings.encryption,
    keyHash,
  ])
  return createHash('sha256')
    .update(facts)
    .digest()
    .subarray(0, VERSION_BYTES)
    .toString('base64url')
}

/** Whether `formatUrlVersion` can have returned the string. */
export function isUrlVersion(version: string): boolean {
  return URL_VERSION.test(version)
}

/**
 * The 16-byte key of the segments with one URL version in a session (HKDF, RFC 5869). With other
 * settings or in another container, a recording has other segments of the same numbers.
 */
export function deriveSegmentKey(
  secret: string,
  session: SessionReference,
  urlVersion: string,
): Buffer {
  const { streamer, date, sessionId } = session
  return deriveBytes(
    secret,
    JSON.stringify(['segment key', streamer, date, sessionId, urlVersion]),
    KEY_BYTES,
  )
}

function deriveBytes(secret: string, purpose: string, count: number): Buffer {
  return Buffer.from(
    hkdfSync('sha256', secret, 'aftercast', createHash('sha256').update(purpose).digest(), count),
  )
}

/** Identifies a segment among all of its URL version. */
export interface IvInput {
  number: number
  /** Number of the rendition; 0 for the video with the default audio. */
  rendition?: number
  tailBytes?: number | undefined
}

/**
 * A segment's IV: 64 bits `tailBytes`, 32 bits rendition, 32 bits segment number, all
 * big-endian. It is unique, because a key belongs to one URL version.
 */
export function segmentIv({ number, rendition = 0, tailBytes = 0 }: IvInput): Buffer {
  const iv = Buffer.alloc(BLOCK_BYTES)
  iv.writeBigUInt64BE(BigInt(tailBytes), 0)
  iv.writeUInt32BE(rendition, BLOCK_BYTES - 8)
  iv.writeUInt32BE(number, BLOCK_BYTES - 4)
  return iv
}

/** Encrypts one segment: pass its bytes in order, then call `final` (padding: RFC 5652 6.3). */
export class SegmentCipher {
  readonly #encrypt: EncryptBlocks
  readonly #key: Uint8Array
  /** The last encrypted block. */
  readonly #iv: Uint8Array
  /** The first bytes of a block that is not complete. */
  readonly #rest = new Uint8Array(BLOCK_BYTES)
  #restBytes = 0

  constructor({ key, iv }: { key: Uint8Array; iv: Uint8Array }, encrypt: EncryptBlocks) {
    this.#encrypt = encrypt
    this.#key = key
    this.#iv = Uint8Array.from(iv)
  }

  /**
   * Encrypts in place; the result is empty, or begins up to 15 bytes before `chunk`. It overwrites
   * a block of memory there.
   */
  update({ buffer, byteOffset, length }: Uint8Array): Uint8Array {
    const first = byteOffset - this.#restBytes
    const bytes = new Uint8Array(buffer, first, this.#restBytes + length)
    bytes.set(this.#rest.subarray(0, this.#restBytes))
    this.#restBytes = bytes.length % BLOCK_BYTES
    const blocks = bytes.subarray(0, bytes.length - this.#restBytes)
    this.#rest.set(bytes.subarray(blocks.length))
    if (blocks.length > 0) this.#encryptNext(blocks)
    return blocks
  }

  final(): Uint8Array {
    const block = this.#rest.fill(BLOCK_BYTES - this.#restBytes, this.#restBytes)
    this.#encryptNext(block)
    return block
  }

  #encryptNext(blocks: Uint8Array): void {
    this.#encrypt(blocks, this.#key, this.#iv)
    this.#iv.set(blocks.subarray(-BLOCK_BYTES))
  }
}

/** Size after encryption: PKCS7 padding fills the last block or adds one. */
export function encryptedBytes(plainBytes: number): number {
  return plainBytes - (plainBytes % BLOCK_BYTES) + BLOCK_BYTES
}
