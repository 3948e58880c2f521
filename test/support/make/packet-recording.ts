// An audio-only recording in a minimal container: consecutive packets, with a handmade index.
import type { SplitPointTable, MediaIndex } from '../../../server/media/media-index.ts'
import type { MediaReader, SegmentRange } from '../../../server/media/media-reader.ts'
import { makeSampleRun } from '../../../server/media/sample-run.ts'
import type { OpenFile } from '../../../server/storage/recordings/storage.ts'
import { bytesFile } from '../bytes-file.ts'
import type { CodedAudio } from './make-audio.ts'

export interface PacketRecording {
  file: OpenFile
  index: MediaIndex
  reader: MediaReader
}

export interface PacketRecordingOptions {
  /** Clock of the packets' times; they are rounded to it. */
  timescale: number
  output: { sampleRate: number; channels: number }
  /** Distance of the split points. */
  splitPointSeconds: number
  /** Offset of the audio from its split point in the file; negative: before it. */
  lagSeconds?: number
  /** Maps times: gaps, drift. */
  warp?: (seconds: number) => number
  /** Numbers of the split points that are discontinuities. */
  breaks?: readonly number[]
}

/** Packets belong to the split point whose bytes contain them, as in MPEG-TS, Matroska and FLV. */
export function packetRecording(
  { format, packets }: CodedAudio,
  options: PacketRecordingOptions,
): PacketRecording {
  const {
    timescale,
    output,
    splitPointSeconds,
    lagSeconds = 0,
    warp = (seconds) => seconds,
  } = options
  const times = packets.map(({ position }) => warp(position / format.sampleRate))
  const offsets = runningSums(packets.map(({ data }) => data.length))
  const endSeconds = times.at(-1) ?? 0
  const splitPoints: SplitPointTable = {
    timescale: 1000,
    startTicks: Float64Array.from(
      { length: Math.max(1, Math.ceil(endSeconds / splitPointSeconds)) },
      (_, splitPoint) => splitPoint * splitPointSeconds * 1000,
    ),
    endTicks: endSeconds * 1000,
    flags: new Uint8Array(Math.max(1, Math.ceil(endSeconds / splitPointSeconds))),
  }
  for (const splitPoint of options.breaks ?? []) splitPoints.flags[splitPoint] = 2
  const splitPointOf = times.map((time) =>
    Math.max(
      0,
      Math.min(splitPoints.flags.length - 1, Math.floor((time + lagSeconds) / splitPointSeconds)),
    ),
  )
  return {
    file: bytesFile(Buffer.concat(packets.map(({ data }) => data))),
    index: {
      tracks: [
        {
          kind: 'audio',
          codec: 'mp4a.40.2',
          codecName: format.codec,
          ...output,
          transcodedFrom: format,
        },
      ],
      splitPoints,
      // Used only by the reader below, which needs none.
      source: { kind: 'packets' } as unknown as MediaIndex['source'],
    },
    reader: {
      index: () => Promise.reject(new Error('the index is made by hand')),
      readSegment: async (_file, _index, { from, to }: SegmentRange) => {
        const samples = packets.flatMap(({ data }, number) => {
          const ticks = Math.round((times[number] ?? 0) * timescale)
          const splitPoint = splitPointOf[number] ?? 0
          if (splitPoint < from || splitPoint >= to) return []
          const place = { offset: offsets[number] ?? 0, sizeBytes: data.length }
          return [{ ...place, decodeTicks: ticks, presentationTicks: ticks, isKey: true }]
        })
        const run = makeSampleRun(samples, { kind: 'audio', timescale })
        return { kind: 'samples', runs: run === undefined ? [] : [run] }
      },
      initTracks: () => [],
      readKeyFrame: async () => undefined,
    },
  }
}

function runningSums(sizes: readonly number[]): number[] {
  let sum = 0
  return sizes.map((size) => (sum += size) - size)
}
