import { describe, expect, it } from 'vitest'
import { createTsMaker, joinPackets, PMT_PID } from '../../../../test/support/make/make-ts.ts'
import { packetViews } from '../../../../test/support/make/packet-views.ts'
import { parsePat, parsePmt, buildPat, buildPmt } from './program-table.ts'
import {
  countSectionPackets,
  crc32,
  createSectionGatherer,
  gatherSections,
  packetizeSection,
} from './table-section.ts'

function gather(packets: Uint8Array): Uint8Array[] {
  const gatherer = createSectionGatherer()
  return packetViews(packets).flatMap((packet) => gatherSections(gatherer, packet))
}

const longStreams = Array.from({ length: 40 }, (_, i) => ({
  type: 0x0f,
  pid: 0x200 + i,
  descriptors: [0x0a, 4, 0x65, 0x6e, 0x67, 0],
}))

describe('gatherSections()', () => {
  it('joins a section from several packets', () => {
    const packets = createTsMaker().pmt(longStreams)
    expect(packets.length).toBe(3)
    const [section, ...others] = gather(joinPackets(packets))
    expect(others).toEqual([])
    expect(section && parsePmt(section)?.streams.map(({ pid }) => pid)).toEqual(
      longStreams.map(({ pid }) => pid),
    )
  })

  it('reads a section that begins at the end of the previous one', () => {
    const [first, second] = [40, 30]
      .map((count) => gather(joinPackets(createTsMaker().pmt(longStreams.slice(0, count)))))
      .flat()
    if (first === undefined || second === undefined) throw new Error('no sections')
    const rest = (first.length - 183) % 184
    const bytes = new Uint8Array(188 * 8).fill(0xff)
    const starts = new Set<number>([0])
    let at = 5
    for (const byte of [...first, ...second]) {
      if (at % 188 === 0) at += 4
      // The packet in which the second section begins has a pointer to it.
      if (at % 188 === 4 && Math.floor(at / 188) === Math.ceil((first.length - 183) / 184)) {
        bytes[at++] = rest
        starts.add(Math.floor(at / 188))
      }
      bytes[at++] = byte
    }
    bytes[4] = 0
    for (let i = 0; i < 8; i++) bytes.set([0x47, starts.has(i) ? 0x50 : 0x10, 0, 0x10 | i], i * 188)
    expect(gather(bytes)).toEqual([first, second])
  })

  it('drops sections with a wrong CRC', () => {
    const packets = joinPackets(createTsMaker().pmt(longStreams))
    expect(gather(packets.with(300, 0x99))).toEqual([])
  })

  it('drops sections that are too long for a table', () => {
    const [packet = new Uint8Array(0)] = createTsMaker().pat()
    expect(gather(packet.with(6, 0xbf))).toEqual([])
  })
})

describe('packetizeSection()', () => {
  it('packs a section unchanged, with counters that end with the given one', () => {
    const packets = createTsMaker().pmt(longStreams)
    const [section = new Uint8Array(0)] = gather(joinPackets(packets))
    expect(countSectionPackets(section)).toBe(packets.length)
    expect(packetizeSection(section, PMT_PID, 2)).toEqual(joinPackets(packets))
    expect(packetizeSection(section, PMT_PID, 0)[3]).toBe(0x1e)
  })
})

describe('generated tables', () => {
  it('are parsed to their input', () => {
    const pat = buildPat(9, { programNumber: 5, pid: 0x1abc })
    const streams = [{ streamType: 0x1b, pid: 0x123, descriptors: new Uint8Array(0) }]
    const pmt = buildPmt({ programNumber: 5, pcrPid: 0x123, streams })
    expect([crc32(pat), crc32(pmt)]).toEqual([0, 0])
    expect(parsePat(pat)).toEqual([{ programNumber: 5, pid: 0x1abc }])
    expect(parsePmt(pmt)).toEqual({ programNumber: 5, pcrPid: 0x123, streams })
  })

  it('are ignored before they are in force', () => {
    const pat = buildPat(9, { programNumber: 5, pid: 0x1abc })
    expect(parsePat(pat.with(5, 0xc0))).toBeUndefined()
    expect(parsePmt(pat)).toBeUndefined()
  })
})

describe('crc32()', () => {
  it('returns the check value of CRC-32/MPEG-2', () => {
    expect(crc32(new TextEncoder().encode('123456789'))).toBe(0x0376e6e7)
  })
})
