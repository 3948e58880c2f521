// Finds the split points of a Matroska file, block by block. Every decision depends only on earlier
// bytes, so that a growing file gets the same split points as a complete one.
import { SPLIT_DISCONTINUITY, SPLIT_KEY_FRAME, type MediaIndex } from '../../media-index.ts'
import { CueList } from './cue-list.ts'
import { SplitPointList } from './split-point-list.ts'
import { EBML_HEADER, INFO, TRACKS } from '../elements/element-ids.ts'
import type { BlockInterest, WalkedBlock, WalkVisitor } from '../elements/walk-visitor.ts'
import { checkSections, isStartOpen } from '../../timeline/split-points.ts'
import { MAX_SESSION_SECONDS, RULES, timelineRules } from '../../timeline/timeline-rules.ts'
import {
  CLOCK_RATE,
  type MatroskaSource,
  type ScanMemory,
  type Section,
  type TrackSet,
} from '../matroska-source.ts'
import {
  createMemory,
  createRun,
  DEFAULT_SCALE_NS,
  delayOf,
  frameEnd,
  hasEnoughFrames,
  hasJumped,
  recordFrame,
  recordLimitation,
  shiftOf,
} from './scan-memory.ts'
import { clockTicks, frameDuration, frameInterest, snapToExpected } from './block-clock.ts'
import { checkDocType, listTargets, readInfo, readTracks, type Target } from './scan-headers.ts'

const { isAudioSplit, videoSplitFlags } = timelineRules('matroska', CLOCK_RATE)
const MAX_TICKS = MAX_SESSION_SECONDS * CLOCK_RATE
export class Scan implements WalkVisitor {
  readonly memory: Omit<ScanMemory, 'walkState'>
  readonly sets: TrackSet[]
  readonly sections: Section[]
  readonly splitPoints: SplitPointList
  readonly cues: CueList
  readonly #earlyTracks: Uint8Array | undefined
  #targets = new Map<number, Target>()

  /**
   * Starts at the beginning, or resumes from `previous`. `earlyTracks`: a Tracks element that is
   * after the first clusters.
   */
  constructor(previous?: { index: MediaIndex; source: MatroskaSource }, earlyTracks?: Uint8Array) {
    const source = previous?.source
    this.memory = source === undefined ? createMemory() : structuredClone(source.scan)
    this.sets = [...(source?.sets ?? [])]
    this.sections = (source?.sections ?? []).map((section) => ({ ...section }))
    this.splitPoints = new SplitPointList(previous?.index.splitPoints, source?.splitPoints)
    this.cues = new CueList(this.memory, previous?.index.subtitles)
    this.#earlyTracks = earlyTracks
    this.#targets = listTargets(this.sets[this.memory.set])
  }

  segment(): void {
    const { memory } = this
    if (memory.hasSegment) {
      memory.set = -1
      memory.nsPerTick = DEFAULT_SCALE_NS
      memory.needsSection = true
      this.#targets = listTargets(undefined)
    }
    memory.hasSegment = true
  }

  header(id: number, content: Uint8Array): void {
    if (id === EBML_HEADER && this.splitPoints.length === 0) checkDocType(content)
    if (id === INFO) readInfo(this.memory, content)
    if (id === TRACKS) this.#readTracks(content)
  }

  cluster(position: number): void {
    const { memory } = this
    if (memory.set < 0 && this.sets.length === 0 && this.#earlyTracks !== undefined) {
      this.#readTracks(this.#earlyTracks)
    }
    const { firstOffset } = this.splitPoints
    if (position > firstOffset) memory.firstClusterEnd = Math.min(memory.firstClusterEnd, position)
  }

  #readTracks(content: Uint8Array): void {
    readTracks(this, content)
    this.#targets = listTargets(this.sets[this.memory.set])
  }

  interest(track: number): BlockInterest {
    const target = this.#targets.get(track)
    if (target === undefined) return 'none'
    if (target.kind === 'audio') return frameInterest(target.stream)
    return target.kind === 'subtitle' ? 'payload' : 'frames'
  }

  block(block: WalkedBlock): void {
    const target = this.#targets.get(block.track)
    const ticks = clockTicks(block.ticks, this.memory.nsPerTick)
    if (target === undefined || !(Math.abs(ticks) <= MAX_TICKS)) return
    if (target.kind === 'video') this.#frame(block, ticks)
    else if (target.kind === 'audio') this.#audio(block, target)
    else this.#subtitle(block, target.subtitle, ticks)
  }

  corruption(from: number, to: number): void {
    const { memory } = this
    const seconds = this.endTicks() / CLOCK_RATE
    recordLimitation(memory, {
      code: 'corrupt',
      lengthBytes: to - from,
      offsetBytes: from,
      seconds,
    })
  }

  /** End of the session on its timeline, in ticks of CLOCK_RATE. */
  endTicks(): number {
    const { run } = this.memory
    const section = this.sections.at(-1)
    if (section === undefined) return 0
    const end = Math.max(frameEnd(run, this.sets[section.set]), run.audioEndTicks)
    return Math.max(end - shiftOf(run, section), this.splitPoints.lastStartTicks + 1)
  }

  #openSection(block: WalkedBlock, frames: 'key' | 'any'): Section {
    const { memory, sections, splitPoints } = this
    checkSections(sections.length)
    const startTicks = sections.length === 0 ? 0 : this.endTicks()
    if (sections.length > 0) this.#settle()
    const section: Section = {
      firstSplitPoint: splitPoints.length,
      set: memory.set,
      nsPerTick: memory.nsPerTick,
      shiftTicks: 0,
      delayTicks: 0,
      firstFrameAt: frames === 'any' ? 0 : Infinity,
    }
    memory.tentativeFrom = Infinity
    memory.needsSection = false
    memory.run = createRun(startTicks, memory.hasUndecodable)
    memory.hasUndecodable = false
    sections.push(section)
    this.#open(block, startTicks, sections.length > 1 ? SPLIT_DISCONTINUITY : 0)
    return section
  }

  /** The section of a block: the open one, or a new one if timestamps jump. */
  #sectionAt(block: WalkedBlock, kind: 'video' | 'audio', ticks: number): Section {
    const last = this.sections.at(-1)
    if (last === undefined || this.memory.needsSection) return this.#openSection(block, 'key')
    if (!hasJumped(this.memory.run, { kind, ticks }, this.sets[last.set])) return last
    const continues = last.firstFrameAt !== Infinity
    const jump = (ticks - this.memory.run.latestTicks) / CLOCK_RATE
    recordLimitation(this.memory, {
      code: 'gap',
      jumpSeconds: Math.round(jump * 10) / 10,
      offsetBytes: block.position,
      seconds: this.endTicks() / CLOCK_RATE,
    })
    return this.#openSection(block, continues ? 'any' : 'key')
  }

  #frame(block: WalkedBlock, ticks: number): void {
    const { memory, splitPoints } = this
    if (memory.needsSection && !block.isKey) {
      memory.hasUndecodable = true
      memory.hasSeenUndecodable = true
      return
    }
    const awaitsKeyFrame = this.sections.at(-1)?.firstFrameAt === Infinity
    if (awaitsKeyFrame && !memory.needsSection && !block.isKey) {
      memory.run.hasUndecodable = true
      memory.hasSeenUndecodable = true
      return
    }
    const section = this.#sectionAt(block, 'video', ticks)
    this.#removeTentative()
    if (section.firstFrameAt === Infinity) this.#startVideo(block, section)
    this.#splitAtFrame(block, section, ticks)
    splitPoints.addFrame(ticks)
    memory.sampleCount += block.sizes.length
    const durationTicks = clockTicks(block.durationTicks ?? 0, memory.nsPerTick)
    recordFrame(memory.run, { ticks, durationTicks, isKey: block.isKey })
    if (hasEnoughFrames(memory.run)) this.#settleDelay()
    memory.hasSeenFrame = true
  }

  /** Handles the first key frame. Earlier audio is dropped if video before it was skipped. */
  #startVideo(block: WalkedBlock, section: Section): void {
    const { memory, splitPoints } = this
    section.firstFrameAt = block.position
    if (!memory.run.hasUndecodable || splitPoints.length - 1 !== section.firstSplitPoint) return
    const { startTicks } = memory.run
    splitPoints.truncate(section.firstSplitPoint)
    if (splitPoints.length === 0) memory.firstClusterEnd = Infinity
    memory.run = createRun(startTicks, false)
    this.#open(block, startTicks, section.firstSplitPoint > 0 ? SPLIT_DISCONTINUITY : 0)
  }

  #open(block: WalkedBlock, startTicks: number, flags: number): void {
    const { sampleCount } = this.memory
    this.splitPoints.open(block, { startTicks, flags, sampleCount })
  }

  #removeTentative(): void {
    this.splitPoints.truncate(this.memory.tentativeFrom)
    this.memory.tentativeFrom = Infinity
  }

  #splitAtFrame(block: WalkedBlock, section: Section, ticks: number): void {
    const { splitPoints } = this
    const { run } = this.memory
    const elapsed = this.#elapsed(section, ticks)
    const flags = videoSplitFlags(block.isKey, {
      toSplitPoint: elapsed,
      toKeyFrame: ticks - run.lastKeyTicks,
      toAnySplitPoint: elapsed,
      isShownLast: ticks > run.maxFrameTicks,
    })
    const isFirst = !splitPoints.hasFrame() && splitPoints.length - 1 === section.firstSplitPoint
    const joinsLast = isFirst || (!splitPoints.hasFrame() && flags === 0)
    if (block.isKey && joinsLast) splitPoints.addFlags(SPLIT_KEY_FRAME)
    else if (flags !== 0) this.#openSplitPoint(block, ticks, flags)
    else if (
      !block.isKey &&
      isStartOpen(splitPoints.lastFlags, run.maxFrameTicks, run.lastKeyTicks)
    )
      splitPoints.moveStartBack(ticks - shiftOf(run, section))
  }

  /** Ticks since the start of the last split point. */
  #elapsed(section: Section, ticks: number): number {
    const { run } = this.memory
    if (run.isSettled) return ticks - section.shiftTicks - this.splitPoints.lastStartTicks
    return run.originTicks === Infinity ? 0 : ticks - run.originTicks
  }

  /** Opens a split point that is not the first of its section. */
  #openSplitPoint(block: WalkedBlock, ticks: number, flags: number): void {
    const section = this.#settle()
    this.#open(block, ticks - (section?.shiftTicks ?? 0), flags)
  }

  /**
   * Makes the section's position on the session timeline final, at the end of its first split
   * point.
   */
  #settle(): Section | undefined {
    const { run } = this.memory
    const section = this.sections.at(-1)
    if (section === undefined) return undefined
    if (!run.isSettled) {
      section.shiftTicks = shiftOf(run, section)
      run.isSettled = true
      this.cues.settle(section.shiftTicks)
    }
    if (run.frameTicks.length > 0) this.#settleDelay()
    run.frameTicks = []
    return section
  }

  #settleDelay(): void {
    const { run } = this.memory
    const section = this.sections.at(-1)
    if (section === undefined || run.isDelaySettled) return
    section.delayTicks = delayOf(run)
    run.isDelaySettled = true
  }

  #audio(block: WalkedBlock, { audio, stream }: Extract<Target, { kind: 'audio' }>): void {
    const { memory, splitPoints } = this
    const { nsPerTick } = memory
    const delayTicks = Math.round(stream.delaySeconds * CLOCK_RATE)
    const ticks = clockTicks(block.ticks, nsPerTick) - delayTicks
    const section =
      audio === 0 || memory.needsSection
        ? this.#sectionAt(block, 'audio', ticks)
        : this.sections.at(-1)
    if (section === undefined) return
    const { run } = memory
    if (audio === 0) this.#splitAtAudio(block, section, ticks)
    const start = snapToExpected(stream, run.expected[audio] ?? NaN, {
      ticks: block.ticks,
      nsPerTick,
    })
    splitPoints.addAudio(audio, start)
    memory.sampleCount += block.sizes.length
    const length = block.sizes.reduce((sum, size) => sum + frameDuration(stream, block, size), 0)
    for (let i = run.expected.length; i <= audio; i += 1) run.expected.push(NaN)
    run.expected[audio] = start + length
    if (!run.isSettled) run.originTicks = Math.min(run.originTicks, ticks)
    const declaredTicks = clockTicks(block.durationTicks ?? 0, nsPerTick)
    const counted = Math.round((length / stream.timescale) * CLOCK_RATE)
    const own = Math.round((start / stream.timescale) * CLOCK_RATE)
    run.audioEndTicks = Math.max(run.audioEndTicks, own + (counted || declaredTicks))
    if (audio !== 0) return
    run.lastAudioTicks = ticks
    run.latestTicks = Math.max(run.latestTicks, ticks)
  }

  #splitAtAudio(block: WalkedBlock, section: Section, ticks: number): void {
    const { memory, splitPoints } = this
    const { run } = memory
    const elapsed = this.#elapsed(section, ticks)
    const distances = { toSplitPoint: elapsed, toAnySplitPoint: elapsed }
    const set = this.sets[section.set]
    if (set?.video === undefined) {
      if (isAudioSplit({ ...distances, toVideo: Infinity })) this.#openSplitPoint(block, ticks, 0)
      return
    }
    const end = frameEnd(run, set)
    const toVideo = ticks - (end === -Infinity ? run.originTicks : end)
    const isFinal = toVideo / CLOCK_RATE >= RULES.matroska.audioFinalAfterSeconds
    // Audio next to skipped frames is removed with them at the next key frame.
    const isOrphaned = section.firstFrameAt === Infinity && run.hasUndecodable
    if ((isFinal || !isOrphaned) && isAudioSplit({ ...distances, toVideo })) {
      memory.tentativeFrom = Math.min(memory.tentativeFrom, splitPoints.length)
      this.#openSplitPoint(block, ticks, 0)
    }
    if (isFinal) memory.tentativeFrom = Infinity
  }

  #subtitle(block: WalkedBlock, subtitle: number, ticks: number): void {
    const stream = this.sets[this.memory.set]?.subtitles[subtitle]
    if (stream === undefined || block.payload === undefined) return
    const { run, needsSection, nsPerTick } = this.memory
    const section = this.sections.at(-1)
    const isSettled = !needsSection && run.isSettled && section !== undefined
    this.cues.add({
      stream,
      track: subtitle,
      payload: block.payload,
      startTicks: ticks,
      durationTicks: clockTicks(block.durationTicks ?? 0, nsPerTick),
      ...(isSettled && { shiftTicks: section.shiftTicks }),
    })
  }
}
