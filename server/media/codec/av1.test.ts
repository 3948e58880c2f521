// av1C made from a sequence header, compared with what a muxer wrote.
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { bytesFile } from '../../../test/support/bytes-file.ts'
import { patienceMs } from '../../../test/support/patience.ts'
import { createMp4Reader } from '../mp4/mp4-reader.ts'
import { parseAv1Sequence } from './av1.ts'

const FOLDER = path.resolve(import.meta.dirname, '../../../test/fixtures/media')

describe('parseAv1Sequence', () => {
  it('returns the configuration that an MP4 muxer wrote, and the size', async () => {
    const bytes = await readFile(path.join(FOLDER, 'mp4-av1-10bit-aac-portrait.mp4'))
    const file = bytesFile(bytes)
    const reader = createMp4Reader()
    const index = await reader.index(file, AbortSignal.timeout(patienceMs))
    const frame = await reader.readKeyFrame(file, index, 0)
    const written = frame?.extradata ?? new Uint8Array()
    const data = Buffer.from(frame?.data ?? [])
    const sequence = parseAv1Sequence(data)
    const made = Buffer.from(sequence?.config ?? [])
    const video = index.tracks.find(({ kind }) => kind === 'video')
    expect(video).toMatchObject({ width: sequence?.width, height: sequence?.height })
    // The muxer omitted the sequence header and the chroma sample position (the last two bits).
    expect([...written]).toEqual([0x81, 0x1f, 0x4c, 0])
    expect([...made.subarray(0, 4)]).toEqual([0x81, 0x1f, 0x4d, 0])
    expect(made.length).toBeGreaterThan(10)
    expect(data.includes(made.subarray(4))).toBe(true)
  })

  it('returns undefined without a whole sequence header', () => {
    expect(parseAv1Sequence(Buffer.from([0x12, 0]))).toBeUndefined()
    expect(parseAv1Sequence(Buffer.from([0x0a, 0x0b, 0, 0]))).toBeUndefined()
    expect(parseAv1Sequence(Buffer.from([0x0a, 1, 0]))).toBeUndefined()
    expect(parseAv1Sequence(Buffer.alloc(50, 0xff))).toBeUndefined()
  })
})
