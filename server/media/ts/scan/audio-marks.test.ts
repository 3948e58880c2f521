// The start of PES packets of audio: their times and their configuration.
import { describe, expect, it } from 'vitest'
import {
  AUDIO_PID,
  adtsFrames,
  createTsMaker,
  joinPackets,
} from '../../../../test/support/make/make-ts.ts'
import { packetViews } from '../../../../test/support/make/packet-views.ts'
import {
  changesConfig,
  createAudio,
  dropTrack,
  gatherAudio,
  openAudio,
  readTrack,
} from './audio-marks.ts'
import type { AudioState } from './scan-state.ts'
import type { AudioStream } from './served-program.ts'

const AAC: AudioStream = {
  pid: AUDIO_PID,
  codec: 'aac',
  streamType: 0x0f,
  descriptors: new Uint8Array(0),
  audio: 0,
}

/** Gathers a PES packet; returns what each packet returned. */
function gather(state: AudioState, payload: Uint8Array): (number | undefined)[] {
  const views = packetViews(joinPackets(createTsMaker().pes(AUDIO_PID, { pts: 900 }, payload)))
  return views.map((view, i) => {
    if (i === 0) openAudio(state, view)
    return gatherAudio(state, view)
  })
}

describe('audio marks', () => {
  it('a PES packet has one time, with its first packet', () => {
    expect(gather(createAudio(), adtsFrames(4))).toEqual([900, undefined, undefined])
  })

  it('knows the configuration from the first frame, and then needs no more packets', () => {
    const state = createAudio()
    gather(state, adtsFrames(4))
    expect(state).toMatchObject({ isOpen: true, track: undefined })
    readTrack(state, AAC)
    expect(state).toMatchObject({ isOpen: false, track: { codec: 'aac', timescale: 48_000 } })
  })

  it('notices another configuration, which is then read again', () => {
    const state = createAudio()
    gather(state, adtsFrames(4))
    readTrack(state, AAC)
    gather(state, adtsFrames(4))
    expect(changesConfig(state)).toBe(false)
    // sampling_frequency_index 4: 44,100 Hz (14496-3 1.6.3.4).
    const slower = adtsFrames(4).map((byte, i) => (i % 100 === 2 ? (byte & 0xc3) | (4 << 2) : byte))
    gather(state, slower)
    expect(changesConfig(state)).toBe(true)
    readTrack(state, AAC)
    expect(state.track?.timescale).toBe(44_100)
  })

  it('has no time without a stamp, or if it is scrambled', () => {
    const state = createAudio()
    const [packet] = createTsMaker().pes(AUDIO_PID, { pts: 900 }, adtsFrames(1))
    if (packet === undefined) throw new Error('no packet')
    const [scrambled] = packetViews(packet.with(3, (packet[3] ?? 0) | 0x80))
    if (scrambled === undefined) throw new Error('no view')
    openAudio(state, scrambled)
    expect(state.isOpen).toBe(false)
    const [unstamped] = packetViews(packet.map((byte, i) => (i === packet.length - 107 ? 0 : byte)))
    if (unstamped === undefined) throw new Error('no view')
    openAudio(state, unstamped)
    expect(gatherAudio(state, unstamped)).toBeUndefined()
    expect(state).toMatchObject({ isOpen: false, isMarked: false })
  })

  it('reads the configuration again when the stream changes', () => {
    const state = createAudio()
    gather(state, adtsFrames(4))
    readTrack(state, AAC)
    dropTrack(state)
    expect(state).toMatchObject({ isOpen: false, track: undefined })
  })
})
