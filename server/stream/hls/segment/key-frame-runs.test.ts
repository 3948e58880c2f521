import { expect, test } from 'vitest'
import type { SampleRun } from '../../../media/media-reader.ts'
import { keyFramesOf } from './key-frame-runs.ts'

/** Five frames of two ticks, decoded one tick early; the second and the fourth are key frames. */
const video: SampleRun = {
  kind: 'video',
  timescale: 10,
  firstDecodeTicks: 100,
  sizes: Uint32Array.of(1, 2, 1, 3, 1),
  bytes: Buffer.from('abbcddde'),
  durations: Uint32Array.of(2, 2, 2, 2, 2),
  compositionOffsets: Int32Array.of(1, 1, 1, 1, 1),
  syncs: Uint8Array.of(0, 1, 0, 1, 0),
}

test('leaves key frames at their times, the last one until the end', () => {
  const [run] = keyFramesOf([video], 12)
  expect(run).toMatchObject({
    firstDecodeTicks: 103,
    sizes: Uint32Array.of(2, 3),
    durations: Uint32Array.of(4, 13),
    syncs: Uint8Array.of(1, 1),
  })
  expect(run?.bytes?.toString()).toBe('bbddd')
  expect(run).not.toHaveProperty('compositionOffsets')
})

test('leaves audio as it is, and no run without key frames', () => {
  const audio: SampleRun = { ...video, kind: 'audio' }
  const none = { ...video, syncs: new Uint8Array(5) }
  expect(keyFramesOf([none, audio], 12)).toEqual([audio])
})

test('has parameter sets before the first frame only if that is sent', () => {
  const { bytes: _, ...recorded } = video
  const prefixed = { ...recorded, offsets: Float64Array.of(0, 9, 20, 30, 40), prefix: Buffer.of(7) }
  expect(keyFramesOf([prefixed], 12)[0]).not.toHaveProperty('prefix')
  const [run] = keyFramesOf([{ ...prefixed, syncs: Uint8Array.of(1, 0, 0, 1, 0) }], 12)
  expect(run).toMatchObject({ prefix: Buffer.of(7), offsets: Float64Array.of(0, 30) })
})

test('never overflows the duration of a sample, whatever the timescale is', () => {
  const [run] = keyFramesOf([{ ...video, timescale: 1e9, firstDecodeTicks: 0 }], 12)
  expect(run?.durations.at(-1)).toBe(2 ** 32 - 1)
})
