// Long FLV recordings: what growth.test.ts and hostile.test.ts cannot test in memory.
import { open } from 'node:fs/promises'
import path from 'node:path'
import { serialize } from 'node:v8'
import { describe, expect, it } from 'vitest'
import { bytesFile, countingFile, openDiskFile } from '../../../test/support/bytes-file.ts'
import { flvFile, flvHeader, flvTag, smallStream } from '../../../test/support/make/make-flv.ts'
import { makeTempFolder } from '../../../test/support/temp-folder.ts'
import { durationSeconds } from '../media-index.ts'
import { createFlvReader } from './flv-reader.ts'
import { patienceMs } from '../../../test/support/patience.ts'

const reader = createFlvReader()

describe('long recordings', () => {
  it('are not read after an abort', async () => {
    const controller = new AbortController()
    const bytes = flvFile(smallStream({ seconds: 60, frameBytes: 20_000 }))
    const file = bytesFile(bytes)
    let reads = 0
    const stopping = {
      ...file,
      read: async (buffer: Uint8Array, position: number) => {
        reads += 1
        if (reads === 3) controller.abort(new Error('enough'))
        return file.read(buffer, position)
      },
    }
    await expect(reader.index(stopping, controller.signal)).rejects.toThrow('enough')
    expect(reads).toBe(3)
  })

  it('need little memory, a small index, and few reads per segment', async () => {
    const target = path.join(makeTempFolder('flv-long'), 'long.flv')
    const handle = await open(target, 'w')
    const minute = smallStream({ seconds: 60, frameBytes: 6000, framesPerSecond: 25 })
    await handle.write(flvHeader())
    for (let at = 0; at < 10; at += 1) {
      const shifted = minute.map((tag) => flvTag({ ...tag, timeMs: tag.timeMs + at * 60_000 }))
      await handle.write(Buffer.concat(shifted))
    }
    await handle.close()
    const file = await openDiskFile(target)
    const before = process.memoryUsage().arrayBuffers
    const index = await reader.index(file, AbortSignal.timeout(patienceMs))
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * 1024 * 1024)
    expect(durationSeconds(index)).toBeCloseTo(600, 0)
    expect(index.splitPoints.flags.length).toBe(300)
    expect(serialize(index).length).toBeLessThan(300 * 32 + 4096)
    const { file: counting, counts } = countingFile(file)
    await reader.readSegment(counting, index, { from: 200, to: 203 })
    expect(counts.reads).toBeLessThanOrEqual(4)
    await file.close()
  })
})
