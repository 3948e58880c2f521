import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bytesFile } from '../../../test/support/bytes-file.ts'
import {
  ebmlHead,
  element,
  H264_TRACK,
  ID,
  info,
  openElement,
  text,
  tracks,
  uint,
} from '../../../test/support/make/make-mkv.ts'
import { isAppError } from '../../base/errors.ts'
import { CHAPTER, CHAPTERS, SEEK } from './elements/element-ids.ts'
import { readChapters } from './matroska-chapters.ts'

const { signal } = new AbortController()
const read = async (bytes: Uint8Array) => readChapters(bytesFile(bytes), signal)

function atom(startSeconds: number, title: string, ...more: Uint8Array[]): Buffer {
  const display = element(CHAPTER.display, text(CHAPTER.title, title), text(0x437c, 'eng'))
  return element(CHAPTER.atom, uint(CHAPTER.start, startSeconds * 1e9), display, ...more)
}

const chapters = element(
  CHAPTERS,
  element(CHAPTER.edition, atom(1, 'Another edition')),
  element(
    CHAPTER.edition,
    uint(CHAPTER.isDefaultEdition, 1),
    atom(0, 'Intro', uint(CHAPTER.end, 60e9)),
    atom(10, 'Hidden', uint(CHAPTER.isHidden, 1)),
    atom(20, 'Disabled', uint(CHAPTER.isEnabled, 0)),
    atom(60, 'Größe', atom(70, 'Inside')),
  ),
)
const expected = [
  { startSeconds: 0, endSeconds: 60, title: 'Intro' },
  { startSeconds: 60, title: 'Größe' },
]
const cluster = element(ID.cluster, uint(ID.timestamp, 0))
const before = Buffer.concat([info(), tracks(H264_TRACK)])

/** A SeekHead with the position of the chapters. */
function seekHead(position: number): Buffer {
  const id = Buffer.alloc(4)
  id.writeUInt32BE(CHAPTERS)
  const seek = element(SEEK.entry, element(SEEK.id, id), element(SEEK.position, word(position)))
  return element(ID.seekHead, seek)
}

function word(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(value))
  return bytes
}

function listedAtEnd(position = seekHead(0).length + before.length + cluster.length): Buffer {
  const content = [seekHead(position), before, cluster, chapters]
  return Buffer.concat([ebmlHead(), element(ID.segment, ...content)])
}

describe('readChapters() of Matroska', () => {
  it('reads the default edition before the clusters', async () => {
    expect(await read(Buffer.concat([ebmlHead(), element(ID.segment, before, chapters)]))).toEqual(
      expected,
    )
    const open = [ebmlHead(), openElement(ID.segment), before, chapters, openElement(ID.cluster)]
    expect(await read(Buffer.concat(open))).toEqual(expected)
  })

  it('finds chapters after the clusters where a SeekHead lists them', async () => {
    expect(await read(listedAtEnd())).toEqual(expected)
  })

  it.each([0, 5, 1_000_000, 2 ** 52])('has none if the SeekHead lists %i', async (position) => {
    expect(await read(listedAtEnd(position))).toEqual([])
  })

  it('ends with chapters or a known error for corrupt bytes', async () => {
    const whole = listedAtEnd()
    const edits = fc.array(fc.tuple(fc.nat({ max: whole.length - 1 }), fc.nat({ max: 255 })), {
      minLength: 1,
      maxLength: 4,
    })
    await fc.assert(
      fc.asyncProperty(edits, fc.nat({ max: whole.length }), async (changes, length) => {
        const bytes = Buffer.from(whole)
        for (const [at, byte] of changes) bytes[at] = byte
        for (const part of [bytes, bytes.subarray(0, length)]) {
          const result = await read(part).catch((error: unknown) => {
            if (!isAppError(error, 'unplayable', 'failed')) throw error
            return []
          })
          expect(result.length).toBeLessThan(10)
        }
      }),
      { seed: 14, numRuns: 500 },
    )
  })
})
