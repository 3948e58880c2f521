// Sections and split points, from frames with their times.
import { describe, expect, it } from 'vitest'
import { isAppError } from '../../../base/errors.ts'
import { buildPat, buildPmt } from '../packets/program-table.ts'
import type { Entry, SectionState } from './scan-state.ts'
import {
  addFrame,
  addHole,
  addJump,
  checkTables,
  clockAudio,
  createSections,
  noteFlaw,
  waitAtGate,
} from './sections.ts'
import type { Streams } from './sections.ts'
import { extendCarry } from './split-points.ts'

const SECOND = 90_000
const VIDEO = { pid: 0x100, codec: 'h264', streamType: 0x1b } as const
const MAP = {
  programNumber: 1,
  pcrPid: 0x100,
  streams: [{ streamType: 0x1b, pid: 0x100, descriptors: new Uint8Array(0) }],
}
const STREAMS: Streams = {
  program: {
    program: {
      pat: buildPat(1, { programNumber: 1, pid: 0x1000 }),
      pmt: buildPmt(MAP),
      pmtPid: 0x1000,
      map: MAP,
    },
    served: { video: VIDEO },
  },
  audio: { track: undefined },
}

function entryAt(seconds: number, more: Partial<Entry> = {}): Entry {
  const dts = seconds * SECOND
  const none = { sps: undefined, parameterSets: undefined, sets: [] }
  const place = { position: 1000 * seconds, counters: 7, carryBytes: 0, carryIsOpen: false }
  return { ...none, ...place, flags: 1, pts: dts, dts, ...more }
}

/** Sections after key frames at these seconds. */
function begin(...seconds: number[]): SectionState {
  const state = createSections(0)
  for (const each of seconds) addFrame(state, { entry: entryAt(each), isKey: true }, STREAMS)
  return state
}

function jumpTo(seconds: number) {
  const found = { reason: 'jumped', kind: 'other', lead: undefined, audio: undefined } as const
  return { ...found, entry: entryAt(seconds), goesOn: false }
}

const startsOf = ({ sections }: SectionState) => sections.map((each) => each.firstSplitPoint)
const secondsOf = ({ points }: SectionState) => points.splitPoints.pts.map((pts) => pts / SECOND)

describe('sections', () => {
  it('the first begins at a key frame; frames before it belong to none', () => {
    const state = createSections(0)
    addFrame(state, { entry: entryAt(1), isKey: false }, STREAMS)
    expect(state).toMatchObject({ sections: [], gate: { sawFrame: true } })
    addFrame(state, { entry: entryAt(2), isKey: true }, STREAMS)
    expect([startsOf(state), secondsOf(state)]).toEqual([[0], [2]])
    expect(state).toMatchObject({ gate: undefined, holes: [], flaws: [] })
  })

  it('key frames are split points if they are far enough apart', () => {
    expect(secondsOf(begin(1, 1.5, 2, 3))).toEqual([1, 2, 3])
  })

  it('other frames are forced split points after 5 s without a key frame', () => {
    const state = begin(0)
    for (let seconds = 0.5; seconds < 8; seconds += 0.5) {
      addFrame(state, { entry: entryAt(seconds), isKey: false }, STREAMS)
    }
    expect(secondsOf(state)).toEqual([0, 5, 7])
  })

  it('another begins where the clock jumps, at the next frame that can be decoded', () => {
    const state = begin(0, 1)
    addJump(state, { jump: jumpTo(200), isKey: false }, STREAMS)
    expect([startsOf(state), state.gate?.from]).toEqual([[0], 200_000])
    addFrame(state, { entry: entryAt(201), isKey: true }, STREAMS)
    expect([startsOf(state), state.sections.at(-1)?.continues]).toEqual([[0, 2], false])
    expect(state.holes).toEqual([200_000, 201_000])
    expect(state.flaws.map(({ code }) => code)).toEqual(['gap', 'frames-undecodable'])
    addJump(state, { jump: { ...jumpTo(400), goesOn: true }, isKey: false }, STREAMS)
    expect(startsOf(state)).toEqual([0, 2, 3])
  })

  it('another begins at a key frame if other audio is served, on the same clock', () => {
    const state = begin(0)
    state.wantsSection = true
    addFrame(state, { entry: entryAt(0.5), isKey: true }, STREAMS)
    expect([startsOf(state), state.sections.at(-1)?.continues]).toEqual([[0, 1], true])
    expect(state.wantsSection).toBe(false)
  })

  it('begin with the audio that waited at the gate', () => {
    const state = createSections(0)
    if (state.gate === undefined) throw new Error('no gate')
    waitAtGate(state.gate, { position: 10, pts: 1.8 * SECOND })
    waitAtGate(state.gate, { position: 20, pts: 1.9 * SECOND })
    addFrame(state, { entry: entryAt(2), isKey: true }, STREAMS)
    expect(state.sections[0]).toMatchObject({
      earliestPts: 1.8 * SECOND,
      audio: { position: 20, pts: 1.9 * SECOND },
    })
    expect(state.points.splitPoints.offsets).toEqual([0])
  })

  it('their earliest time is final with the second split point', () => {
    const state = begin(1)
    const [section] = state.sections
    if (section === undefined) throw new Error('no section')
    clockAudio(section, { position: 1, pts: 0.9 * SECOND })
    addFrame(state, { entry: entryAt(2), isKey: true }, STREAMS)
    clockAudio(section, { position: 2, pts: 0.1 * SECOND })
    expect(section.earliestPts).toBe(0.9 * SECOND)
  })

  it('a leading frame moves the start of the last split point back', () => {
    const state = begin(0)
    const shown = { pts: 2.2 * SECOND }
    addFrame(state, { entry: entryAt(2, shown), isKey: true }, STREAMS)
    addFrame(state, { entry: entryAt(2.04, { pts: 2.1 * SECOND }), isKey: false }, STREAMS)
    expect(secondsOf(state)).toEqual([0, 2.1])
  })

  it('need own tables from the last split point on if players cannot use the recorded', () => {
    const state = begin(0, 1, 2)
    checkTables(state, STREAMS.program)
    expect(state.sections[0]?.ownFromSplitPoint).toBeUndefined()
    checkTables(state, { ...STREAMS.program, served: { video: { ...VIDEO, pid: 0x999 } } })
    expect(state.sections[0]?.ownFromSplitPoint).toBe(2)
  })
})

describe('ranges of no section', () => {
  it('are joined if they touch or overlap', () => {
    const state = createSections(0)
    for (const [from, to] of [
      [0, 5],
      [10, 20],
      [20, 30],
      [15, 40],
    ] as const) {
      addHole(state, from, to)
    }
    expect(state.holes).toEqual([0, 5, 10, 40])
  })

  it('are bounded, and so are the limitations', () => {
    const state = createSections(0)
    for (let i = 0; i < 20_000; i += 1) addHole(state, 10 * i, 10 * i + 5)
    const failure = (() => {
      try {
        addHole(state, 1e9, 1e9 + 1)
      } catch (error) {
        return error
      }
      return undefined
    })()
    expect(isAppError(failure, 'unplayable')).toBe(true)
    for (let i = 0; i < 200; i += 1) noteFlaw(state, { code: 'gap', offsetBytes: i })
    expect(state.flaws.length).toBe(95)
  })
})

it('audio that continues after a split point belongs to the segment before, up to 4 MiB', () => {
  const state = createSections(0)
  const descriptors = new Uint8Array(0)
  const audio = { pid: 0x101, codec: 'aac', streamType: 0x0f, descriptors, audio: 0 } as const
  const program = { ...STREAMS.program, served: { video: VIDEO, audio } }
  const streams = { ...STREAMS, program }
  addFrame(state, { entry: entryAt(0, { carryIsOpen: true }), isKey: true }, streams)
  extendCarry(state.points, 376)
  expect(state.points.splitPoints.carryBytes).toEqual([376])
  extendCarry(state.points, 5 * 1024 * 1024)
  expect(state.points).toMatchObject({
    splitCarryIsOpen: false,
    splitPoints: { carryBytes: [376] },
  })
})
