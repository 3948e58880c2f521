// Reads the first frames of audio if the program tables do not identify it.
import type { AudioConfig } from '../packets/audio-frame.ts'
import { readAudioConfig } from '../packets/audio-config.ts'
import { ElementaryStream } from '../packets/elementary-stream.ts'
import { isUnitStart, packetPid, PID_COUNT } from '../packets/packet.ts'
import type { PacketView } from '../packets/packet.ts'
import { ALL, SMALL_CHUNK_BYTES, walkPackets } from '../packets/packet-walk.ts'
import type { TsFile } from '../packets/packet-walk.ts'
import type { StreamEntry } from '../packets/program-table.ts'
import type { KnownAudioTracks, Program } from './served-program.ts'
import { isUnnamed, listedAudio } from '../packets/stream-kind.ts'

/** How far into a file the first frame of a stream may be. */
const SEARCH_BYTES = 32 * 1024 * 1024
/** At most this much of one stream is read. */
const FRAME_BYTES = 64 * 1024
const MAX_STREAMS = 32

/**
 * Streams of a program whose frames decide what is served: all audio, except a single stream of
 * AAC.
 */
export function openAudioTracks({ map }: Program): StreamEntry[] {
  const streams = map.streams.filter(
    (stream) => isUnnamed(stream) || listedAudio(stream) !== undefined,
  )
  const isSure = streams.length === 1 && streams.every((stream) => listedAudio(stream) === 'aac')
  return isSure ? [] : streams
}

interface Sniffed {
  audioTracks: KnownAudioTracks
  /** Whether this stays when the file grows. */
  isSettled: boolean
}

/**
 * The configurations of the streams. Missing streams, and those that contradict the tables, are
 * omitted.
 */
export async function sniffAudioTracks(
  tsFile: TsFile,
  streams: readonly StreamEntry[],
  signal: AbortSignal,
): Promise<Sniffed> {
  const audioTracks = new Map<number, AudioConfig>()
  const open = new Map<number, { entry: StreamEntry; stream: ElementaryStream }>()
  const interest = new Uint8Array(PID_COUNT)
  for (const entry of streams.slice(0, MAX_STREAMS)) {
    open.set(entry.pid, {
      entry,
      stream: new ElementaryStream(entry.pid, { limitBytes: FRAME_BYTES }),
    })
    interest[entry.pid] = ALL
  }
  function lookup(entry: StreamEntry, stream: ElementaryStream): void {
    const found = readAudioConfig(entry, stream.bytes)
    if (found === undefined) return
    audioTracks.set(entry.pid, found)
    settle(entry.pid)
  }
  function settle(pid: number): void {
    open.delete(pid)
    interest[pid] = 0
  }
  function visit(packet: PacketView): 'continue' | 'stop' {
    const { entry, stream } = open.get(packetPid(packet.header)) ?? {}
    if (entry === undefined || stream === undefined) return 'continue'
    if (isUnitStart(packet.header)) lookup(entry, stream)
    if (!open.has(entry.pid)) return open.size === 0 ? 'stop' : 'continue'
    if (stream.take(packet) === 'full') settle(entry.pid)
    else if (!stream.isOpen) lookup(entry, stream)
    return open.size === 0 ? 'stop' : 'continue'
  }
  const { start } = tsFile.layout
  const range = { from: start, to: start + SEARCH_BYTES, chunkBytes: SMALL_CHUNK_BYTES, signal }
  if (open.size > 0) await walkPackets(tsFile, { interest, visit }, { ...range, end: 'open' })
  const isSettled = open.size === 0 || start + SEARCH_BYTES <= tsFile.file.stat.sizeBytes
  for (const { entry, stream } of open.values()) lookup(entry, stream)
  return { audioTracks, isSettled }
}
