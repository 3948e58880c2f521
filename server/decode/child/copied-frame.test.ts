import { AV_PIX_FMT_YUV420P } from 'node-av/constants'
import { expect, it } from 'vitest'
import { copiedFrame } from './copied-frame.ts'

it('has the pixels of its buffer, whatever becomes of that', () => {
  // Rows that FFmpeg pads.
  const shape = { width: 130, height: 4, format: AV_PIX_FMT_YUV420P }
  const pixels = Uint8Array.from({ length: 130 * 6 }, (_, at) => at % 251)
  const expected = Buffer.from(pixels)
  using frame = copiedFrame(pixels, shape)
  pixels.fill(0)
  expect(frame.toBuffer()).toEqual(expected)
})
