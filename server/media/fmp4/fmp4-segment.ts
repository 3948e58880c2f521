// Reads the samples of a segment: parses the headers of its fragments again, in a few large reads.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { OpenFile } from '../../storage/recordings/storage.ts'
import { setsAt } from '../codec/parameter-sets.ts'
import type { MediaIndex, SplitPointRange } from '../media-index.ts'
import type { SampleRun } from '../media-reader.ts'
import { samplePrefix } from '../mp4/sample-entries/sample-sets.ts'
import { makeSampleRun, type Sample, withPrefix } from '../sample-run.ts'
import { checkSegmentSamples, SAMPLES_PER_TURN } from '../timeline/segment-limits.ts'
import type { Fmp4Init, Fmp4Section, Fmp4Source, Fmp4Track } from './fmp4-source.ts'
import type { Fragment, TrackSamples } from './fragments/fragment.ts'
import { FragmentWalk } from './fragments/fragment-walk.ts'
import { readMoovSamples } from './fragments/moov-samples.ts'
import { readFragment, trackDefaults } from './scan/scan.ts'
import { leadTrack, rescale, servedTicks, sessionShift } from './scan/scan-state.ts'
import { sectionOf } from '../timeline/split-points.ts'

/** One run for each requested track (positions in `Fmp4Init.tracks`), in that order. */
export async function readFragmentRuns(
  file: OpenFile,
  index: { splitPoints: MediaIndex['splitPoints']; source: Fmp4Source },
  { tracks, ...range }: SplitPointRange & { tracks: readonly number[] },
): Promise<SampleRun[]> {
  const { splitPoints, source } = index
  const section = sectionOf(source, range.from)
  const init = source.inits[section.init] ?? { tracks: [] }
  const bounds = segmentBounds(source, section, range)
  const picker = new SamplePicker(
    { init, section, tracks, bounds, timescale: splitPoints.timescale },
    {
      fromTicks:
        range.from === section.firstSplitPoint
          ? -Infinity
          : (splitPoints.startTicks[range.from] ?? 0),
      toTicks: splitPoints.startTicks[range.to] ?? Infinity,
      nextTicks: init.tracks.map((_, track) => source.decodeTicks?.[track]?.[range.from] ?? 0),
    },
  )
  await walkSegment(file, { source, init, bounds }, (fragment) => picker.take(fragment))
  const prefix = prefixAt(source, range.from)
  return picker.runs().map((run) => (run.kind === 'video' ? withPrefix(run, prefix) : run))
}

/** What must precede the first frame at a split point: parameter sets in force, or nothing. */
export function prefixAt(source: Fmp4Source, splitPoint: number): Uint8Array {
  const { init, descriptions } = sectionOf(source, splitPoint)
  const tracks = source.inits[init]?.tracks ?? []
  const video = tracks.findIndex((track) => track?.kind === 'video')
  const decoder = tracks[video]?.descriptions[(descriptions[video] ?? 0) - 1]?.decoder
  return samplePrefix(decoder, setsAt(source.sets, splitPoint))
}

/** The fragments of a segment. */
interface SegmentBounds {
  from: number
  to: number
  /** Samples of the lead track to skip in the first group, which ends at `firstEnd`. */
  skip: number
  firstEnd: number
  /**
   * Start of the last group, and how many of its lead samples belong to the segment; Infinity for a
   * whole group.
   */
  lastStart: number
  limit: number
}

function segmentBounds(
  source: Fmp4Source,
  section: Fmp4Section,
  { from, to }: SplitPointRange,
): SegmentBounds {
  const start = source.offsets[from] ?? Infinity
  const skip = source.samplesBefore[from] ?? 0
  const firstEnd = skip > 0 ? groupEnd(source, start) : start
  const sectionEnd = Math.min(section.end, source.sizeBytes)
  const next = source.offsets[to]
  const isLastOfSection = next === undefined || next >= sectionEnd
  const limit = isLastOfSection ? 0 : (source.samplesBefore[to] ?? 0)
  if (isLastOfSection || limit === 0) {
    const end = isLastOfSection ? sectionEnd : next
    return { from: start, to: end, skip, firstEnd, lastStart: Infinity, limit: Infinity }
  }
  return { from: start, to: groupEnd(source, next), skip, firstEnd, lastStart: next, limit }
}

function groupEnd({ splitGroupStarts, splitGroupEnds }: Fmp4Source, start: number): number {
  return splitGroupEnds[splitGroupStarts.indexOf(start)] ?? start
}

interface SegmentWalk {
  source: Fmp4Source
  init: Fmp4Init
  bounds: SegmentBounds
}

async function walkSegment(
  file: OpenFile,
  { source, init, bounds }: SegmentWalk,
  take: (fragment: Fragment) => void,
): Promise<void> {
  const walk = new FragmentWalk(file, bounds)
  const context = { defaults: trackDefaults(init), fileBytes: source.sizeBytes }
  let samples = 0
  const takeInTurn = async (fragment: Fragment): Promise<void> => {
    take(fragment)
    samples += fragment.runs.reduce((sum, { sizes }) => sum + sizes.length, 0)
    if (samples < SAMPLES_PER_TURN) return
    samples = 0
    await nextTurn()
  }
  for (let item = walk.next(); item !== undefined; item = walk.next()) {
    if (item === 'more') {
      await walk.load()
    } else if (item.kind === 'moof') {
      const fragment = readFragment(item, context)
      if (fragment !== undefined) await takeInTurn(fragment)
    } else if (source.moovSamples?.start === item.box.start) {
      await takeInTurn(await readMoovSamples(file, source.moovSamples, init))
    }
  }
}

interface PickPlan {
  init: Fmp4Init
  section: Fmp4Section
  tracks: readonly number[]
  bounds: SegmentBounds
  /** Timescale of `PickTimes.fromTicks` and `toTicks`. */
  timescale: number
}

interface PickTimes {
  /** Session times of the split points, which assign audio inside a group. */
  fromTicks: number
  toTicks: number
  /** Decode times by track, for fragments without their own. */
  nextTicks: number[]
}

/** Selects a segment's samples from its fragments. */
class SamplePicker {
  readonly #plan: PickPlan
  readonly #times: PickTimes
  readonly #lead: number
  readonly #samples: Sample[][]
  readonly #ends: number[]
  /** By track, the samples of PCM that were joined to the last packet. */
  readonly #joined: number[]
  /** Lead samples counted so far in the group with a split point. */
  #leadCount = 0
  #countedGroup = NaN
  #count = 0

  constructor(plan: PickPlan, times: PickTimes) {
    this.#plan = plan
    this.#times = times
    this.#lead = leadTrack(plan.init)
    this.#samples = plan.init.tracks.map(() => [])
    this.#ends = plan.init.tracks.map(() => 0)
    this.#joined = plan.init.tracks.map(() => 0)
  }

  take(fragment: Fragment): void {
    for (const run of fragment.runs) {
      const number = this.#plan.init.tracks.findIndex((track) => track?.id === run.trackId)
      const track = this.#plan.init.tracks[number]
      if (track?.descriptions[run.description - 1] !== undefined) {
        this.#takeRun(fragment.start, run, { ...track, number })
      }
    }
  }

  runs(): SampleRun[] {
    return this.#plan.tracks.flatMap((number) => {
      const track = this.#plan.init.tracks[number]
      const samples = this.#samples[number] ?? []
      if (track === undefined) return []
      const { kind, timescale } = track
      const nextDecodeTicks = this.#ends[number] ?? 0
      const run = makeSampleRun(decodeBeforePresentation(samples), {
        kind,
        timescale,
        nextDecodeTicks,
      })
      return run ?? []
    })
  }

  #takeRun(at: number, run: TrackSamples, track: Fmp4Track & { number: number }): void {
    const { section, tracks } = this.#plan
    const { number, timescale } = track
    let fileTicks = run.decodeTicks ?? this.#times.nextTicks[number] ?? 0
    const shift = sessionShift(section, number, timescale)
    const lead = track.kind === 'video' ? section.leadTicks : 0
    const isRequested = tracks.includes(number)
    for (let i = 0; i < run.sizes.length; i += 1) {
      const presentationTicks =
        servedTicks(track, fileTicks + (run.compositionOffsets[i] ?? 0)) + shift
      const decodeTicks = servedTicks(track, fileTicks) + shift - lead
      const duration = run.durations[i] ?? 0
      fileTicks += duration
      const isInside = this.#isInside(at, { number, timescale, ticks: presentationTicks })
      if (!isInside || !isRequested) continue
      this.#add(number, {
        offset: run.offsets[i] ?? 0,
        sizeBytes: run.sizes[i] ?? 0,
        decodeTicks,
        presentationTicks,
        isKey: run.keys[i] === 1,
      })
      this.#ends[number] = decodeTicks + duration * track.tickScale
    }
    this.#times.nextTicks[number] = fileTicks
  }

  #add(number: number, sample: Sample): void {
    if (this.#joinsLast(number, sample)) return
    this.#count += 1
    checkSegmentSamples(this.#count)
    this.#samples[number]?.push(sample)
  }

  /** Joins contiguous samples of PCM, which are tiny. */
  #joinsLast(number: number, { offset, sizeBytes }: Sample): boolean {
    const most = this.#plan.init.tracks[number]?.packetSamples
    const joined = this.#joined[number] ?? 0
    const last = this.#samples[number]?.at(-1)
    if (most === undefined) return false
    const isJoined = last !== undefined && joined < most && last.offset + last.sizeBytes === offset
    if (isJoined) last.sizeBytes += sizeBytes
    this.#joined[number] = isJoined ? joined + 1 : 1
    return isJoined
  }

  /**
   * Whether a sample belongs to the segment. In a group with a split point, lead samples are
   * counted and audio is assigned by time.
   */
  #isInside(at: number, sample: { number: number; timescale: number; ticks: number }): boolean {
    const { bounds, timescale } = this.#plan
    const isFirst = at < bounds.firstEnd
    const isLast = at >= bounds.lastStart
    if (!isFirst && !isLast) return true
    if (sample.number === this.#lead) {
      const position = this.#countLead(isLast ? bounds.lastStart : bounds.from)
      return (!isFirst || position >= bounds.skip) && (!isLast || position < bounds.limit)
    }
    const ticks = rescale(sample.ticks, sample.timescale, timescale)
    return (!isFirst || ticks >= this.#times.fromTicks) && (!isLast || ticks < this.#times.toTicks)
  }

  #countLead(group: number): number {
    if (this.#countedGroup !== group) this.#leadCount = 0
    this.#countedGroup = group
    this.#leadCount += 1
    return this.#leadCount - 1
  }
}

/**
 * Moves decode times to at most the presentation time, because FFmpeg handles negative composition
 * offsets incorrectly. None moves into the previous segment: a presentation time before the
 * segment, or a sample without duration, is corrupt.
 */
function decodeBeforePresentation(samples: Sample[]): Sample[] {
  let latest = Infinity
  const earliest = samples[0]?.decodeTicks ?? 0
  for (const sample of samples.toReversed()) {
    latest = Math.min(sample.decodeTicks, sample.presentationTicks, latest - 1)
    sample.decodeTicks = Math.max(latest, earliest)
  }
  return samples
}
