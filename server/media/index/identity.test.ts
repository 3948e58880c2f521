import { expect, test } from 'vitest'
import { openDiskFile } from '../../../test/support/bytes-file.ts'
import { fixturePath } from '../../../test/support/temp-library.ts'
import { createMediaReaders } from '../readers.ts'
import { readIdentity } from './identity.ts'

const { signal } = new AbortController()
/** One per container. */
const FIXTURES = [
  'flv-h264-aac.flv',
  'fmp4-h264-aac-18frag.mp4',
  'mkv-h264-aac-60s.mkv',
  'mp4-h264-mp3.mp4',
  'ts-hevc-aac51.ts',
]

test('an index that was stored and read again gives the same identity', async () => {
  for (const name of FIXTURES) {
    const file = await openDiskFile(fixturePath(name))
    const index = await (await createMediaReaders().forFile(file)).index(file, signal)
    const first = await readIdentity(file, index)
    expect(await readIdentity(file, structuredClone(index)), name).toEqual(first)
    await file.close()
  }
})
