// Sample entries that browsers accept, made from the audio configurations of containers.
import { expect, it } from 'vitest'
import { opusConfig, opusConfigFromBox } from './sample-entry.ts'

/** RFC 7845 5.1: two channels, pre-skip 312, recorded at 44.1 kHz. */
const OPUS_HEAD = Buffer.from('4f7075734865616401023801' + '44ac0000' + '000000', 'hex')
/** The same, big-endian, as in ISOBMFF. */
const OPUS_BOX = Buffer.from('00020138' + '0000ac44' + '000000', 'hex')

it('writes one rate of Opus in both fields, since Chromium rejects two', () => {
  const fromHead = opusConfig(OPUS_HEAD)
  const fromBox = opusConfigFromBox(OPUS_BOX)
  expect(fromHead).toEqual(fromBox)
  const entry = Buffer.from(fromHead?.sampleEntry ?? [])
  expect(entry.readUInt16BE(32)).toBe(48_000)
  const dOps = entry.indexOf('dOps') + 4
  expect(entry.subarray(dOps).toString('hex')).toBe('00020138' + '0000bb80' + '000000')
})

it('returns undefined for a truncated configuration of Opus', () => {
  expect(opusConfig(OPUS_HEAD.subarray(0, 18))).toBeUndefined()
  expect(opusConfigFromBox(OPUS_BOX.subarray(0, 10))).toBeUndefined()
})
