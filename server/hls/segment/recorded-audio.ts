// Reads the packets of sound that a segment's AAC frames are made of: those in the segment's bytes, and some before them.
import { UnplayableError } from '../../errors.ts'
import type { AudioTrack, SplitPointRange, MediaIndex } from '../../media/media-index.ts'
import type { MediaReader, SampleRun } from '../../media/media-reader.ts'
import type { AudioOutput, AudioPackets } from '../../audio/audio-job.ts'
import type { OpenFile } from '../../storage/storage.ts'
import { BufferPool, BufferLease } from '../../delivery/buffer-pool.ts'
import { eachChunk } from '../../delivery/chunk-source.ts'
import { layOutData } from '../fmp4/media-data.ts'
import { readBody } from '../../delivery/read-body.ts'
import { segmentBody } from '../../delivery/segment-body.ts'
import type { RecordedAudio } from './audio-jobs.ts'
import { beginningOf, frameAtSplitPoint, LEAD_IN_SECONDS, planAudioRanges } from './audio-plan.ts'
import type { AudioBefore } from './audio-plan.ts'

/** Sound in a segment's bytes: five minutes as on a CD, three hours as in most recordings. */
const MAX_AUDIO_BYTES = 64 * 1024 * 1024
/** Packets of PCM can be one sample long: so much of them is put together. */
const PCM_PACKET_BYTES = 4096
const PCM_PACKET_SECONDS = 0.02

/** A recording, open to be read. */
export interface AudioSource {
  file: OpenFile
  index: MediaIndex
  reader: MediaReader
}

/** A track that is transcoded, by its number in the index, and the segment's cuts. */
export interface AudioPosition {
  number: number
  range: SplitPointRange
}

/** A track whose sound no browser plays as it was recorded. */
export type TranscodedTrack = AudioTrack & Required<Pick<AudioTrack, 'transcodedFrom'>>

export function isTranscoded(track: MediaIndex['tracks'][number]): track is TranscodedTrack {
  return track.kind === 'audio' && track.transcodedFrom !== undefined
}

/** What a transcoded track is sent as. */
export function outputOf({ sampleRate, channels }: AudioTrack): AudioOutput {
  return { sampleRate, channels: channels === 1 ? 1 : 2 }
}

/**
 * The packets of the segment and of its lead-in, and the frames to make of them.
 *
 * @throws AppError `failed` where the file no longer matches, `unplayable` where a segment holds absurdly much sound
 */
export async function readRecordedAudio(
  source: AudioSource,
  track: TranscodedTrack,
  { number, range }: AudioPosition,
): Promise<RecordedAudio> {
  const { splitPoints } = source.index
  const output = outputOf(track)
  const { ranges, leadIn, nextLeadIn } = planAudioRanges(splitPoints, range)
  const chunks: RecordedAudioChunk[] = []
  for (const splitPointRange of ranges) {
    const run = await readRun(source, number, splitPointRange)
    const isLeadIn = splitPointRange.to <= range.from
    const wanted = run && isLeadIn ? lastOf(run, LEAD_IN_SECONDS) : run
    chunks.push({ range: splitPointRange, packets: await readPackets(source.file, wanted) })
  }
  const frameAt = async (splitPoint: number, from = splitPoint) => {
    const before =
      findLast(chunks, { from, to: splitPoint }) ??
      (await readBeginning(source, number, splitPoint))
    return frameAtSplitPoint(splitPoints, splitPoint, { sampleRate: output.sampleRate, before })
  }
  const fromFrame = await frameAt(range.from, leadIn)
  const toFrame = await frameAt(range.to, nextLeadIn)
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

interface RecordedAudioChunk {
  range: SplitPointRange
  packets: AudioPackets
}

/** When the last packet between two cuts begins, by their order in the file. */
function findLast(
  chunks: readonly RecordedAudioChunk[],
  { from, to }: SplitPointRange,
): AudioBefore | undefined {
  const last = chunks.findLast(
    ({ range, packets }) => range.from >= from && range.to <= to && packets.ticks.length > 0,
  )?.packets
  const ticks = last?.ticks.at(-1)
  if (last === undefined || ticks === undefined) return undefined
  return { status: 'heard', lastSeconds: ticks / last.timescale }
}

/** Whether there was any sound at all, where there is none in the cut's lead-in. */
async function readBeginning(
  source: AudioSource,
  track: number,
  splitPoint: number,
): Promise<AudioBefore> {
  const range = beginningOf(source.index.splitPoints, splitPoint)
  if (range === undefined) return { status: 'silent' }
  const run = await readRun(source, track, range)
  return { status: run === undefined ? 'not begun' : 'silent' }
}

async function readRun(
  { file, index, reader }: AudioSource,
  track: number,
  range: SplitPointRange,
): Promise<SampleRun | undefined> {
  const content = await reader.readSegment(file, index, { ...range, tracks: [track] })
  return content.kind === 'samples' ? content.runs.find(({ kind }) => kind === 'audio') : undefined
}

/** The samples that begin within so many seconds of the last one. Cuts can be far apart, and only these are needed. */
function lastOf(run: SampleRun, seconds: number): SampleRun {
  let first = run.sizes.length - 1
  let spanTicks = 0
  while (first > 0 && spanTicks < seconds * run.timescale) {
    first -= 1
    spanTicks += run.durations[first] ?? 0
  }
  const skippedTicks = run.durations.subarray(0, first).reduce((sum, ticks) => sum + ticks, 0)
  const skippedBytes = run.sizes.subarray(0, first).reduce((sum, size) => sum + size, 0)
  return {
    kind: run.kind,
    timescale: run.timescale,
    firstDecodeTicks: run.firstDecodeTicks + skippedTicks,
    sizes: run.sizes.subarray(first),
    durations: run.durations.subarray(first),
    ...(run.offsets && { offsets: run.offsets.subarray(first) }),
    ...(run.bytes && { bytes: run.bytes.subarray(skippedBytes) }),
  }
}

async function readPackets(file: OpenFile, run: SampleRun | undefined): Promise<AudioPackets> {
  if (run === undefined) return NO_PACKETS
  const ticks = new Float64Array(run.sizes.length)
  let at = run.firstDecodeTicks
  run.durations.forEach((duration, packet) => {
    ticks[packet] = at
    at += duration
  })
  const bytes = run.bytes ?? (await readSamples(file, run))
  return { bytes, sizes: run.sizes, ticks, timescale: run.timescale }
}

const NO_PACKETS: AudioPackets = {
  bytes: new Uint8Array(0),
  sizes: new Uint32Array(0),
  ticks: new Float64Array(0),
  timescale: 1,
}

async function readSamples(file: OpenFile, run: SampleRun): Promise<Uint8Array> {
  const body = segmentBody(layOutData([run], 'track').parts)
  if (body.sizeBytes > MAX_AUDIO_BYTES) {
    throw new UnplayableError({
      code: 'limit-exceeded',
      limit: 'audio-bytes-between-key-frames',
      max: MAX_AUDIO_BYTES,
    })
  }
  const bytes = Buffer.allocUnsafeSlow(body.sizeBytes)
  const lent = new BufferLease(new BufferPool())
  let at = 0
  for await (const chunk of eachChunk(readBody(file, body, lent))) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}

/** Packets that follow each other closely become one. Each is a whole number of samples. */
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
