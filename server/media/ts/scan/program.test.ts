// What each table of a recording changes.
import { describe, expect, it } from 'vitest'
import {
  AAC_STREAM,
  createTsMaker,
  H264_STREAM,
  joinPackets,
  PMT_PID,
  VIDEO_PID,
} from '../../../../test/support/make/make-ts.ts'
import { packetViews } from '../../../../test/support/make/packet-views.ts'
import { parsePmt } from '../packets/program-table.ts'
import { createProgram, gatherTables, serveStreams, takePat, takePmt } from './program.ts'
import type { ProgramState } from './scan-state.ts'
import { chooseStreams } from './served-program.ts'

const OTHER_AUDIO = { ...AAC_STREAM, pid: 0x105 }

/** The only section in some packets. */
function sectionOf(state: ProgramState, packets: Uint8Array[]): Uint8Array {
  const [section, ...others] = packetViews(joinPackets(packets)).flatMap((view) =>
    gatherTables(state, view),
  )
  if (section === undefined || others.length > 0) throw new Error('not one section')
  return section
}

/** A program of H.264 and AAC, after its tables. */
function begin() {
  const maker = createTsMaker()
  const empty = { pat: new Uint8Array(0), pmt: new Uint8Array(0), pmtPid: PMT_PID }
  const none = { programNumber: 1, pcrPid: VIDEO_PID, streams: [] }
  const reader = createProgram({ ...empty, map: none }, {})
  const pat = sectionOf(reader, maker.pat())
  const pmt = sectionOf(reader, maker.pmt([H264_STREAM, AAC_STREAM]))
  const map = parsePmt(pmt)
  if (map === undefined) throw new Error('no PMT')
  const served = chooseStreams(map, new Map())
  const state = createProgram({ pat, pmt, pmtPid: PMT_PID, map }, served)
  return { maker, state, chosen: { served, audioTracks: new Map() } }
}

describe('the program of a scan', () => {
  it('keeps the continuity counters of the last PAT and PMT', () => {
    const { maker, state } = begin()
    sectionOf(state, maker.pat())
    expect(state.counters).toBe(0x1f)
    sectionOf(state, maker.pmt([H264_STREAM]))
    expect(state.counters).toBe(0x11)
  })

  it('changes nothing with tables that repeat', () => {
    const { maker, state, chosen } = begin()
    const before = structuredClone(state.program)
    expect(takePat(state, sectionOf(state, maker.pat()))).toBeUndefined()
    const pmt = sectionOf(state, maker.pmt([H264_STREAM, AAC_STREAM]))
    expect(takePmt(state, pmt, chosen)).toBeUndefined()
    expect(state.program).toEqual(before)
  })

  it('visits other packets after a PAT with another PID of the PMT', () => {
    const { maker, state } = begin()
    const pat = sectionOf(state, maker.pat([[1, 0x1001]]))
    expect(takePat(state, pat)).toEqual({ kind: 'packets' })
    expect(state.program).toMatchObject({ pmtPid: 0x1001, pat })
  })

  it('has other tables if a stream that is not served is added', () => {
    const { maker, state, chosen } = begin()
    const streams = [H264_STREAM, AAC_STREAM, { type: 6, pid: 0x110 }]
    const pmt = sectionOf(state, maker.pmt(streams))
    expect(takePmt(state, pmt, chosen)).toEqual({ kind: 'tables' })
    expect(state.program.pmt).toEqual(pmt)
  })

  it('serves other audio only when it is told to, and says that the video stays', () => {
    const { maker, state, chosen } = begin()
    const pmt = sectionOf(state, maker.pmt([H264_STREAM, OTHER_AUDIO]))
    const change = takePmt(state, pmt, chosen)
    if (change?.kind !== 'streams') throw new Error('no other streams')
    expect(state.served.audio?.pid).toBe(AAC_STREAM.pid)
    const replaced = serveStreams(state, change.streams)
    expect(replaced).toEqual({ hasNewVideo: false, hasNewAudio: true })
    expect(state.served.audio?.pid).toBe(OTHER_AUDIO.pid)
  })

  it('ignores a table without the video, which comes back', () => {
    const { maker, state, chosen } = begin()
    expect(takePmt(state, sectionOf(state, maker.pmt([AAC_STREAM])), chosen)).toBeUndefined()
  })
})
