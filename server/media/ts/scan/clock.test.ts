// Whether times follow, have jumped, or are wrong.
import { describe, expect, it } from 'vitest'
import {
  acceptFrame,
  createClock,
  dropWrong,
  holdAudio,
  holdFrame,
  judgeLate,
  unwrap,
  unwrapFrame,
  whyWait,
} from './clock.ts'
import type { ClockState, Entry, Jump } from './scan-state.ts'

const SECOND = 90_000
const WRAP = 2 ** 33
/** A section whose video is at 100 s. */
const SECTION = { lastDts: 100 * SECOND, audio: undefined }

function entryAt(dts: number): Entry {
  const none = { sps: undefined, parameterSets: undefined, sets: [] }
  const place = { position: 1000, counters: 0, carryBytes: 0, carryIsOpen: false, flags: 1 }
  return { ...none, ...place, pts: dts, dts }
}

function waiting(reason: Jump['reason'], dts: number): ClockState {
  const clock = { ...createClock(), reference: SECTION.lastDts }
  holdFrame(clock, { reason, entry: entryAt(dts), kind: 'key', goesOn: true }, 0)
  return clock
}

describe('times', () => {
  it('wrap at 33 bits', () => {
    const clock = { ...createClock(), reference: WRAP - 5 }
    expect([unwrap(clock, 5), unwrap(createClock(), 5)]).toEqual([WRAP + 5, 5])
  })

  it('a presentation time far from the decode time is corrupt', () => {
    const times = [7 + SECOND, 100 * SECOND].map((pts) => {
      const frame = { dts: 7, pts }
      unwrapFrame(createClock(), frame)
      return frame.pts
    })
    expect(times).toEqual([7 + SECOND, 7])
  })
})

describe('a frame', () => {
  it.each([
    ['does not wait if it follows', 100.04, undefined],
    ['waits if it is far ahead', 200, 'jumped'],
    ['waits if it is far back', 50, 'jumped'],
    ['waits if it is late', 105, 'late'],
  ] as const)('%s', (_, seconds, reason) => {
    expect(whyWait(seconds * SECOND, SECTION)).toBe(reason)
  })

  it('does not wait where the audio shows that time has passed, or in the first section', () => {
    const audio = { position: 0, pts: 104.9 * SECOND }
    expect(whyWait(105 * SECOND, { ...SECTION, audio })).toBeUndefined()
    expect(whyWait(200 * SECOND, undefined)).toBeUndefined()
  })

  it('waits with the audio before it that has jumped too', () => {
    const clock = createClock()
    const lead = { position: 900, pts: 199 * SECOND }
    const frame = {
      reason: 'jumped',
      entry: entryAt(200 * SECOND),
      kind: 'key',
      goesOn: true,
    } as const
    clock.stray = lead
    holdFrame(clock, frame, 0)
    expect(clock).toMatchObject({ stray: undefined, jump: { lead, audio: lead } })
    clock.stray = lead
    holdFrame(clock, frame, 950)
    expect(clock.jump?.lead).toBeUndefined()
  })

  it('is wrong if the next one is on the old clock, and has jumped if it is on the new one', () => {
    const clock = waiting('jumped', 200 * SECOND)
    dropWrong(clock, 200.04 * SECOND, SECTION)
    expect(clock.jump).toBeDefined()
    dropWrong(clock, 100.08 * SECOND, SECTION)
    expect(clock.jump).toBeUndefined()
  })
})

describe('audio', () => {
  it('waits with a frame if it has jumped with it', () => {
    const clock = waiting('jumped', 200 * SECOND)
    expect(holdAudio(clock, 1, 100 * SECOND)).toBe(false)
    expect(holdAudio(clock, 2, 201 * SECOND)).toBe(true)
    expect(holdAudio(clock, 3, 200 * SECOND)).toBe(true)
    expect(clock.jump?.audio).toEqual({
      position: 3,
      pts: 200 * SECOND,
      earliestPts: 200 * SECOND,
    })
    expect(holdAudio(waiting('late', 105 * SECOND), 2, 105 * SECOND)).toBe(false)
  })

  it('shows whether the time of a late frame is right', () => {
    const clock = waiting('late', 105 * SECOND)
    expect(judgeLate(clock, 101 * SECOND)).toBeUndefined()
    expect(judgeLate(clock, 103.5 * SECOND)).toBe('wrong')
    expect(judgeLate(clock, 104.9 * SECOND)).toBe('right')
    expect(judgeLate(waiting('jumped', 200 * SECOND), 101 * SECOND)).toBeUndefined()
  })
})

describe('acceptFrame()', () => {
  it('takes recovery points until a key frame comes, and after 5 s without one', () => {
    const clock = createClock()
    const accept = (kind: Jump['kind'], seconds: number) =>
      acceptFrame(clock, kind, seconds * SECOND)
    expect([accept('recovery', 0), accept('other', 1)]).toEqual([true, false])
    expect([accept('key', 2), accept('recovery', 4)]).toEqual([true, false])
    expect([accept('other', 7.1), accept('recovery', 7.2)]).toEqual([false, true])
    expect(clock.reference).toBe(7.2 * SECOND)
  })
})
