// Writes encoded video as a recording in any container, with the parameter sets that a test chose.
import { avcConfig, hevcConfig } from '../../../server/media/codec/decoder-config.ts'
import {
  annexB,
  ENCODED_HEIGHT,
  ENCODED_WIDTH,
  isParameterSet,
  lengthPrefixed,
} from './encode-video.ts'
import type { EncodedFrame } from './encode-video.ts'
import { flvFile, frameTag, videoConfigTag } from './make-flv.ts'
import { fragment, initSegment } from './make-fmp4.ts'
import { clusters, mkvFile } from './make-mkv.ts'
import type { BlockPlan } from './make-mkv.ts'
import { box, ftyp, moov, u32 } from './make-mp4.ts'
import type { TrackPlan } from './make-mp4.ts'
import { createTsMaker, H264_STREAM, joinPackets, VIDEO_PID } from './make-ts.ts'

export type WrittenContainer = 'fmp4' | 'mp4' | 'ts' | 'mkv' | 'flv'

export interface WrittenVideo {
  codec: 'h264' | 'hevc'
  frames: readonly EncodedFrame[]
  /** Sample entry of MP4; `avc1` and `hvc1` by default. */
  entry?: 'avc1' | 'avc3' | 'hvc1' | 'hev1'
  /** Parameter sets of the configuration: those of the first frame, or none. */
  recorded?: 'first' | 'none'
  /** Width and height of a pixel, in a `pasp` box of MP4. */
  pixelAspect?: [number, number]
  /** Size on the screen, as the container states it; that of the frames by default. */
  displaySize?: { width: number; height: number }
  /** Frames in a fragment; 25 by default. */
  fragmentFrames?: number
  /** Time of the n-th frame that is shown, in milliseconds; 40 ms apart by default. */
  timeMs?: (number: number) => number
}

const FRAME_MS = 40

/** The whole file. */
export function writeVideo(container: WrittenContainer, video: WrittenVideo): Buffer {
  switch (container) {
    case 'fmp4':
      return writeFragments(video)
    case 'mp4':
      return writeTables(video)
    case 'ts':
      return writePackets(video)
    case 'mkv':
      return writeBlocks(video)
    case 'flv':
      return writeTags(video)
  }
}

interface TimedFrame {
  frame: EncodedFrame
  dtsMs: number
  ptsMs: number
}

/** Times without negative ones. */
function timed({ frames, timeMs = (number) => number * FRAME_MS }: WrittenVideo): TimedFrame[] {
  const delay = -Math.min(0, ...frames.map(({ dts }) => dts))
  return frames.map((frame) => ({
    frame,
    dtsMs: timeMs(frame.dts + delay),
    ptsMs: timeMs(frame.pts + delay),
  }))
}

/** Content of avcC or hvcC. */
function configOf({ codec, frames, recorded = 'first' }: WrittenVideo): Uint8Array {
  const first = frames.find(({ nals }) => nals.some((nal) => isParameterSet(codec, nal)))
  const nals = first?.nals ?? []
  const ofType = (type: number) =>
    nals.filter(
      (nal) =>
        (((nal[0] ?? 0) >>> (codec === 'h264' ? 0 : 1)) & (codec === 'h264' ? 0x1f : 0x3f)) ===
        type,
    )
  const config =
    codec === 'h264'
      ? avcConfig(ofType(7), ofType(8))
      : hevcConfig({ vps: ofType(32), sps: ofType(33), pps: ofType(34) })
  if (config === undefined) throw new Error('no frame has parameter sets')
  if (recorded === 'first') return config
  return codec === 'h264'
    ? Buffer.concat([config.subarray(0, 5), Uint8Array.of(0xe0, 0)])
    : Buffer.concat([config.subarray(0, 22), Uint8Array.of(0)])
}

function sampleEntry(video: WrittenVideo): Buffer {
  const { codec, entry = codec === 'h264' ? 'avc1' : 'hvc1' } = video
  const fields = Buffer.alloc(78)
  fields.writeUInt16BE(1, 6)
  fields.writeUInt16BE(ENCODED_WIDTH, 24)
  fields.writeUInt16BE(ENCODED_HEIGHT, 26)
  const { pixelAspect } = video
  const aspect = pixelAspect === undefined ? [] : [box('pasp', u32(...pixelAspect))]
  return box(entry, fields, box(codec === 'h264' ? 'avcC' : 'hvcC', configOf(video)), ...aspect)
}

const ENCODED_SIZE = { width: ENCODED_WIDTH, height: ENCODED_HEIGHT }
const TRACK = { kind: 'video', timescale: 1000 } as const

function writeFragments(video: WrittenVideo): Buffer {
  const { fragmentFrames = 25 } = video
  const frames = timed(video)
  const chunks: Uint8Array[] = [
    initSegment([
      {
        ...TRACK,
        ...(video.displaySize ?? ENCODED_SIZE),
        id: 1,
        sampleEntries: [sampleEntry(video)],
      },
    ]),
  ]
  for (let from = 0; from < frames.length; from += fragmentFrames) {
    const part = frames.slice(from, from + fragmentFrames)
    const samples = part.map(({ frame, ptsMs, dtsMs }, i) => ({
      data: lengthPrefixed(frame),
      duration: (frames[from + i + 1]?.dtsMs ?? dtsMs + FRAME_MS) - dtsMs,
      offset: ptsMs - dtsMs,
      isKey: frame.isKey,
    }))
    chunks.push(fragment([{ trackId: 1, samples, decodeTicks: part[0]?.dtsMs ?? 0 }]))
  }
  return Buffer.concat(chunks)
}

function writeTables(video: WrittenVideo): Buffer {
  const frames = timed(video)
  const samples = frames.map(({ frame }) => lengthPrefixed(frame))
  const head = ftyp()
  const plan: TrackPlan = {
    ...TRACK,
    ...(video.displaySize ?? ENCODED_SIZE),
    sampleEntries: [sampleEntry(video)],
    durations: frames.map(({ dtsMs }, i): [number, number] => [
      1,
      (frames[i + 1]?.dtsMs ?? dtsMs + FRAME_MS) - dtsMs,
    ]),
    compositionOffsets: frames.map(({ ptsMs, dtsMs }): [number, number] => [1, ptsMs - dtsMs]),
    syncs: frames.flatMap(({ frame }, i) => (frame.isKey ? [i + 1] : [])),
    sizes: samples.map(({ length }) => length),
    chunkRuns: [[1, frames.length, 1]],
    chunkOffsets: [head.length + 8],
  }
  const data = Buffer.concat(samples)
  return Buffer.concat([head, u32(data.length + 8), Buffer.from('mdat'), data, moov([plan])])
}

const HEVC_STREAM = { type: 0x24, pid: VIDEO_PID }

function writePackets(video: WrittenVideo): Buffer {
  const maker = createTsMaker()
  const stream = video.codec === 'h264' ? H264_STREAM : HEVC_STREAM
  const delimiter = video.codec === 'h264' ? [0, 0, 0, 1, 9, 0xf0] : [0, 0, 0, 1, 0x46, 1, 0x50]
  const packets = timed(video).flatMap(({ frame, ptsMs, dtsMs }) => [
    ...(frame.isKey ? [...maker.pat(), ...maker.pmt([stream])] : []),
    ...maker.pes(
      VIDEO_PID,
      { pts: (ptsMs + 1000) * 90, dts: (dtsMs + 1000) * 90 },
      Buffer.concat([Uint8Array.from(delimiter), annexB(frame)]),
    ),
  ])
  return Buffer.from(joinPackets(packets))
}

function writeBlocks(video: WrittenVideo): Buffer {
  const blocks = timed(video).map(({ frame, ptsMs }): BlockPlan => ({
    track: 1,
    time: ptsMs,
    frames: [lengthPrefixed(frame)],
    isKey: frame.isKey,
  }))
  const codec = video.codec === 'h264' ? 'V_MPEG4/ISO/AVC' : 'V_MPEGH/ISO/HEVC'
  const track = {
    number: 1,
    type: 'video',
    codec,
    codecPrivate: configOf(video),
    ...ENCODED_SIZE,
    ...(video.displaySize && { displaySize: video.displaySize }),
  } as const
  return mkvFile([track], clusters(blocks))
}

function writeTags(video: WrittenVideo): Buffer {
  const form = { codec: video.codec === 'h264' ? 7 : 12 } as const
  const tags = timed(video).map(({ frame, ptsMs, dtsMs }) =>
    frameTag(form, {
      timeMs: dtsMs,
      compositionMs: ptsMs - dtsMs,
      isKey: frame.isKey,
      data: lengthPrefixed(frame),
    }),
  )
  return flvFile([videoConfigTag(form, 0, configOf(video)), ...tags])
}
