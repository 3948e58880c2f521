// Makes small MPEG-TS files packet by packet, in any layout that a muxer may write.

export const VIDEO_PID = 0x100
export const AUDIO_PID = 0x101
export const PMT_PID = 0x1000
export const NULL_PACKET = packet({ pid: 0x1fff, isStart: false, counter: 0 }, new Uint8Array(184))

/** SPS and PPS of 128x72 H.264 High video, as x264 writes them. */
const SPS = hex('67 64 00 0b ac 76 11 08 2f e5 c0 44 00 00 03 00 04 00 00 03 00 08 3c 50 a6 11 80')
const PPS = hex('68 e8 43 81 04 b2 2c')
/** The same with another level, as after a change of encoder settings. */
const OTHER_SPS = SPS.with(3, 0x0c)

export interface StreamListing {
  type: number
  pid: number
  descriptors?: number[]
}

export const H264_STREAM: StreamListing = { type: 0x1b, pid: VIDEO_PID }
export const AAC_STREAM: StreamListing = { type: 0x0f, pid: AUDIO_PID }

/** Writes packets with continuity counters per PID. */
export interface TsMaker {
  /** One PAT packet; `programs` are number and PMT PID. */
  pat(programs?: [number, number][]): Uint8Array[]
  /** As many packets as the table needs. */
  pmt(
    streams: StreamListing[],
    options?: { pid?: number; program?: number; version?: number },
  ): Uint8Array[]
  /** A PES packet with these timestamps, split into packets. */
  pes(pid: number, stamps: { pts: number; dts?: number }, payload: Uint8Array): Uint8Array[]
}

export function createTsMaker(): TsMaker {
  const counters = new Map<number, number>()
  function nextCounter(pid: number): number {
    const counter = ((counters.get(pid) ?? -1) + 1) & 0x0f
    counters.set(pid, counter)
    return counter
  }
  function splitPoint(pid: number, bytes: Uint8Array): Uint8Array[] {
    const packets: Uint8Array[] = []
    for (let at = 0; at < bytes.length; at += 184) {
      const header = { pid, isStart: at === 0, counter: nextCounter(pid) }
      packets.push(packet(header, bytes.subarray(at, at + 184)))
    }
    return packets
  }
  function table(pid: number, section: number[]): Uint8Array[] {
    const bytes = new Uint8Array(Math.ceil((section.length + 1) / 184) * 184).fill(0xff)
    bytes.set([0, ...section])
    return splitPoint(pid, bytes)
  }
  return {
    pat: (programs = [[1, PMT_PID]]) =>
      table(0, section(0, 1, { version: 0, body: programs.flatMap((p) => p.flatMap(twoBytes)) })),
    pmt: (streams, { pid = PMT_PID, program = 1, version = 0 } = {}) =>
      table(pid, section(2, program, { version, body: pmtBody(streams) })),
    pes: (pid, stamps, payload) => splitPoint(pid, pesPacket(pid, stamps, payload)),
  }
}

/** A frame in Annex B; key frames include SPS and PPS. */
export function h264Frame(
  kind: 'key' | 'other key' | 'bare key' | 'recovery' | 'plain',
  sizeBytes: number,
): Uint8Array {
  const start = [0, 0, 0, 1]
  const sps = kind === 'other key' ? OTHER_SPS : SPS
  const sets = kind === 'plain' || kind === 'bare key' ? [] : [...start, ...sps, ...start, ...PPS]
  // payload type 6, one byte: recovery_frame_cnt 0
  const sei = kind === 'recovery' ? [...start, 0x06, 6, 1, 0xc4, 0x80] : []
  // first_mb_in_slice 0, slice_type: 7 (I) or 5 (P)
  const isPredicted = kind === 'plain'
  const nal = isPredicted || kind === 'recovery' ? 0x41 : 0x65
  const slice = [0, 0, 1, nal, isPredicted ? 0x98 : 0x88]
  const head = [...start, 0x09, 0xf0, ...sets, ...sei, ...slice]
  const frame = new Uint8Array(Math.max(sizeBytes, head.length)).fill(0x55)
  frame.set(head)
  return frame
}

/** AAC-LC frames in ADTS: 48 kHz, stereo, 1024 samples each. */
export function adtsFrames(count: number, frameBytes = 100): Uint8Array {
  const frames = new Uint8Array(count * frameBytes).fill(0x21)
  for (let i = 0; i < count; i++) {
    const length = [
      0x80 | (frameBytes >> 11),
      (frameBytes >> 3) & 0xff,
      ((frameBytes & 7) << 5) | 0x1f,
    ]
    frames.set([0xff, 0xf1, 0x4c, ...length, 0xfc], i * frameBytes)
  }
  return frames
}

/** MPEG-1 audio frames of 128 kbit/s at 48 kHz, stereo: layer 3 (MP3) or 2. */
export function mpegFrames(count: number, layer: 2 | 3): Uint8Array {
  const frames = new Uint8Array(count * 384).fill(0x21)
  const bitrate = layer === 3 ? 0x94 : 0x84
  for (let i = 0; i < count; i++) frames.set([0xff, layer === 3 ? 0xfb : 0xfd, bitrate, 0], i * 384)
  return frames
}

/** Joins packets; with a packet size of 192, each gets a prefix. */
export function joinPackets(packets: Uint8Array[], packetBytes: 188 | 192 = 188): Uint8Array {
  const prefix = packetBytes - 188
  const joined = new Uint8Array(packets.reduce((sum, { length }) => sum + length + prefix, 0))
  let at = 0
  for (const bytes of packets) {
    // A time code that equals sync bytes is the hardest prefix.
    joined.fill(0x47, at, at + prefix)
    joined.set(bytes, at + prefix)
    at += prefix + bytes.length
  }
  return joined
}

/** Sets transport_scrambling_control. */
export function scramble(bytes: Uint8Array): Uint8Array {
  return bytes.with(3, (bytes[3] ?? 0) | 0x80)
}

function packet(
  { pid, isStart, counter }: { pid: number; isStart: boolean; counter: number },
  payload: Uint8Array,
): Uint8Array {
  const bytes = new Uint8Array(188).fill(0xff)
  const stuffing = 184 - payload.length
  bytes.set([
    0x47,
    (isStart ? 0x40 : 0) | (pid >> 8),
    pid & 0xff,
    (stuffing ? 0x30 : 0x10) | counter,
  ])
  if (stuffing > 0) bytes[4] = stuffing - 1
  if (stuffing > 1) bytes[5] = 0
  bytes.set(payload, 188 - payload.length)
  return bytes
}

function pesPacket(
  pid: number,
  { pts, dts }: { pts: number; dts?: number },
  payload: Uint8Array,
): Uint8Array {
  const isVideo = pid === VIDEO_PID
  const stamps = dts === undefined ? stamp(2, pts) : [...stamp(3, pts), ...stamp(1, dts)]
  const rest = 3 + stamps.length + payload.length
  const length = isVideo ? 0 : rest
  const flags = dts === undefined ? 0x80 : 0xc0
  const head = [
    0,
    0,
    1,
    isVideo ? 0xe0 : 0xc0,
    ...twoBytes(length),
    0x80,
    flags,
    stamps.length,
    ...stamps,
  ]
  const bytes = new Uint8Array(head.length + payload.length)
  bytes.set(head)
  bytes.set(payload, head.length)
  return bytes
}

function stamp(prefix: number, ticks: number): number[] {
  const wrapped = ((ticks % 2 ** 33) + 2 ** 33) % 2 ** 33
  const high = Math.floor(wrapped / 2 ** 30)
  const middle = Math.floor(wrapped / 2 ** 15) & 0x7fff
  const low = wrapped & 0x7fff
  return [
    (prefix << 4) | (high << 1) | 1,
    ...twoBytes((middle << 1) | 1),
    ...twoBytes((low << 1) | 1),
  ]
}

function pmtBody(streams: StreamListing[]): number[] {
  const listed = streams.flatMap(({ type, pid, descriptors = [] }) => [
    type,
    ...twoBytes(0xe000 | pid),
    ...twoBytes(0xf000 | descriptors.length),
    ...descriptors,
  ])
  return [...twoBytes(0xe000 | VIDEO_PID), ...twoBytes(0xf000), ...listed]
}

function section(
  table: number,
  id: number,
  { version, body }: { version: number; body: number[] },
): number[] {
  const length = 5 + body.length + 4
  const head = [table, ...twoBytes(0xb000 | length), ...twoBytes(id), 0xc1 | (version << 1), 0, 0]
  const bytes = [...head, ...body]
  let crc = 0xffffffff
  for (const bit of bytes.flatMap((byte) => [7, 6, 5, 4, 3, 2, 1, 0].map((i) => (byte >> i) & 1))) {
    crc = (crc << 1) ^ ((crc >>> 31) ^ bit ? 0x04c11db7 : 0)
  }
  return [...bytes, ...twoBytes((crc >>> 16) & 0xffff), ...twoBytes(crc & 0xffff)]
}

function twoBytes(value: number): number[] {
  return [(value >> 8) & 0xff, value & 0xff]
}

function hex(text: string): Uint8Array {
  return Uint8Array.from(text.split(' '), (byte) => Number.parseInt(byte, 16))
}
