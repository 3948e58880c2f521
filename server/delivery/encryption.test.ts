import { createDecipheriv } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  createSegmentCipher,
  deriveSessionKey,
  encryptedBytes,
  formatUrlVersion,
  segmentIv,
} from './encryption.ts'
import type { HlsSettings } from './encryption.ts'

const settings: HlsSettings = { segmentSeconds: 6, encryption: 'aes-128', secret: 'one secret' }
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

describe('deriveSessionKey', () => {
  it('returns 16 bytes that differ by session, recording and secret', () => {
    const keys = [
      deriveSessionKey('s', session, 'a'),
      deriveSessionKey('s', session, 'b'),
      deriveSessionKey('t', session, 'a'),
      deriveSessionKey('s', { ...session, sessionId: '1002' }, 'a'),
    ]
    expect(keys.map((key) => key.length)).toEqual([16, 16, 16, 16])
    expect(new Set(keys.map((key) => key.toString('hex'))).size).toBe(4)
  })
})

describe('createSegmentCipher', () => {
  it.each([0, 1, 15, 16, 17, 188 * 7])(
    'encrypts %i bytes to the predicted size, and back',
    (size) => {
      const key = deriveSessionKey('s', session, 'a')
      const plain = Buffer.alloc(size, 7)
      const cipher = createSegmentCipher({ key, iv: segmentIv({ number: 3 }) })
      const encrypted = Buffer.concat([cipher.update(plain), cipher.final()])
      expect(encrypted.length).toBe(encryptedBytes(size))
      const decipher = createDecipheriv('aes-128-cbc', key, segmentIv({ number: 3 }))
      expect(Buffer.concat([decipher.update(encrypted), decipher.final()])).toEqual(plain)
    },
  )
})
