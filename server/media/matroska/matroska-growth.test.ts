// What growth.test.ts cannot test with all containers: elements of wrong size.
import { expect, it } from 'vitest'
import { bytesFile } from '../../../test/support/bytes-file.ts'
import { createRandom } from '../../../test/support/make/corrupt.ts'
import {
  AAC_TRACK,
  claimedElement,
  clusters,
  element,
  filmBlocks,
  H264_TRACK,
  mkvFile,
} from '../../../test/support/make/make-mkv.ts'
import { checkGrowth } from '../../../test/support/verify/grow-recording.ts'
import { createMatroskaReader } from './matroska-reader.ts'

const reader = createMatroskaReader()

it.each([
  ['a void', 0xec],
  ['tags', 0x1254c367],
])('a growing recording retains the clusters inside %s of wrong size', async (_, id) => {
  const blocks = filmBlocks({ seconds: 20, frameBytes: 400 })
  const [first = Buffer.alloc(0), ...others] = clusters(blocks, { size: 'known', ticks: 1000 })
  const film = (inserted: Buffer) => mkvFile([H264_TRACK, AAC_TRACK], [first, inserted, ...others])
  const bytes = film(claimedElement(id, 20_001))
  const random = createRandom(60)
  const sizes = Array.from({ length: 60 }, () => random(bytes.length)).toSorted((a, b) => a - b)
  const whole = (await checkGrowth({ reader, bytes }, sizes)).at(-1)
  const { signal } = new AbortController()
  const right = await reader.index(bytesFile(film(element(id, Buffer.alloc(0)))), signal)
  expect(whole?.splitPoints).toEqual(right.splitPoints)
})
