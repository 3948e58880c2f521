import { describe, expect, it } from 'vitest'
import { chooseImageFormat, sniffImageType } from './image-format.ts'

describe('chooseImageFormat', () => {
  it.each([
    [undefined, 'jpeg'],
    ['', 'jpeg'],
    ['*/*', 'jpeg'],
    ['image/*', 'jpeg'],
    ['image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8', 'avif'],
    ['image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5', 'webp'],
    ['image/webp, image/avif', 'avif'],
    ['image/avif;q=0, image/webp', 'webp'],
    ['image/avif;q=0.5, image/webp;q=0.9', 'webp'],
    ['image/avif;q=0.5, image/*;q=0.8', 'jpeg'],
    ['image/avif;q=0,image/webp;q=0', 'jpeg'],
    ['image/jpeg;q=0', 'jpeg'],
    ['IMAGE/WEBP; Q=0.3', 'webp'],
    ['image/avif;q=nonsense', 'jpeg'],
    ['image/avif;q=', 'jpeg'],
    ['image/avif;q=7', 'jpeg'],
    [`${'x,'.repeat(100_000)}image/avif`, 'jpeg'],
  ])('chooses %s for %s', (accept, format) => {
    expect(chooseImageFormat(accept)).toBe(format)
  })
})

describe('sniffImageType', () => {
  it.each([
    ['\xff\xd8\xff\xe0', 'image/jpeg'],
    ['\x89PNG\r\n\x1a\n', 'image/png'],
    ['RIFF\0\0\0\0WEBPVP8 ', 'image/webp'],
    ['\0\0\0\x1cftypavif\0\0\0\0', 'image/avif'],
    ['\0\0\0\x1cftypmif1\0\0\0\0avifmif1', 'image/avif'],
    ['\0\0\0\x1cftypisom\0\0\0\0', undefined],
    ['<svg xmlns="http://www.w3.org/2000/svg">', undefined],
    ['<?xml version="1.0"?><svg>', undefined],
    ['RIFF\0\0\0\0WAVE', undefined],
    ['', undefined],
  ])('recognises %j as %s', (bytes, type) => {
    expect(sniffImageType(Buffer.from(bytes, 'latin1'))).toBe(type)
  })
})
