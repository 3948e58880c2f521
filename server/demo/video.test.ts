import { Log } from 'node-av/lib'
import { AV_LOG_ERROR } from 'node-av/constants'
import { expect, it } from 'vitest'
import { PALETTES } from './demo-plan.ts'
import { SCENES } from './scenes.ts'
import { encodeClock, encodeLoop, FRAME_RATE, splitFrame } from './video.ts'

/** Header of a NAL unit and of a slice up to `pic_order_cnt_lsb`, if the frame is no key frame. */
const HEADER_BITS = 8 + 27 + 4 + 5

it('numbers the slices of the clock as the empty ones that they replace', () => {
  Log.setLevel(AV_LOG_ERROR)
  const { frames } = encodeLoop(SCENES.bars(1), PALETTES.gold, 40)
  const shown = frames.toSorted((left, right) => left.pts - right.pts)
  const replaced = shown.filter(({ pts }) => pts % FRAME_RATE === 0)
  const clock = encodeClock(replaced.length)
  expect(clock.map(headerOf)).toEqual(replaced.map(({ data }) => headerOf(splitFrame(data).bar)))
  // In the empty slices, all macroblocks are skipped.
  const empty = shown.filter(({ pts }) => pts % 2 === 1)
  expect(Math.max(...empty.map(({ data }) => splitFrame(data).bar.length))).toBeLessThan(20)
})

function headerOf(slice: Buffer): string {
  const bits = [...slice.subarray(3, 9)].map((byte) => byte.toString(2).padStart(8, '0'))
  return bits.join('').slice(0, HEADER_BITS)
}
