import { expect, test } from 'vitest'
import { bytesFile } from '../../../test/support/bytes-file.ts'
import { BufferedFiles } from './buffered-files.ts'
import type { OpenFile } from './storage.ts'

const CONTENT = Buffer.from('0123456789')

/** A file that counts its reads. */
function countedFile(): { file: OpenFile; reads: () => number } {
  const plain = bytesFile(CONTENT)
  let reads = 0
  const file: OpenFile = {
    ...plain,
    async read(buffer, position) {
      reads += 1
      return plain.read(buffer, position)
    },
  }
  return { file, reads: () => reads }
}

async function readAt(file: OpenFile, position: number, length: number): Promise<string> {
  const buffer = Buffer.alloc(length)
  return buffer.toString('utf8', 0, await file.read(buffer, position))
}

test('reads a file once, and ends where it ends', async () => {
  const { file, reads } = countedFile()
  const buffered = new BufferedFiles({ maxFileBytes: 10, maxTotalBytes: 10 })
  const found = await buffered.use(file, async (each) => [
    await readAt(each, 2, 3),
    await readAt(each, 8, 5),
    await readAt(each, 10, 5),
    await readAt(each, 1000, 5),
  ])
  expect(found).toEqual(['234', '89', '', ''])
  expect(reads()).toBe(1)
})

test('does not buffer files beyond its limits', async () => {
  const { file, reads } = countedFile()
  const small = new BufferedFiles({ maxFileBytes: 9, maxTotalBytes: 100 })
  await small.use(file, async (each) => [await readAt(each, 0, 2), await readAt(each, 2, 2)])
  expect(reads()).toBe(2)
  const full = new BufferedFiles({ maxFileBytes: 10, maxTotalBytes: 19 })
  const within = await full.use(file, async () => full.use(file, async (each) => each))
  expect(within).toBe(file)
})
