import { describe, expect, it } from 'vitest'
import { findSidecar, MAX_SIDECAR_BYTES, readSidecar } from './sidecar.ts'

describe('findSidecar', () => {
  it('finds the image named like the recording, with its extension in any case', () => {
    expect(findSidecar(['1001.ts', '1001.JPG', '1002.jpg'], '1001')).toBe('1001.JPG')
    expect(findSidecar(['1001.ts', '1001.txt', '10011.jpg'], '1001')).toBeUndefined()
  })
  it('prefers the first extension of several', () => {
    expect(findSidecar(['avatar.avif', 'avatar.png', 'avatar.jpeg'], 'avatar')).toBe('avatar.jpeg')
  })
  it('compares names in NFC and returns the spelling of the storage', () => {
    expect(findSidecar(['cafe\u0301.webp'], 'caf\u00e9')).toBe('cafe\u0301.webp')
  })
  it('never returns an SVG or a hidden file', () => {
    expect(findSidecar(['poster.svg', '.jpg'], 'poster')).toBeUndefined()
    expect(findSidecar(['.jpg'], '')).toBeUndefined()
  })
})

describe('readSidecar', () => {
  const jpeg = Uint8Array.of(0xff, 0xd8, 0xff, 0xe0)
  it('detects the type from the bytes, whatever the name is', async () => {
    const image = await readSidecar({ key: 'a', sizeBytes: 4, read: async () => jpeg })
    expect(image).toEqual({ bytes: jpeg, contentType: 'image/jpeg' })
  })
  it('refuses a file that is not an image', async () => {
    const script = Buffer.from('<svg onload="alert(1)">')
    expect(await readSidecar({ key: 'a', sizeBytes: 4, read: async () => script })).toBeUndefined()
  })
  it('does not read an oversized file', async () => {
    const read = () => Promise.reject(new Error('was read'))
    expect(await readSidecar({ key: 'a', sizeBytes: MAX_SIDECAR_BYTES + 1, read })).toBeUndefined()
  })
})
