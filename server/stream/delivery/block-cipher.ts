// AES-128-CBC of whole blocks in place: by the OpenSSL inside Node, or by node:crypto.
import { createCipheriv } from 'node:crypto'
import type koffi from 'koffi'

export const BLOCK_BYTES = 16

/**
 * Encrypts whole blocks in place (NIST SP 800-38A, 6.2), without padding. `iv` is the last
 * encrypted block before them.
 */
export type EncryptBlocks = (blocks: Uint8Array, key: Uint8Array, iv: Uint8Array) => void

/** Larger outputs of node:crypto are mapped page by page each time, which costs as much again. */
const SLICE_BYTES = 64 * 1024

/**
 * OpenSSL's own function, which needs no memory for its output, if Node exports it and it encrypts
 * like node:crypto.
 */
export async function loadEncryptBlocks(): Promise<EncryptBlocks> {
  try {
    const { default: library } = await import('koffi')
    const encrypt = encryptByOpenssl(library.load(null))
    const isEqual = encryptKnown(encrypt).join() === encryptKnown(encryptByNode).join()
    return isEqual ? encrypt : encryptByNode
  } catch {
    // No binary of koffi for this system, or another OpenSSL.
    return encryptByNode
  }
}

export const encryptByNode: EncryptBlocks = (blocks, key, iv) => {
  const cipher = createCipheriv('aes-128-cbc', key, iv).setAutoPadding(false)
  for (let at = 0; at < blocks.length; at += SLICE_BYTES) {
    const slice = cipher.update(blocks.subarray(at, at + SLICE_BYTES))
    blocks.set(slice, at)
    freeMemory(slice)
  }
}

/** Without a garbage collection, if no other bytes share the memory. They are empty after that. */
function freeMemory({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}

type Call = (...values: unknown[]) => number

/** EVP_EncryptInit(3). The calls are synchronous: one context serves all. */
function encryptByOpenssl(openssl: ReturnType<typeof koffi.load>): EncryptBlocks {
  const call = (prototype: string): Call => openssl.func(prototype)
  const init = call('int EVP_EncryptInit_ex(void *c, void *cipher, void *e, void *key, void *iv)')
  const update = call(
    'int EVP_EncryptUpdate(void *c, void *out, void *length, void *in, int count)',
  )
  const context: unknown = openssl.func('void *EVP_CIPHER_CTX_new()')()
  if (context === null) throw new Error('OpenSSL has no memory')
  init(context, openssl.func('void *EVP_aes_128_cbc()')(), null, null, null)
  const length = new Int32Array(1)
  return (blocks, key, iv) => {
    if (blocks.length % BLOCK_BYTES !== 0) throw new RangeError('not whole blocks')
    if (key.length !== BLOCK_BYTES || iv.length !== BLOCK_BYTES) throw new RangeError('not AES-128')
    const isDone =
      init(context, null, null, key, iv) === 1 &&
      update(context, blocks, length, blocks, blocks.length) === 1
    if (!isDone || length[0] !== blocks.length) throw new Error('OpenSSL did not encrypt')
  }
}

/** What it makes of known bytes, of lengths around those of its inner loops. */
function encryptKnown(encrypt: EncryptBlocks): string[] {
  return [1, 2, 7, 64].map((count) => {
    const memory = Buffer.alloc((count + 1) * BLOCK_BYTES, 'known bytes')
    const [iv, blocks] = [memory.subarray(0, BLOCK_BYTES), memory.subarray(BLOCK_BYTES)]
    encrypt(blocks, Buffer.alloc(BLOCK_BYTES, 'key'), iv)
    return memory.toString('hex')
  })
}
