// The PES packets of the served audio: gathers the start of each from packets, for its time and for
// the configuration in its first frame.
import { adtsFrameAt } from '../../codec/audio-frame.ts'
import { readAudioConfig } from '../packets/audio-config.ts'
import { isScrambled } from '../packets/packet.ts'
import type { PacketView } from '../packets/packet.ts'
import {
  createPesStart,
  gatherPesStart,
  MAX_PES_HEADER_BYTES,
  openPesStart,
} from '../packets/pes.ts'
import type { PesStart } from '../packets/pes.ts'
import type { AudioStream } from './served-program.ts'
import type { AudioState } from './scan-state.ts'

/** The header of a PES packet, and bytes of audio in which its first frame is expected. */
const SEARCH_BYTES = MAX_PES_HEADER_BYTES + 8 * 1024

export function createAudio(): AudioState {
  return {
    pes: createPesStart(SEARCH_BYTES),
    isOpen: false,
    isMarked: false,
    track: undefined,
  }
}

/** Begins a PES packet with the packet in which it starts, unless that is scrambled. */
export function openAudio(state: AudioState, packet: PacketView): void {
  openPesStart(state.pes, packet)
  state.isOpen = !isScrambled(packet.header)
  state.isMarked = false
}

/** Adds a packet. Returns the PTS (33 bits) if it is the one with which this is known. */
export function gatherAudio(state: AudioState, packet: PacketView): number | undefined {
  const { pes, isMarked } = state
  if (gatherPesStart(pes, packet) === 'short') return undefined
  state.isOpen = pes.header?.stamps !== undefined
  state.isMarked = state.isOpen
  return isMarked ? undefined : pes.header?.stamps?.pts
}

/** Reads the configuration from what was gathered after the PTS, unless it is known. */
export function readTrack(state: AudioState, stream: AudioStream): void {
  const { pes } = state
  state.track ??= readAudioConfig(stream, payloadOf(pes))
  state.isOpen = state.track === undefined && pes.length < pes.bytes.length
}

/** Whether AAC has another configuration from here on; it is then read again. */
export function changesConfig(state: AudioState): boolean {
  const { pes, track } = state
  if (track?.codec !== 'aac') return false
  const frame = adtsFrameAt(payloadOf(pes), 0)
  if (frame === undefined) return false
  if (frame.channels === track.channels && frame.sampleRate === track.timescale) return false
  state.track = undefined
  return true
}

/** Other audio is served from here on. */
export function dropTrack(state: AudioState): void {
  state.isOpen = false
  state.track = undefined
}

function payloadOf({ bytes, length, header }: PesStart): Uint8Array {
  return bytes.subarray(header?.headerBytes, length)
}
