// A recording of sound alone in the plainest container: packets one behind the other, with an index made by hand.
import type { CutTable, MediaIndex } from '../../server/media/media-index.ts'
import type { MediaReader, SegmentRange } from '../../server/media/media-reader.ts'
import { makeSampleRun } from '../../server/media/sample-run.ts'
import type { OpenFile } from '../../server/storage/storage.ts'
import { bytesFile } from './bytes-file.ts'
import type { CodedSound } from './make-sound.ts'

export interface PacketRecording {
  file: OpenFile
  index: MediaIndex
  reader: MediaReader
}

export interface PacketRecordingOptions {
  /** Clock of the packets' times; they are rounded to it. */
  timescale: number
  output: { sampleRate: number; channels: number }
  /** Distance of the cuts. */
  cutSeconds: number
  /** Sound lies so far behind its cut in the file; negative: before it. */
  lagSeconds?: number
  /** What a time is made to: gaps, drift. */
  warp?: (seconds: number) => number
  /** Numbers of cuts that are breaks. */
  breaks?: readonly number[]
}

/** Packets belong to the cut in whose bytes they lie, as in MPEG-TS, Matroska and FLV. */
export function packetRecording(
  { format, packets }: CodedSound,
  options: PacketRecordingOptions,
): PacketRecording {
  const { timescale, output, cutSeconds, lagSeconds = 0, warp = (seconds) => seconds } = options
  const times = packets.map(({ position }) => warp(position / format.sampleRate))
  const offsets = runningSums(packets.map(({ data }) => data.length))
  const endSeconds = times.at(-1) ?? 0
  const cuts: CutTable = {
    timescale: 1000,
    startTicks: Float64Array.from(
      { length: Math.max(1, Math.ceil(endSeconds / cutSeconds)) },
      (_, cut) => cut * cutSeconds * 1000,
    ),
    endTicks: endSeconds * 1000,
    flags: new Uint8Array(Math.max(1, Math.ceil(endSeconds / cutSeconds))),
  }
  for (const cut of options.breaks ?? []) cuts.flags[cut] = 2
  const cutOf = times.map((time) =>
    Math.max(0, Math.min(cuts.flags.length - 1, Math.floor((time + lagSeconds) / cutSeconds))),
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
      cuts,
      // Looked into by no one but the reader below, which needs none.
      source: { kind: 'packets' } as unknown as MediaIndex['source'],
    },
    reader: {
      index: () => Promise.reject(new Error('the index is made by hand')),
      readSegment: async (_file, _index, { from, to }: SegmentRange) => {
        const samples = packets.flatMap(({ data }, number) => {
          const ticks = Math.round((times[number] ?? 0) * timescale)
          const cut = cutOf[number] ?? 0
          if (cut < from || cut >= to) return []
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
