// Decoder configuration records rebuilt from the parameter sets of recorded ones.
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { avcConfig, hevcConfig } from './decoder-config.ts'

const FIXTURES = path.join(import.meta.dirname, '../../../test/fixtures/media')

/** Content of the first box of a type. */
async function boxContent(name: string, type: string): Promise<Buffer> {
  const bytes = await readFile(path.join(FIXTURES, name))
  const at = bytes.indexOf(type, 0, 'latin1')
  return bytes.subarray(at + 4, at - 4 + bytes.readUInt32BE(at - 4))
}

/** NAL units with 16-bit lengths, and where they end. */
function readNals(bytes: Buffer, at: number, count: number): { nals: Buffer[]; end: number } {
  const nals: Buffer[] = []
  for (let i = 0; i < count; i++) {
    const end = at + 2 + bytes.readUInt16BE(at)
    nals.push(bytes.subarray(at + 2, end))
    at = end
  }
  return { nals, end: at }
}

function hevcSets(hvcC: Buffer): Map<number, Buffer[]> {
  const sets = new Map<number, Buffer[]>()
  for (let at = 23, i = 0; i < (hvcC[22] ?? 0); i++) {
    const { nals, end } = readNals(hvcC, at + 3, hvcC.readUInt16BE(at + 1))
    sets.set((hvcC[at] ?? 0) & 0x3f, nals)
    at = end
  }
  return sets
}

describe('avcConfig()', () => {
  it.each([
    'mp4-h264-aac-moov-first.mp4',
    'mp4-h264-mp3.mp4',
    'mp4-h264-aac-editlist-video-starts-1s.mp4',
  ])('%s: is what its muxer wrote', async (name) => {
    const avcC = await boxContent(name, 'avcC')
    const sps = readNals(avcC, 6, (avcC[5] ?? 0) & 31)
    const pps = readNals(avcC, sps.end + 1, avcC[sps.end] ?? 0)
    const made = Buffer.from(avcConfig(sps.nals, pps.nals) ?? [])
    // Some muxers omit the extension of a high profile.
    expect(made.subarray(0, avcC.length).toString('hex')).toBe(avcC.toString('hex'))
    const isHigh = [100, 110, 122, 144].includes(avcC[1] ?? 0)
    expect(made.length - pps.end).toBe(isHigh ? 4 : 0)
  })

  it('returns undefined without parameter sets', () => {
    expect(avcConfig([], [])).toBeUndefined()
    expect(avcConfig([Uint8Array.of(0x67, 66, 0, 30, 1)], [])).toBeUndefined()
  })
})

describe('hevcConfig()', () => {
  it.each(['mp4-hevc-hev1-aac.mp4', 'mp4-hevc-hvc1-aac.mp4'])(
    '%s: has the profile, colours, layers and parameter sets of its muxer',
    async (name) => {
      const hvcC = await boxContent(name, 'hvcC')
      const sets = hevcSets(hvcC)
      const [vps, sps, pps] = [32, 33, 34].map((type) => sets.get(type) ?? [])
      const made = Buffer.from(hevcConfig({ vps: vps ?? [], sps: sps ?? [], pps: pps ?? [] }) ?? [])
      expect(made.subarray(0, 13).toString('hex')).toBe(hvcC.subarray(0, 13).toString('hex'))
      expect(made.subarray(16, 19).toString('hex')).toBe(hvcC.subarray(16, 19).toString('hex'))
      expect((made[21] ?? 0) & 7).toBe((hvcC[21] ?? 0) & 7)
      expect([...hevcSets(made)]).toEqual([vps, sps, pps].map((nals, i) => [32 + i, nals]))
    },
  )

  it('returns undefined without parameter sets', () => {
    expect(hevcConfig({ vps: [], sps: [], pps: [] })).toBeUndefined()
  })
})
