import { expect, test } from 'vitest'
import { formatIco } from './ico.ts'

test('lists each image with its size and its position', () => {
  const images = [
    { size: 16, png: Buffer.from('small') },
    { size: 256, png: Buffer.from('large one') },
  ]
  const ico = formatIco(images)
  expect([...ico.subarray(0, 6)]).toEqual([0, 0, 1, 0, 2, 0])
  for (const [at, { size, png }] of images.entries()) {
    const entry = ico.subarray(6 + 16 * at)
    const [bytes, offset] = [entry.readUInt32LE(8), entry.readUInt32LE(12)]
    expect([entry[0], entry[1]]).toEqual([size % 256, size % 256])
    expect(ico.subarray(offset, offset + bytes)).toEqual(png)
  }
  expect(() => formatIco([{ size: 512, png: Buffer.alloc(1) }])).toThrow(RangeError)
})
