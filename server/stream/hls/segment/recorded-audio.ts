// Reads the audio packets that a segment's AAC frames need: those in its bytes, and a lead-in.
import { checkLimit } from '../../../base/errors.ts'
import type { AudioTrack, SplitPointRange, MediaIndex } from '../../../media/media-index.ts'
import type { MediaReader, SampleRun } from '../../../media/media-reader.ts'
import type { AudioOutput, AudioPackets } from '../../../decode/audio/audio-job.ts'
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import type { RecordedAudio } from './audio-jobs.ts'
import {
  audioStartRange,
  frameAtSplitPoint,
  LEAD_IN_SECONDS,
  planAudioRanges,
} from './audio-plan.ts'
import type { AudioBefore } from './audio-plan.ts'
import { readSamples, readTrackRun } from './read-samples.ts'
import { sliceRun } from '../fmp4/slice-run.ts'

/** Audio of one segment: five minutes of CD quality, three hours of a usual recording. */
const AUDIO_LIMIT = { limit: 'audio-bytes-between-key-frames', max: 64 * 1024 * 1024 } as const
/** AAC frames of one segment: six hours. Between packets that are far apart, they are silent. */
const MAX_FRAMES = 1_000_000
/** PCM packets can have a single sample: they are joined up to this size and duration. */
const PCM_PACKET_BYTES = 4096
const PCM_PACKET_SECONDS = 0.02

/** An open recording. */
export interface AudioSource {
  file: OpenFile
  index: MediaIndex
  reader: MediaReader
}

/** A transcoded track, by its index in `MediaIndex.tracks`, and the segment's split points. */
export interface AudioPosition {
  number: number
  range: SplitPointRange
}

/** A track with audio that no browser can play as it was recorded. */
export type TranscodedTrack = AudioTrack & Required<Pick<AudioTrack, 'transcodedFrom'>>

export function isTranscoded(track: MediaIndex['tracks'][number]): track is TranscodedTrack {
  return track.kind === 'audio' && track.transcodedFrom !== undefined
}

/** Format of a transcoded track. */
export function outputOf({ sampleRate, channels }: AudioTrack): AudioOutput {
  return { sampleRate, channels: channels === 1 ? 1 : 2 }
}

/**
 * The packets of the segment and of its lead-in, and the frames to encode from them.
 *
 * @throws AppError `failed` if the file has changed, `unplayable` if the segment has too much audio
 */
export async function readRecordedAudio(
  source: AudioSource,
  track: TranscodedTrack,
  { number, range }: AudioPosition,
): Promise<RecordedAudio> {
  const { splitPoints } = source.index
  const output = outputOf(track)
  const { ranges, leadIn, nextLeadIn } = planAudioRanges(splitPoints, range)
  const chunks: PacketChunk[] = []
  for (const splitPointRange of ranges) {
    const run = await readTrackRun(source, source.file, { track: number, range: splitPointRange })
    const isLeadIn = splitPointRange.to <= range.from
    const needed = run && isLeadIn ? lastOf(run, LEAD_IN_SECONDS) : run
    chunks.push({ range: splitPointRange, packets: await readPackets(source.file, needed) })
  }
  const frameAt = async (splitPoint: number, from = splitPoint) => {
    const before =
      findLast(chunks, { from, to: splitPoint }) ??
      (await readAudioStart(source, number, splitPoint))
    return frameAtSplitPoint(splitPoints, splitPoint, { sampleRate: output.sampleRate, before })
  }
  const fromFrame = await frameAt(range.from, leadIn)
  const toFrame = await frameAt(range.to, nextLeadIn)
  checkLimit('samples-between-key-frames', MAX_FRAMES, toFrame - fromFrame)
  const isPcm = track.transcodedFrom.codec.startsWith('pcm_')
  const packets = chunks.map((chunk) => (isPcm ? joinSmall(chunk.packets) : chunk.packets))
  const before = packets.filter((_, at) => (chunks[at]?.range.to ?? 0) <= range.from)
  return {
    format: track.transcodedFrom,
    output,
    packets: joinPackets(packets),
    leadInPackets: before.reduce((sum, { sizes }) => sum + sizes.length, 0),
    end: nextLeadIn === undefined ? 'open' : 'joined',
    fromFrame,
    toFrame: Math.max(fromFrame, toFrame),
  }
}

interface PacketChunk {
  range: SplitPointRange
  packets: AudioPackets
}

/** Time of the last packet in a range, in file order. */
function findLast(
  chunks: readonly PacketChunk[],
  { from, to }: SplitPointRange,
): AudioBefore | undefined {
  const last = chunks.findLast(
    ({ range, packets }) => range.from >= from && range.to <= to && packets.ticks.length > 0,
  )?.packets
  const ticks = last?.ticks.at(-1)
  if (last === undefined || ticks === undefined) return undefined
  return { status: 'present', lastSeconds: ticks / last.timescale }
}

/** Whether audio has started before the split point, if its lead-in has none. */
async function readAudioStart(
  source: AudioSource,
  track: number,
  splitPoint: number,
): Promise<AudioBefore> {
  const range = audioStartRange(source.index.splitPoints, splitPoint)
  if (range === undefined) return { status: 'silent' }
  const run = await readTrackRun(source, source.file, { track, range })
  return { status: run === undefined ? 'not started' : 'silent' }
}

/** The samples of the last seconds: split points can be far apart, and no more are needed. */
function lastOf(run: SampleRun, seconds: number): SampleRun {
  let first = run.sizes.length - 1
  let spanTicks = 0
  while (first > 0 && spanTicks < seconds * run.timescale) {
    first -= 1
    spanTicks += run.durations[first] ?? 0
  }
  return sliceRun(run, first, run.sizes.length)
}

async function readPackets(file: OpenFile, run: SampleRun | undefined): Promise<AudioPackets> {
  if (run === undefined) return NO_PACKETS
  const ticks = new Float64Array(run.sizes.length)
  let at = run.firstDecodeTicks
  run.durations.forEach((duration, packet) => {
    ticks[packet] = at
    at += duration
  })
  const bytes = await readSamples(file, run, AUDIO_LIMIT)
  return { bytes, sizes: run.sizes, ticks, timescale: run.timescale }
}

const NO_PACKETS: AudioPackets = {
  bytes: new Uint8Array(0),
  sizes: new Uint32Array(0),
  ticks: new Float64Array(0),
  timescale: 1,
}

/** Joins packets that are close to each other. Each has a whole number of samples. */
function joinSmall({ bytes, sizes, ticks, timescale }: AudioPackets): AudioPackets {
  const joinedSizes: number[] = []
  const joinedTicks: number[] = []
  sizes.forEach((size, packet) => {
    const last = joinedSizes.length - 1
    const joined = (joinedSizes[last] ?? Infinity) + size
    const time = ticks[packet] ?? 0
    const isNear = time - (joinedTicks[last] ?? -Infinity) <= PCM_PACKET_SECONDS * timescale
    if (isNear && joined <= PCM_PACKET_BYTES) {
      joinedSizes[last] = joined
    } else {
      joinedSizes.push(size)
      joinedTicks.push(time)
    }
  })
  return {
    bytes,
    sizes: Uint32Array.from(joinedSizes),
    ticks: Float64Array.from(joinedTicks),
    timescale,
  }
}

function joinPackets(chunks: readonly AudioPackets[]): AudioPackets {
  const filled = chunks.filter(({ sizes }) => sizes.length > 0)
  return {
    bytes: Buffer.concat(filled.map(({ bytes }) => bytes)),
    sizes: Uint32Array.from(filled.flatMap(({ sizes }) => [...sizes])),
    ticks: Float64Array.from(filled.flatMap(({ ticks }) => [...ticks])),
    timescale: filled[0]?.timescale ?? 1,
  }
}
