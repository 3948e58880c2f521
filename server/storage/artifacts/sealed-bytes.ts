// Bytes with their digest, so that a corrupt file is detected.
import { createHash } from 'node:crypto'

const DIGEST_BYTES = 32

/** The SHA-256 of the bytes, then the bytes. */
export function seal(bytes: Uint8Array): Buffer {
  return Buffer.concat([digest(bytes), bytes])
}

/** The bytes without their digest; undefined if they differ from it. Not a copy. */
export function unseal(sealed: Uint8Array): Uint8Array | undefined {
  if (sealed.length < DIGEST_BYTES) return undefined
  const bytes = sealed.subarray(DIGEST_BYTES)
  return digest(bytes).equals(sealed.subarray(0, DIGEST_BYTES)) ? bytes : undefined
}

function digest(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest()
}
