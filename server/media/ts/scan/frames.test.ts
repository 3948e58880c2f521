// The start of frames, from packets.
import { describe, expect, it } from 'vitest'
import {
  createTsMaker,
  h264Frame,
  joinPackets,
  VIDEO_PID,
} from '../../../../test/support/make/make-ts.ts'
import { packetViews } from '../../../../test/support/make/packet-views.ts'
import type { PacketView } from '../packets/packet.ts'
import { createFrames, endFrame, gatherFrame, openFrame } from './frames.ts'
import type { FrameState } from './scan-state.ts'

const STAMPS = { pts: 3600, dts: 1800 }

function framePackets(bytes: Uint8Array, counterBefore?: number): PacketView[] {
  return packetViews(joinPackets(createTsMaker().pes(VIDEO_PID, STAMPS, bytes)), counterBefore)
}

function open(state: FrameState, packets: readonly PacketView[]): void {
  const [first] = packets
  if (first === undefined) throw new Error('no packets')
  openFrame(state, first, 0x21)
}

/** What each packet returns. */
function gather(state: FrameState, packets: readonly PacketView[]) {
  return packets.map((packet) => gatherFrame(state, packet, 'h264'))
}

describe('frames', () => {
  it.each([
    ['key', 'key'],
    ['recovery', 'recovery'],
    ['plain', 'other'],
  ] as const)('a frame (%s) is known at its first slice', (made, kind) => {
    const state = createFrames()
    const packets = framePackets(h264Frame(made, 1000))
    open(state, packets)
    const [frame, ...rest] = gather(state, packets)
    expect(frame).toMatchObject({ kind, entry: { ...STAMPS, position: 0, counters: 0x21 } })
    expect(rest.every((each) => each === undefined)).toBe(true)
  })

  it('a key frame has its parameter sets', () => {
    const state = createFrames()
    const packets = framePackets(h264Frame('key', 500))
    open(state, packets)
    const [frame] = gather(state, packets)
    if (frame === undefined || frame === 'invalid') throw new Error('no frame')
    expect(frame.entry.sets.map((set) => (set[0] ?? 0) & 0x1f)).toEqual([7, 8])
    expect(frame.entry.sps?.length).toBeLessThan(frame.entry.parameterSets?.length ?? 0)
  })

  it('follows the one before only if no packet is missing', () => {
    const goesOn = (counterBefore: number) => {
      const state = createFrames()
      open(state, framePackets(h264Frame('plain', 300), counterBefore))
      return state.goesOn
    }
    expect([goesOn(0x1f), goesOn(0x1e), goesOn(0xff)]).toEqual([true, false, false])
  })

  it('ends without a slice as another frame, and without a PES header not at all', () => {
    const state = createFrames()
    const packets = framePackets(new Uint8Array(300).fill(0x55))
    open(state, packets)
    expect(gather(state, packets)).toEqual([undefined, undefined])
    expect(endFrame(state)).toMatchObject({ kind: 'other', hasTimes: true, entry: STAMPS })
    expect(endFrame(state)).toBeUndefined()
    open(state, packets)
    expect(endFrame(state)).toBeUndefined()
  })

  it('is invalid without a PES header', () => {
    const state = createFrames()
    const [packet] = framePackets(h264Frame('key', 300))
    if (packet === undefined) throw new Error('no packet')
    const corrupt = { ...packet, bytes: packet.bytes.with(4, 1) }
    open(state, [corrupt])
    expect(gather(state, [corrupt, packet])).toEqual(['invalid', undefined])
  })
})
