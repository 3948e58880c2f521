// Writes MP4 recordings of many hours that are small: real packets of one GOP, listed again and
// again in the tables.
import { writeFile } from 'node:fs/promises'
import { AVMEDIA_TYPE_AUDIO, AVMEDIA_TYPE_VIDEO } from 'node-av/constants'
import { eachPacket, withDemuxer } from '../ffmpeg.ts'
import { type TrackPlan, avc1, box, ftyp, moov, mp4a } from './make-mp4.ts'

/** What to write. The source is an MP4 of H.264 and AAC. */
export interface LongMp4Plan {
  sourcePath: string
  path: string
  seconds: number
  moov?: 'first' | 'last'
  chunkForm?: 'stco' | 'co64'
  /** `stz2` has 16 bits for each size: only for frames below 64 KiB. */
  sizeForm?: 'stsz' | 'stz2'
}

/** What was written: times of packets are for the caller to reckon. */
export interface LongMp4 {
  videoCount: number
  audioCount: number
  /**
   * Frames from key frame to key frame, and their presentation times in ticks of 1/30000 s, edit
   * list applied.
   */
  gopPresentationTicks: number[]
  /** Ticks of 1/30000 s of a frame. */
  frameTicks: number
  /** AAC packets that come in turn. */
  audioLoop: number
  fileBytes: number
}

interface Source {
  video: SourcePacket[]
  audio: SourcePacket[]
  avcC: Uint8Array
  audioConfig: Uint8Array
}

interface SourcePacket {
  data: Buffer
  offsetTicks: number
}

const VIDEO_TIMESCALE = 30_000
const FRAME_TICKS = 1001
const AUDIO_TIMESCALE = 48_000
const AUDIO_TICKS = 1024

/**
 * Video and audio are interleaved like live recordings: a chunk for each frame, then the audio
 * up to it.
 */
export async function makeLongMp4(plan: LongMp4Plan): Promise<LongMp4> {
  const source = await readGop(plan.sourcePath)
  // The audio is stored twice, so that a chunk that crosses the loop's end is contiguous.
  const media = [...source.video, ...source.audio, ...source.audio].map(({ data }) => data)
  const mdat = box('mdat', ...media)
  const isFirst = plan.moov === 'first'
  const moovAt = (mdatStart: number) => moov(tracksOf(source, plan, mdatStart + 8))
  const moovBytes = moovAt(ftyp().length)
  const file = isFirst
    ? [ftyp(), moovAt(ftyp().length + moovBytes.length), mdat]
    : [ftyp(), mdat, moovBytes]
  await writeFile(plan.path, file)
  const delay = Math.min(
    ...source.video.map(({ offsetTicks }, at) => at * FRAME_TICKS + offsetTicks),
  )
  return {
    ...counts(plan),
    gopPresentationTicks: source.video.map(
      ({ offsetTicks }, at) => at * FRAME_TICKS + offsetTicks - delay,
    ),
    frameTicks: FRAME_TICKS,
    audioLoop: source.audio.length,
    fileBytes: file.reduce((sum, bytes) => sum + bytes.length, 0),
  }
}

function counts({ seconds }: LongMp4Plan): { videoCount: number; audioCount: number } {
  return {
    videoCount: Math.floor((seconds * VIDEO_TIMESCALE) / FRAME_TICKS),
    audioCount: Math.floor((seconds * AUDIO_TIMESCALE) / AUDIO_TICKS),
  }
}

function tracksOf(source: Source, plan: LongMp4Plan, mediaStart: number): TrackPlan[] {
  const { videoCount } = counts(plan)
  const gop = source.video.length
  const looped = (count: number, packets: SourcePacket[]) =>
    Uint32Array.from({ length: count }, (_, at) => packets[at % packets.length]?.data.length ?? 0)
  const starts: number[] = []
  let position = mediaStart
  for (const { data } of [...source.video, ...source.audio, ...source.audio]) {
    starts.push(position)
    position += data.length
  }
  const audioTrack = audioChunks(plan, source.audio.length)
  const chunkForm = plan.chunkForm ?? 'stco'
  const sizeForm = plan.sizeForm === 'stz2' ? 16 : 0
  const delay = source.video[0]?.offsetTicks ?? 0
  const video: TrackPlan = {
    kind: 'video',
    timescale: VIDEO_TIMESCALE,
    sampleEntries: [avc1(source.avcC, 960, 540)],
    durations: [[videoCount, FRAME_TICKS]],
    compositionOffsets: Array.from({ length: videoCount }, (_, at) => {
      return [1, source.video[at % gop]?.offsetTicks ?? 0]
    }),
    syncs: Array.from({ length: Math.ceil(videoCount / gop) }, (_, at) => at * gop + 1),
    sizes: looped(videoCount, source.video),
    sizeForm,
    chunkRuns: [[1, 1, 1]],
    chunkOffsets: Float64Array.from({ length: videoCount }, (_, at) => starts[at % gop] ?? 0),
    chunkForm,
    edits: [[plan.seconds * 1000, delay]],
    width: 960,
    height: 540,
  }
  const audio: TrackPlan = {
    kind: 'audio',
    timescale: AUDIO_TIMESCALE,
    sampleEntries: [mp4a(source.audioConfig)],
    durations: [[counts(plan).audioCount, AUDIO_TICKS]],
    sizes: looped(counts(plan).audioCount, source.audio),
    sizeForm,
    chunkRuns: audioTrack.runs,
    chunkOffsets: Float64Array.from(audioTrack.firstPackets, (at) => starts[gop + at] ?? 0),
    chunkForm,
    edits: [[plan.seconds * 1000, AUDIO_TICKS]],
  }
  return [video, audio]
}

function audioChunks(
  plan: LongMp4Plan,
  loop: number,
): { runs: [number, number, number][]; firstPackets: number[] } {
  const { videoCount, audioCount } = counts(plan)
  const runs: [number, number, number][] = []
  const firstPackets: number[] = []
  let packet = 0
  for (let frame = 1; frame <= videoCount && packet < audioCount; frame += 1) {
    const until = Math.floor(
      (frame * FRAME_TICKS * AUDIO_TIMESCALE) / VIDEO_TIMESCALE / AUDIO_TICKS,
    )
    const end = frame === videoCount ? audioCount : Math.min(until, audioCount)
    if (end === packet) continue
    firstPackets.push(packet % loop)
    if (runs.at(-1)?.[1] !== end - packet) runs.push([firstPackets.length, end - packet, 1])
    packet = end
  }
  return { runs, firstPackets }
}

/** The first GOP of the video, and as much audio. */
async function readGop(path: string): Promise<Source> {
  return withDemuxer(path, async (demuxer) => {
    const streamOf = (type: number) =>
      demuxer.streams.find(({ codecpar }) => codecpar.codecType === type)
    const video: SourcePacket[] = []
    const audio: SourcePacket[] = []
    let gops = 0
    await eachPacket(demuxer, (packet, { codecpar }) => {
      const isVideo = codecpar.codecType === AVMEDIA_TYPE_VIDEO
      if (isVideo && packet.isKeyframe) gops += 1
      if (gops > 1) return
      const offsetTicks = isVideo ? Number(packet.pts - packet.dts) : 0
      const list = isVideo ? video : audio
      list.push({ data: Buffer.from(packet.data ?? []), offsetTicks })
    })
    return {
      video,
      audio,
      avcC: streamOf(AVMEDIA_TYPE_VIDEO)?.codecpar.extradata ?? new Uint8Array(),
      audioConfig: streamOf(AVMEDIA_TYPE_AUDIO)?.codecpar.extradata ?? new Uint8Array(),
    }
  })
}
