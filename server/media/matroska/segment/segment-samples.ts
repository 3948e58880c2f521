// Gathers the frames of one segment from its bytes, with their times on the session's timeline.
import { AppError } from '../../../errors.ts'
import type { OpenFile } from '../../../storage/storage.ts'
import type { SplitPointRange } from '../../media-index.ts'
import { ElementWalk, type WalkVisitor, type WalkedBlock } from '../elements/element-walk.ts'
import { MAX_SEGMENT_SAMPLES, SEGMENT_WINDOW_BYTES } from '../matroska-limits.ts'
import {
  CLOCK_RATE,
  type MatroskaSource,
  type Section,
  type AudioStreamInfo,
  type TrackSet,
} from '../matroska-source.ts'
import { clockTicks } from '../scan/scan.ts'
import { frameTicks, snapped } from '../scan/audio-clock.ts'
import { walkFile } from '../elements/walk-file.ts'

/** Pictures in decode order; times in ticks of CLOCK_RATE. */
export interface FrameSample {
  offset: number
  sizeBytes: number
  presentationTicks: number
  isKey: boolean
  section: Section
  /** 0 where it is not said. */
  durationTicks: number
}

/** Frames of sound in order; times in ticks of the sound. */
export interface AudioSample {
  offset: number
  sizeBytes: number
  /** NaN where only the frames around tell: a lace without lengths. */
  startTicks: number
  /** NaN where it is not known. */
  lengthTicks: number
}

export interface SegmentSamples {
  frames: FrameSample[]
  /** Per sound that was asked for; the stream is that of the section with its first frame. */
  audioTracks: Map<number, { stream: AudioStreamInfo; samples: AudioSample[] }>
}

export interface SamplesWanted extends SplitPointRange {
  hasVideo: boolean
  /** Numbers of sounds in the track sets. */
  audioTracks: readonly number[]
}

/** Reads the heads of all blocks in the range, a megabyte of the file at a time; nothing of the payload is kept. */
export async function readSamples(
  file: OpenFile,
  source: MatroskaSource,
  wanted: SamplesWanted,
): Promise<SegmentSamples> {
  const gatherer = new Gatherer(source, wanted)
  const { offsets, clusterTicks, clusterEnds } = source.splitPoints
  const place = {
    position: offsets[wanted.from] ?? source.endOffset,
    clusterTicks: clusterTicks[wanted.from] ?? 0,
    clusterEnd: clusterEnds[wanted.from] ?? Infinity,
    lostFrom: -1,
  }
  const walk = new ElementWalk(place, { end: offsets[wanted.to] ?? source.endOffset }, gatherer)
  await walkFile(file, walk, { windowBytes: SEGMENT_WINDOW_BYTES })
  return gatherer.samples
}

/** The section that holds a cut. */
export function sectionOfSplitPoint({ sections }: MatroskaSource, splitPoint: number): Section {
  const section = sections.findLast(({ firstSplitPoint }) => firstSplitPoint <= splitPoint)
  if (section === undefined) throw new AppError('failed', 'the index is corrupt')
  return section
}

class Gatherer implements WalkVisitor {
  readonly samples: SegmentSamples = { frames: [], audioTracks: new Map() }
  readonly #source: MatroskaSource
  readonly #wanted: SamplesWanted
  /** Per sound where its next frame is expected. */
  readonly #expected = new Map<number, number>()
  #splitPoint: number
  #section: Section
  #set: TrackSet
  #count = 0

  constructor(source: MatroskaSource, wanted: SamplesWanted) {
    this.#source = source
    this.#wanted = wanted
    this.#splitPoint = wanted.from
    this.#section = sectionOfSplitPoint(source, wanted.from)
    this.#set = source.sets[this.#section.set] ?? { audioTracks: [], subtitles: [] }
    this.#anchor()
  }

  segment(): void {}

  head(): void {}

  cluster(): void {}

  damage(): void {}

  wants(track: number): 'nothing' | 'frames' {
    const isServed = this.#source.sets.some(
      ({ video, audioTracks }) =>
        video?.number === track || audioTracks.some((audio) => audio?.number === track),
    )
    return isServed ? 'frames' : 'nothing'
  }

  block(block: WalkedBlock): void {
    while (block.position >= (this.#source.splitPoints.offsets[this.#splitPoint + 1] ?? Infinity)) {
      this.#enterSplitPoint(this.#splitPoint + 1)
    }
    const { video, audioTracks } = this.#set
    if (video?.number === block.track) {
      if (this.#wanted.hasVideo) this.#frame(block, video.defaultDurationTicks)
      return
    }
    const number = audioTracks.findIndex((stream) => stream?.number === block.track)
    const stream = audioTracks[number]
    if (stream === undefined || !this.#wanted.audioTracks.includes(number)) return
    this.#audio(block, number, stream)
  }

  #enterSplitPoint(splitPoint: number): void {
    this.#splitPoint = splitPoint
    this.#section = sectionOfSplitPoint(this.#source, splitPoint)
    this.#set = this.#source.sets[this.#section.set] ?? { audioTracks: [], subtitles: [] }
    if (this.#section.firstSplitPoint === splitPoint) this.#expected.clear()
    this.#anchor()
  }

  /** From a cut on, sound counts from where the scan had it: so that segments join without a step. */
  #anchor(): void {
    for (const audio of this.#wanted.audioTracks) {
      const start = this.#source.splitPoints.audioStarts[audio]?.[this.#splitPoint] ?? NaN
      if (!Number.isNaN(start)) this.#expected.set(audio, start)
    }
  }

  #frame(block: WalkedBlock, defaultDurationTicks: number): void {
    const { nsPerTick, shiftTicks, firstFrameAt } = this.#section
    if (block.position < firstFrameAt) return
    this.#take(block.sizes.length)
    const start = clockTicks(block.ticks, nsPerTick) - shiftTicks
    const told = clockTicks(block.durationTicks ?? 0, nsPerTick)
    let offset = block.framesAt
    block.sizes.forEach((sizeBytes, i) => {
      this.samples.frames.push({
        offset,
        sizeBytes,
        presentationTicks: Math.max(0, start + i * defaultDurationTicks),
        isKey: block.isKey,
        section: this.#section,
        durationTicks: defaultDurationTicks || told,
      })
      offset += sizeBytes
    })
  }

  #audio(block: WalkedBlock, number: number, stream: AudioStreamInfo): void {
    const { nsPerTick, shiftTicks } = this.#section
    this.#take(block.sizes.length)
    const expected = this.#expected.get(number) ?? NaN
    const shift = Math.round((shiftTicks / CLOCK_RATE) * stream.timescale)
    let start = snapped(stream, expected, { ticks: block.ticks, nsPerTick })
    let offset = block.framesAt
    const list = this.samples.audioTracks.get(number)?.samples ?? []
    if (list.length === 0) this.samples.audioTracks.set(number, { stream, samples: list })
    for (const sizeBytes of block.sizes) {
      const lengthTicks = frameTicks(stream, block, sizeBytes)
      list.push({ offset, sizeBytes, startTicks: start - shift, lengthTicks })
      start += lengthTicks
      offset += sizeBytes
    }
    this.#expected.set(number, start)
  }

  #take(count: number): void {
    this.#count += count
    if (this.#count > MAX_SEGMENT_SAMPLES) {
      throw new AppError('failed', 'the segment has more frames than can be served')
    }
  }
}
