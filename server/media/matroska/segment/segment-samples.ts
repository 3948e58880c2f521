// Collects the frames of a segment, with their times on the session timeline.
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import type { SplitPointRange } from '../../media-index.ts'
import { ElementWalk } from '../elements/element-walk.ts'
import type { BlockInterest, WalkVisitor, WalkedBlock } from '../elements/walk-visitor.ts'
import { checkSegmentSamples } from '../../timeline/segment-limits.ts'
import { SEGMENT_WINDOW_BYTES } from '../matroska-limits.ts'
import {
  CLOCK_RATE,
  type MatroskaSource,
  type Section,
  type AudioStreamInfo,
  type TrackSet,
} from '../matroska-source.ts'
import { clockTicks, frameDuration, frameInterest, snapToExpected } from '../scan/block-clock.ts'
import { walkFile } from '../elements/walk-file.ts'
import { sectionOf } from '../../timeline/split-points.ts'

/** Frames in decode order; times in ticks of CLOCK_RATE. */
export interface FrameSample {
  offset: number
  sizeBytes: number
  presentationTicks: number
  isKey: boolean
  section: Section
  /** 0 if not declared. */
  durationTicks: number
}

/** Audio packets in order; times in ticks of the audio. */
export interface AudioSample {
  offset: number
  sizeBytes: number
  /** NaN if only the surrounding packets determine it: a lace without durations. */
  startTicks: number
  /** NaN if unknown. */
  lengthTicks: number
}

export interface SegmentSamples {
  frames: FrameSample[]
  /** Per requested audio track, with the stream of the section of its first packet. */
  audioTracks: Map<number, { stream: AudioStreamInfo; samples: AudioSample[] }>
}

export interface SampleRequest extends SplitPointRange {
  hasVideo: boolean
  /** Positions in `TrackSet.audioTracks`. */
  audioTracks: readonly number[]
}

/** Reads the headers of all blocks in the range through a window; payloads are not stored. */
export async function readSamples(
  file: OpenFile,
  source: MatroskaSource,
  request: SampleRequest,
): Promise<SegmentSamples> {
  const collector = new SampleCollector(source, request)
  const { offsets, clusterTicks, clusterEnds } = source.splitPoints
  const walkState = {
    position: offsets[request.from] ?? source.endOffset,
    clusterTicks: clusterTicks[request.from] ?? 0,
    clusterEnd: clusterEnds[request.from] ?? Infinity,
    corruptFrom: -1,
  }
  const walk = new ElementWalk(
    walkState,
    { end: offsets[request.to] ?? source.endOffset },
    collector,
  )
  await walkFile(file, walk, { windowBytes: SEGMENT_WINDOW_BYTES })
  return collector.samples
}

/** What is needed of the blocks of each track number, in all sets. */
function interests({ sets }: MatroskaSource): Map<number, BlockInterest> {
  const needed = new Map<number, BlockInterest>()
  for (const { video } of sets) if (video !== undefined) needed.set(video.number, 'frames')
  for (const stream of sets.flatMap(({ audioTracks }) => audioTracks)) {
    if (stream === undefined || needed.get(stream.number) === 'head') continue
    needed.set(stream.number, frameInterest(stream))
  }
  return needed
}

class SampleCollector implements WalkVisitor {
  readonly samples: SegmentSamples = { frames: [], audioTracks: new Map() }
  readonly #source: MatroskaSource
  readonly #request: SampleRequest
  readonly #interests: ReadonlyMap<number, BlockInterest>
  /** Per audio track, the expected start of its next packet. */
  readonly #expected = new Map<number, number>()
  #splitPoint: number
  #section: Section
  #set: TrackSet
  #count = 0

  constructor(source: MatroskaSource, request: SampleRequest) {
    this.#source = source
    this.#request = request
    this.#interests = interests(source)
    this.#splitPoint = request.from
    this.#section = sectionOf(source, request.from)
    this.#set = source.sets[this.#section.set] ?? { audioTracks: [], subtitles: [] }
    this.#resyncAudio()
  }

  segment(): void {}

  header(): void {}

  cluster(): void {}

  corruption(): void {}

  interest(track: number): BlockInterest {
    return this.#interests.get(track) ?? 'none'
  }

  block(block: WalkedBlock): void {
    while (block.position >= (this.#source.splitPoints.offsets[this.#splitPoint + 1] ?? Infinity)) {
      this.#enterSplitPoint(this.#splitPoint + 1)
    }
    const { video, audioTracks } = this.#set
    if (video?.number === block.track) {
      if (this.#request.hasVideo) this.#frame(block, video.defaultDurationTicks)
      return
    }
    const number = audioTracks.findIndex((stream) => stream?.number === block.track)
    const stream = audioTracks[number]
    if (stream === undefined || !this.#request.audioTracks.includes(number)) return
    this.#audio(block, number, stream)
  }

  #enterSplitPoint(splitPoint: number): void {
    this.#splitPoint = splitPoint
    this.#section = sectionOf(this.#source, splitPoint)
    this.#set = this.#source.sets[this.#section.set] ?? { audioTracks: [], subtitles: [] }
    if (this.#section.firstSplitPoint === splitPoint) this.#expected.clear()
    this.#resyncAudio()
  }

  /**
   * Continues from the audio time that the scan recorded at the split point, so that adjacent
   * segments are seamless.
   */
  #resyncAudio(): void {
    for (const audio of this.#request.audioTracks) {
      const start = this.#source.splitPoints.audioStarts[audio]?.[this.#splitPoint] ?? NaN
      if (!Number.isNaN(start)) this.#expected.set(audio, start)
    }
  }

  #frame(block: WalkedBlock, defaultDurationTicks: number): void {
    const { nsPerTick, shiftTicks, firstFrameAt } = this.#section
    if (block.position < firstFrameAt) return
    this.#countFrames(block.sizes.length)
    const start = clockTicks(block.ticks, nsPerTick) - shiftTicks
    const declaredTicks = clockTicks(block.durationTicks ?? 0, nsPerTick)
    let offset = block.framesAt
    block.sizes.forEach((sizeBytes, i) => {
      this.samples.frames.push({
        offset,
        sizeBytes,
        presentationTicks: Math.max(0, start + i * defaultDurationTicks),
        isKey: block.isKey,
        section: this.#section,
        durationTicks: defaultDurationTicks || declaredTicks,
      })
      offset += sizeBytes
    })
  }

  #audio(block: WalkedBlock, number: number, stream: AudioStreamInfo): void {
    const { nsPerTick, shiftTicks } = this.#section
    this.#countFrames(block.sizes.length)
    const expected = this.#expected.get(number) ?? NaN
    const shift = Math.round((shiftTicks / CLOCK_RATE) * stream.timescale)
    let start = snapToExpected(stream, expected, { ticks: block.ticks, nsPerTick })
    let offset = block.framesAt
    const list = this.samples.audioTracks.get(number)?.samples ?? []
    if (list.length === 0) this.samples.audioTracks.set(number, { stream, samples: list })
    for (const sizeBytes of block.sizes) {
      const lengthTicks = frameDuration(stream, block, sizeBytes)
      list.push({ offset, sizeBytes, startTicks: start - shift, lengthTicks })
      start += lengthTicks
      offset += sizeBytes
    }
    this.#expected.set(number, start)
  }

  #countFrames(count: number): void {
    this.#count += count
    checkSegmentSamples(this.#count)
  }
}
