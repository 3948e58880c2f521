// Reads a media file packet by packet with FFmpeg (node-av): the reference for our own readers.
import { createHash } from 'node:crypto'
import { AV_NOPTS_VALUE, AVMEDIA_TYPE_AUDIO, AVMEDIA_TYPE_VIDEO } from 'node-av/constants'
import type { Packet, Stream } from 'node-av/lib'
import { eachPacket, withDemuxer } from '../ffmpeg.ts'
import type { DemuxerOptions } from '../ffmpeg.ts'

/** One packet as returned by FFmpeg's demuxer. Times are seconds of the file's clock. */
export interface ReferencePacket {
  streamIndex: number
  kind: 'video' | 'audio' | 'other'
  /** Presentation time; NaN if the container has none. */
  ptsSeconds: number
  /** Decode time; NaN if the container has none. */
  dtsSeconds: number
  durationSeconds: number
  isKey: boolean
  sizeBytes: number
  /** Hash of the payload, in hex. */
  sha1: string
}

/**
 * Every packet of every stream, in file order. Packets of MP4 have simple edit lists applied as one
 * shift per track, with none left out (`advanced_editlist` off), unless `options` set it.
 * `hashPayload` replaces the hash where not all bytes of a packet count.
 */
export async function readReferencePackets(
  path: string,
  options: DemuxerOptions = {},
  hashPayload: (data: Uint8Array) => string = sha1,
): Promise<ReferencePacket[]> {
  const packets: ReferencePacket[] = []
  const read = (packet: Packet, stream: Stream): void => {
    packets.push(toReferencePacket(packet, stream, hashPayload))
  }
  const all = { ...defaultsFor(path), ...options }
  await withDemuxer(path, (demuxer) => eachPacket(demuxer, read), all)
  return packets
}

/** The packets of one stream. */
export function packetsOf(packets: ReferencePacket[], streamIndex: number): ReferencePacket[] {
  return packets.filter((packet) => packet.streamIndex === streamIndex)
}

function defaultsFor(path: string): DemuxerOptions {
  return /\.(mp4|m4v|mov)$/i.test(path) ? { advanced_editlist: 0 } : {}
}

function toReferencePacket(
  packet: Packet,
  stream: Stream,
  hashPayload: (data: Uint8Array) => string,
): ReferencePacket {
  const { num, den } = stream.timeBase
  const seconds = (ticks: bigint) => (ticks === AV_NOPTS_VALUE ? NaN : (Number(ticks) * num) / den)
  const data = packet.data ?? new Uint8Array()
  return {
    streamIndex: packet.streamIndex,
    kind: kindOf(stream),
    ptsSeconds: seconds(packet.pts),
    dtsSeconds: seconds(packet.dts),
    durationSeconds: seconds(packet.duration),
    isKey: packet.isKeyframe,
    sizeBytes: data.length,
    sha1: hashPayload(data),
  }
}

function sha1(data: Uint8Array): string {
  return createHash('sha1').update(data).digest('hex')
}

function kindOf(stream: Stream): ReferencePacket['kind'] {
  if (stream.codecpar.codecType === AVMEDIA_TYPE_VIDEO) return 'video'
  return stream.codecpar.codecType === AVMEDIA_TYPE_AUDIO ? 'audio' : 'other'
}
