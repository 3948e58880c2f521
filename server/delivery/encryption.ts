// AES-128 of whole segments (RFC 8216 4.3.2.4, 5.2): keys derived per session, an IV per segment, the version in URLs.
import { createCipheriv, createHash, hkdfSync } from 'node:crypto'
import type { Cipheriv } from 'node:crypto'
import type { SessionReference } from '../../shared/paths.ts'

const KEY_BYTES = 16
const BLOCK_BYTES = 16
const VERSION_BYTES = 12
/** As many bytes in base64url. */
const URL_VERSION = /^[\w-]{16}$/

/** Settings that change what a segment's URL answers. */
export interface HlsSettings {
  segmentSeconds: number
  encryption: 'aes-128' | 'none'
  /** Input of every key; nodes that share it answer the same bytes. */
  secret: string
}

/** The layout of segments that this code writes; raised when the same recording would give other bytes. */
const FORMAT_VERSION = 3

/**
 * The part of a segment's URL that stands for the recording, the settings and the key.
 *
 * @param identity of the recording's bytes
 */
export function formatUrlVersion(identity: string, settings: HlsSettings): string {
  const keyMark =
    settings.encryption === 'none'
      ? 'none'
      : deriveBytes(settings.secret, 'url version', 16).toString('hex')
  const facts = JSON.stringify([
    FORMAT_VERSION,
    identity,
    settings.segmentSeconds,
    settings.encryption,
    keyMark,
  ])
  return createHash('sha256')
    .update(facts)
    .digest()
    .subarray(0, VERSION_BYTES)
    .toString('base64url')
}

/** Whether a text can have come from `formatUrlVersion`. */
export function isUrlVersion(text: string): boolean {
  return URL_VERSION.test(text)
}

/** The 16-byte key of one session's recording (HKDF, RFC 5869). */
export function deriveSessionKey(
  secret: string,
  session: SessionReference,
  identity: string,
): Buffer {
  const { streamer, date, sessionId } = session
  return deriveBytes(
    secret,
    JSON.stringify(['segment key', streamer, date, sessionId, identity]),
    KEY_BYTES,
  )
}

function deriveBytes(secret: string, purpose: string, count: number): Buffer {
  return Buffer.from(
    hkdfSync('sha256', secret, 'aftercast', createHash('sha256').update(purpose).digest(), count),
  )
}

/** What tells a segment from all others of its recording; `sound` is 0 where it comes with the pictures. */
export interface IvPlace {
  number: number
  audio?: number
  tailBytes?: number | undefined
}

/**
 * A segment's IV: its number, as 128 bits big-endian, behind that of its sound where that is sent apart, and its mark
 * where it has one. Unique, for a key serves one recording alone.
 */
export function segmentIv({ number, audio = 0, tailBytes = 0 }: IvPlace): Buffer {
  const iv = Buffer.alloc(BLOCK_BYTES)
  iv.writeBigUInt64BE(BigInt(tailBytes), 0)
  iv.writeUInt32BE(audio, BLOCK_BYTES - 8)
  iv.writeUInt32BE(number, BLOCK_BYTES - 4)
  return iv
}

/** Encrypts one segment: feed its bytes in order, then finish (PKCS7 padding). */
export function createSegmentCipher({ key, iv }: { key: Buffer; iv: Buffer }): Cipheriv {
  return createCipheriv('aes-128-cbc', key, iv)
}

/** Size after encryption: padding fills up the last block, or adds one. */
export function encryptedBytes(plainBytes: number): number {
  return plainBytes - (plainBytes % BLOCK_BYTES) + BLOCK_BYTES
}
