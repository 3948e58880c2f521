import { expect, test } from 'vitest'
import { missingDecoders } from './missing-decoders.ts'

test.each([
  ['avc1.64002a', []],
  ['avc1.6e0028', ['10 bit']],
  ['avc1.7a0028', ['10 bit', '4:2:2']],
  ['avc1.F4001f', ['4:4:4']],
  ['hvc1.1.6.L120.90', ['HEVC']],
  ['hev1.2.4.L93.B0', ['HEVC', '10 bit']],
  ['hvc1.4.10.L30.9D.8', ['HEVC', '10 bit', '4:2:2']],
  ['hvc1.4.10.L93.9E.08', ['HEVC', '4:4:4']],
  ['hvc1.4.10.L93.9C.88', ['HEVC', '10 bit']],
  ['hvc1.4.10.L93.9C.8', ['HEVC', '10 bit', '4:4:4']],
  ['av01.0.08M.08', ['AV1']],
  ['av01.1.08M.08', ['AV1', '4:4:4']],
  ['av01.2.08M.10', ['AV1', '10 bit', '4:2:2']],
  ['av01.0.31M.10', ['AV1', '10 bit']],
  ['vp09.00.30.08', []],
  ['vp09.02.10.10', ['10 bit']],
  ['vp8', []],
  ['', []],
])('%s needs %j', (codec, needed) => {
  expect(missingDecoders(codec)).toEqual(needed)
})
