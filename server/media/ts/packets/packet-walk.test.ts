import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bytesFile } from '../../../../test/support/bytes-file.ts'
import { PID_COUNT } from './packet.ts'
import type { PacketView } from './packet.ts'
import { ALL, SMALL_CHUNK_BYTES, STARTS, walkPackets } from './packet-walk.ts'

const PID = 0x33

/** Numbered packets, every third of which starts a unit. */
function numbered(count: number, first = 0): Uint8Array {
  const bytes = new Uint8Array(count * 188).fill(0xff)
  const view = new DataView(bytes.buffer)
  for (let i = 0; i < count; i++) {
    bytes.set([0x47, i % 3 === 0 ? 0x40 : 0, PID, 0x10], i * 188)
    view.setUint32(i * 188 + 4, first + i)
  }
  return bytes
}

interface Walked {
  numbers: number[]
  positions: number[]
  lost: number[][]
  end: number
}

async function walk(
  bytes: Uint8Array,
  options: { interest?: number; stopAt?: number } = {},
): Promise<Walked> {
  const walked: Walked = { numbers: [], positions: [], lost: [], end: 0 }
  const interest = new Uint8Array(PID_COUNT)
  interest[PID] = options.interest ?? ALL
  function visit(packet: PacketView): 'continue' | 'stop' {
    const { buffer, byteOffset } = packet.bytes
    walked.numbers.push(new DataView(buffer, byteOffset).getUint32(packet.at + 4))
    walked.positions.push(packet.position)
    return walked.numbers.length === options.stopAt ? 'stop' : 'continue'
  }
  const lost = (from: number, to: number) => walked.lost.push([from, to])
  const tsFile = { file: bytesFile(bytes), layout: { packetBytes: 188, start: 0 } as const }
  const range = { from: 0, to: Infinity, chunkBytes: SMALL_CHUNK_BYTES }
  walked.end = await walkPackets(tsFile, { interest, visit, lost }, range)
  return walked
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)

describe('walkPackets()', () => {
  it('visits every packet once, for any file size relative to the reads', async () => {
    const inChunk = SMALL_CHUNK_BYTES / 188
    for (const count of [
      0,
      1,
      3,
      inChunk - 1,
      inChunk,
      inChunk + 1,
      2 * inChunk,
      2 * inChunk + 7,
    ]) {
      const { numbers, positions, lost, end } = await walk(numbered(count))
      expect(numbers).toEqual(range(0, count))
      expect(positions).toEqual(range(0, count).map((i) => i * 188))
      expect([lost, end]).toEqual([[], count * 188])
    }
  })

  it('visits only unit starts if no more is wanted', async () => {
    const { numbers } = await walk(numbered(30), { interest: STARTS })
    expect(numbers).toEqual(range(0, 10).map((i) => i * 3))
  })

  it('stores the last counter of every PID of interest, for any interleaving', async () => {
    const packet = fc.record({
      pid: fc.constantFrom(PID, PID + 1, PID + 2),
      isStart: fc.nat(9).map((n) => n === 0),
      isCorrupt: fc.nat(9).map((n) => n === 0),
      // Runs longer than a read as well.
      count: fc.oneof(fc.nat(5), fc.nat(300)),
    })
    const interest = new Uint8Array(PID_COUNT)
    interest.set([STARTS, STARTS], PID)
    await fc.assert(
      fc.asyncProperty(fc.array(packet), async (runs) => {
        const expected: number[][] = []
        const last = new Map([PID, PID + 1].map((pid) => [pid, 0xff]))
        const packets = runs
          .flatMap(({ count, ...run }) => range(0, count).map(() => run))
          .map(({ pid, isStart, isCorrupt }, i) => {
            const counter = 0x10 | ((i * 7) & 0x0f)
            if (isStart && last.has(pid)) expected.push([i * 188, last.get(pid) ?? 0])
            if (last.has(pid)) last.set(pid, counter)
            const bytes = new Uint8Array(188).fill(0xff)
            bytes.set([0x47, (isStart ? 0x40 : 0) | (isCorrupt ? 0x80 : 0), pid, counter])
            return bytes
          })
        const counters = new Uint8Array(PID_COUNT).fill(0xff)
        const seen: number[][] = []
        const visit = ({ position, counterBefore }: PacketView): 'continue' => {
          seen.push([position, counterBefore])
          return 'continue'
        }
        const file = bytesFile(Buffer.concat(packets))
        const tsFile = { file, layout: { packetBytes: 188, start: 0 } as const }
        const whole = { from: 0, to: Infinity, chunkBytes: 36_096 }
        await walkPackets(tsFile, { interest, counters, visit }, whole)
        expect(seen).toEqual(expected)
        expect([...last.keys()].map((pid) => counters[pid])).toEqual([...last.values()])
      }),
    )
  })

  it('ends where the visitor stops', async () => {
    const { numbers, end } = await walk(numbered(5000), { stopAt: 4 })
    expect([numbers, end]).toEqual([[0, 1, 2, 3], 4 * 188])
  })

  it('finds sync again at any position relative to the reads', async () => {
    const inChunk = SMALL_CHUNK_BYTES / 188
    const noise = new Uint8Array(500).fill(0x11)
    for (const before of range(inChunk - 6, inChunk + 3)) {
      const bytes = Buffer.concat([numbered(before), noise.subarray(0, 333), numbered(900, before)])
      const { numbers, lost, end } = await walk(bytes)
      expect(numbers).toEqual(range(0, before + 900))
      expect([lost, end]).toEqual([[[before * 188, before * 188 + 333]], bytes.length])
    }
  })

  it('reports a truncated packet', async () => {
    const bytes = Buffer.concat([numbered(20).subarray(0, 19 * 188 + 70), numbered(20, 20)])
    const { numbers, lost } = await walk(bytes)
    expect(lost).toEqual([[19 * 188, 19 * 188 + 70]])
    expect(numbers.slice(0, 19)).toEqual(range(0, 19))
    expect(numbers.slice(-20)).toEqual(range(20, 40))
  })

  it('ends before an incomplete packet, and before noise', async () => {
    expect((await walk(numbered(9).subarray(0, 9 * 188 - 1))).end).toBe(8 * 188)
    expect((await walk(Buffer.concat([numbered(9), new Uint8Array(9999)]))).end).toBe(9 * 188)
  })

  it('rejects with the error of a read', async () => {
    const file = { ...bytesFile(numbered(9)), read: () => Promise.reject(new Error('disk')) }
    const tsFile = { file, layout: { packetBytes: 188, start: 0 } as const }
    const visitor = { interest: new Uint8Array(PID_COUNT), visit: () => 'continue' as const }
    const walking = walkPackets(tsFile, visitor, { from: 0, to: Infinity, chunkBytes: 36_096 })
    await expect(walking).rejects.toThrow('disk')
  })
})
