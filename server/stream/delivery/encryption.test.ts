import { createCipheriv, createDecipheriv } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { encryptByNode, loadEncryptBlocks } from './block-cipher.ts'
import { allocateChunk } from './buffer-pool.ts'
import {
  deriveSegmentKey,
  encryptedBytes,
  formatUrlVersion,
  isUrlVersion,
  SegmentCipher,
  segmentIv,
} from './encryption.ts'
import type { HlsSettings } from './encryption.ts'

const settings: HlsSettings = {
  segmentSeconds: 6,
  startSegmentSeconds: 2,
  encryption: 'aes-128',
  secret: 'one secret',
}
const session = { streamer: 'alice', date: '2026-01-31', sessionId: '1001' }

describe('formatUrlVersion', () => {
  it('is the same for equal recordings, settings and secrets', () => {
    expect(formatUrlVersion('identity', settings)).toBe(
      formatUrlVersion('identity', { ...settings }),
    )
  })

  it.each([
    ['another recording', 'other', settings],
    ['another segment length', 'identity', { ...settings, segmentSeconds: 4 }],
    ['another first segment', 'identity', { ...settings, startSegmentSeconds: 3 }],
    ['no encryption', 'identity', { ...settings, encryption: 'none' as const }],
    ['another secret', 'identity', { ...settings, secret: 'two secrets' }],
  ])('differs for %s', (_what, identity, other) => {
    expect(formatUrlVersion(identity, other)).not.toBe(formatUrlVersion('identity', settings))
  })

  it('does not depend on the secret without encryption', () => {
    const plain: HlsSettings = { ...settings, encryption: 'none' }
    expect(formatUrlVersion('identity', plain)).toBe(
      formatUrlVersion('identity', { ...plain, secret: 'x' }),
    )
  })
})

test('URL versions and keys are the same in every release with one FORMAT_VERSION', () => {
  expect(formatUrlVersion('content', settings)).toBe('Mi9UxCtbjJpJG67w')
  const plain: HlsSettings = { ...settings, encryption: 'none' }
  expect(formatUrlVersion('content', plain)).toBe('XIMDQJtOrcsvdIFm')
  const key = deriveSegmentKey(settings.secret, session, 'version')
  expect(key.toString('hex')).toBe('d01ec984342c686d67a150d68d1922b7')
})

describe('isUrlVersion', () => {
  it('accepts what formatUrlVersion returns', () => {
    const version = formatUrlVersion('content', settings)
    expect(isUrlVersion(version)).toBe(true)
    for (const other of [version.slice(1), `${version}a`, `a${version}`, version.replace(/./, '.')])
      expect(isUrlVersion(other)).toBe(false)
  })
})

describe('deriveSegmentKey', () => {
  it('returns 16 bytes that differ by session, URL version and secret', () => {
    const keys = [
      deriveSegmentKey('s', session, 'a'),
      deriveSegmentKey('s', session, 'b'),
      deriveSegmentKey('t', session, 'a'),
      deriveSegmentKey('s', { ...session, streamer: 'bob' }, 'a'),
      deriveSegmentKey('s', { ...session, date: '2026-02-01' }, 'a'),
      deriveSegmentKey('s', { ...session, sessionId: '1002' }, 'a'),
    ]
    expect(keys.map((key) => key.length)).toEqual([16, 16, 16, 16, 16, 16])
    expect(new Set(keys.map((key) => key.toString('hex'))).size).toBe(6)
  })
})

describe('segmentIv', () => {
  /** All three numbers in hexadecimal, one after the other. */
  const modelIv = (tailBytes: number, rendition: number, number: number) =>
    [tailBytes.toString(16).padStart(16, '0'), rendition.toString(16).padStart(8, '0')].join('') +
    number.toString(16).padStart(8, '0')

  it('has tail, rendition and number each in its own bytes, so that no two are equal', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.nat(2 ** 32 - 1), fc.nat(2 ** 32 - 1), (tail, of, number) => {
        const iv = segmentIv({ number, rendition: of, tailBytes: tail })
        expect(iv.toString('hex')).toBe(modelIv(tail, of, number))
        expect(segmentIv({ number }).toString('hex')).toBe(modelIv(0, 0, number))
      }),
    )
  })
})

describe.each([
  ['node:crypto', encryptByNode],
  ['what this system has', await loadEncryptBlocks()],
])('SegmentCipher by %s', (_name, encryptBlocks) => {
  const key = deriveSegmentKey('s', session, 'a')
  const iv = segmentIv({ number: 3 })

  it.each([0, 1, 15, 16, 17, 188 * 7])(
    'encrypts %i bytes to the predicted size, and back',
    (size) => {
      const plain = Buffer.alloc(size, 7)
      const chunk = allocateChunk(size)
      chunk.set(plain)
      const cipher = new SegmentCipher({ key, iv }, encryptBlocks)
      const encrypted = Buffer.concat([cipher.update(chunk), cipher.final()])
      expect(encrypted.length).toBe(encryptedBytes(size))
      const decipher = createDecipheriv('aes-128-cbc', key, iv)
      expect(Buffer.concat([decipher.update(encrypted), decipher.final()])).toEqual(plain)
    },
  )

  it('encrypts like node:crypto, in chunks of any size, of several segments in turn', () => {
    const chunks = fc.array(fc.uint8Array({ maxLength: 200_000 }), { maxLength: 5 })
    fc.assert(
      fc.property(fc.array(chunks, { minLength: 1, maxLength: 3 }), (segments) => {
        const ciphers = segments.map(
          (_, number) => new SegmentCipher({ key, iv: segmentIv({ number }) }, encryptBlocks),
        )
        const encrypted = segments.map((): Buffer[] => [])
        for (let turn = 0; turn < 5; turn += 1) {
          for (const [number, parts] of segments.entries()) {
            const part = parts[turn]
            if (part === undefined) continue
            const chunk = allocateChunk(part.length)
            chunk.set(part)
            encrypted[number]?.push(Buffer.from(ciphers[number]?.update(chunk) ?? ''))
          }
        }
        for (const [number, parts] of segments.entries()) {
          encrypted[number]?.push(Buffer.from(ciphers[number]?.final() ?? ''))
          const reference = createCipheriv('aes-128-cbc', key, segmentIv({ number }))
          const expected = Buffer.concat([
            ...parts.map((part) => reference.update(part)),
            reference.final(),
          ])
          expect(Buffer.concat(encrypted[number] ?? []).equals(expected)).toBe(true)
        }
      }),
      { numRuns: 40 },
    )
  })
})

test('finds the functions of the OpenSSL inside Node', async () => {
  expect(await loadEncryptBlocks()).not.toBe(encryptByNode)
})
