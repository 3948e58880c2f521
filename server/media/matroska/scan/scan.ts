// Finds the cuts of a Matroska file, block by block in the order of the file. Whatever it decides rests on bytes before,
// so that a file read in pieces as it grows gives the same as one read at once.
import { createHash } from 'node:crypto'
import { AppError } from '../../../errors.ts'
import {
  SPLIT_DISCONTINUITY,
  SPLIT_KEY_FRAME,
  SPLIT_FORCED,
  MAX_LIMITATIONS,
  type MediaIndex,
} from '../../media-index.ts'
import { CueList } from './cue-list.ts'
import { SplitPointList } from './split-point-list.ts'
import { parseChildren, parseText, parseUnsigned } from '../elements/ebml.ts'
import { DOC_TYPE, EBML_HEAD, INFO, TIMESTAMP_SCALE, TRACKS } from '../elements/element-ids.ts'
import type { WalkVisitor, WalkedBlock } from '../elements/element-walk.ts'
import {
  MAX_SECTIONS,
  MAX_SESSION_SECONDS,
  RULES,
  timelineRules,
} from '../../timeline/timeline-rules.ts'
import { MAX_TRACK_SETS } from '../matroska-limits.ts'
import {
  CLOCK_RATE,
  type Flaw,
  type MatroskaSource,
  type ScanMemory,
  type Section,
  type AudioStreamInfo,
  type TrackSet,
} from '../matroska-source.ts'
import {
  createRun,
  delayOf,
  hasJumped,
  hasMeasured,
  noteFrame,
  frameEnd,
  shiftOf,
} from './section-run.ts'
import { frameTicks, snapped } from './audio-clock.ts'
import { parseTracks } from '../tracks/track-entry.ts'
import { alignSet, chooseTrackSet } from '../tracks/track-set.ts'

const { isAudioSplit, videoSplitFlags } = timelineRules('matroska', CLOCK_RATE)
const MAX_TICKS = MAX_SESSION_SECONDS * CLOCK_RATE
const DEFAULT_SCALE_NS = 1_000_000
const MAX_SCALE_NS = 1_000_000_000
const DOC_TYPES = new Set(['matroska', 'webm'])

/** Ticks of CLOCK_RATE from those of a segment. */
export function clockTicks(ticks: number, nsPerTick: number): number {
  return Math.round(ticks * ((nsPerTick * CLOCK_RATE) / 1e9))
}

type Target =
  | { kind: 'video' }
  | { kind: 'audio'; audio: number; stream: AudioStreamInfo }
  | { kind: 'text'; text: number }

export class Scan implements WalkVisitor {
  readonly memory: Omit<ScanMemory, 'place'>
  readonly sets: TrackSet[]
  readonly sections: Section[]
  readonly splitPoints: SplitPointList
  readonly cues: CueList
  readonly #earlyTracks: Uint8Array | undefined
  #targets = new Map<number, Target>()

  /** Begins anew, or where `previous` ended. `earlyTracks`: a Tracks element that lies behind the first clusters. */
  constructor(previous?: { index: MediaIndex; source: MatroskaSource }, earlyTracks?: Uint8Array) {
    const source = previous?.source
    this.memory = source === undefined ? createMemory() : structuredClone(source.scan)
    this.sets = [...(source?.sets ?? [])]
    this.sections = (source?.sections ?? []).map((section) => ({ ...section }))
    this.splitPoints = new SplitPointList(previous?.index.splitPoints, source?.splitPoints)
    this.cues = new CueList(this.memory, previous?.index.subtitles)
    this.#earlyTracks = earlyTracks
    this.#listTargets()
  }

  segment(): void {
    const { memory } = this
    if (memory.hasSegment) {
      memory.set = -1
      memory.nsPerTick = DEFAULT_SCALE_NS
      memory.awaitsSection = true
      this.#listTargets()
    }
    memory.hasSegment = true
  }

  head(id: number, content: Uint8Array): void {
    if (id === EBML_HEAD) this.#checkDocType(content)
    if (id === INFO) this.#readInfo(content)
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

  wants(track: number): 'nothing' | 'frames' | 'payload' {
    const target = this.#targets.get(track)
    if (target === undefined) return 'nothing'
    return target.kind === 'text' ? 'payload' : 'frames'
  }

  block(block: WalkedBlock): void {
    const target = this.#targets.get(block.track)
    const ticks = clockTicks(block.ticks, this.memory.nsPerTick)
    if (target === undefined || !(Math.abs(ticks) <= MAX_TICKS)) return
    if (target.kind === 'video') this.#frame(block, ticks)
    else if (target.kind === 'audio') this.#audio(block, target)
    else this.#text(block, target.text, ticks)
  }

  damage(from: number, to: number): void {
    const message = `${to - from} bytes that are no Matroska were skipped`
    const seconds = this.endTicks() / CLOCK_RATE
    this.#note({ kind: 'damaged', message, offsetBytes: from, seconds })
  }

  /** Where the session ends, in ticks of CLOCK_RATE on its timeline. */
  endTicks(): number {
    const { run } = this.memory
    const section = this.sections.at(-1)
    if (section === undefined) return 0
    const end = Math.max(frameEnd(run, this.sets[section.set]), run.audioEndTicks)
    return Math.max(end - shiftOf(run, section), this.splitPoints.lastStartTicks + 1)
  }

  #checkDocType(content: Uint8Array): void {
    const docType = [...parseChildren(content)].find(({ id }) => id === DOC_TYPE)
    const name = docType === undefined ? 'matroska' : parseText(docType.content)
    if (DOC_TYPES.has(name) || this.splitPoints.length > 0) return
    const shown = name.slice(0, 32).replaceAll(/[^\x20-\x7e]/g, '?')
    throw new AppError('unplayable', `the file is EBML of the kind '${shown}', not Matroska`)
  }

  #readInfo(content: Uint8Array): void {
    const scale = [...parseChildren(content)].find(({ id }) => id === TIMESTAMP_SCALE)
    const said = scale === undefined ? DEFAULT_SCALE_NS : parseUnsigned(scale.content)
    const nsPerTick = said > 0 && said <= MAX_SCALE_NS ? said : DEFAULT_SCALE_NS
    if (nsPerTick !== this.memory.nsPerTick) this.memory.awaitsSection = true
    this.memory.nsPerTick = nsPerTick
  }

  #readTracks(content: Uint8Array): void {
    const { memory } = this
    const hash = createHash('sha256').update(content).digest('base64')
    if (hash !== memory.tracksHash) {
      this.#addSet(content)
      memory.awaitsSection = true
    }
    memory.tracksHash = hash
    memory.set = this.sets.length - 1
    this.#listTargets()
  }

  #addSet(content: Uint8Array): void {
    if (this.sets.length >= MAX_TRACK_SETS) {
      throw new AppError('unplayable', 'the tracks change too often')
    }
    const chosen = chooseTrackSet(parseTracks(content))
    const { set, refusedVideo, refusedAudioTracks, refusedSubtitles } = chosen
    const [first] = this.sets
    for (const message of refusedAudioTracks) this.#note({ kind: 'sound-left-out', message })
    for (const message of refusedSubtitles) this.#note({ kind: 'text-left-out', message })
    if (first !== undefined) {
      this.sets.push(alignSet(first, set))
      return
    }
    if (refusedVideo !== undefined) throw new AppError('unplayable', refusedVideo)
    if (set.video === undefined && set.audioTracks.length === 0) {
      const reason = refusedAudioTracks[0] ?? 'the file has no pictures and no sound'
      throw new AppError('unplayable', reason)
    }
    this.sets.push(set)
  }

  #listTargets(): void {
    const set = this.sets[this.memory.set]
    const targets = new Map<number, Target>()
    set?.subtitles.forEach(({ number }, text) => targets.set(number, { kind: 'text', text }))
    set?.audioTracks.forEach((stream, audio) => {
      if (stream !== undefined) targets.set(stream.number, { kind: 'audio', audio, stream })
    })
    if (set?.video !== undefined) targets.set(set.video.number, { kind: 'video' })
    this.#targets = targets
  }

  #openSection(block: WalkedBlock, frames: 'await key' | 'go on'): Section {
    const { memory, sections, splitPoints } = this
    if (sections.length >= MAX_SECTIONS) {
      throw new AppError('unplayable', 'the time stamps break too often')
    }
    const startTicks = sections.length === 0 ? 0 : this.endTicks()
    if (sections.length > 0) this.#settle()
    const section: Section = {
      firstSplitPoint: splitPoints.length,
      set: memory.set,
      nsPerTick: memory.nsPerTick,
      shiftTicks: 0,
      delayTicks: 0,
      firstFrameAt: frames === 'go on' ? 0 : Infinity,
    }
    memory.tentativeFrom = Infinity
    memory.awaitsSection = false
    memory.run = createRun(startTicks, memory.hasOrphans)
    memory.hasOrphans = false
    sections.push(section)
    splitPoints.open(block, startTicks, sections.length > 1 ? SPLIT_DISCONTINUITY : 0)
    return section
  }

  /** The section a block belongs to: the open one, or a new one where the time stamps jump. */
  #sectionAt(block: WalkedBlock, kind: 'video' | 'audio', ticks: number): Section {
    const last = this.sections.at(-1)
    if (last === undefined || this.memory.awaitsSection)
      return this.#openSection(block, 'await key')
    if (!hasJumped(this.memory.run, { kind, ticks }, this.sets[last.set])) return last
    const goesOn = last.firstFrameAt !== Infinity
    const seconds = ((ticks - this.memory.run.latestTicks) / CLOCK_RATE).toFixed(1)
    this.#note({
      kind: 'gap',
      message: `the time stamps jump by ${seconds} s`,
      offsetBytes: block.position,
      seconds: this.endTicks() / CLOCK_RATE,
    })
    return this.#openSection(block, goesOn ? 'go on' : 'await key')
  }

  #frame(block: WalkedBlock, ticks: number): void {
    const { memory, splitPoints } = this
    if (memory.awaitsSection && !block.isKey) {
      memory.hasOrphans = true
      memory.hasSeenOrphan = true
      return
    }
    const isAwaited = this.sections.at(-1)?.firstFrameAt === Infinity
    if (isAwaited && !memory.awaitsSection && !block.isKey) {
      memory.run.hasOrphans = true
      memory.hasSeenOrphan = true
      return
    }
    const section = this.#sectionAt(block, 'video', ticks)
    this.#dropTentative()
    if (section.firstFrameAt === Infinity) this.#beginFrames(block, section)
    this.#splitAtFrame(block, section, ticks)
    splitPoints.noteFrame(ticks)
    const durationTicks = clockTicks(block.durationTicks ?? 0, memory.nsPerTick)
    noteFrame(memory.run, { ticks, durationTicks, isKey: block.isKey })
    if (hasMeasured(memory.run)) this.#settleDelay()
    memory.hasSeenFrame = true
  }

  /** The first key frame. Sound before it is kept only where no picture is lost. */
  #beginFrames(block: WalkedBlock, section: Section): void {
    const { memory, splitPoints } = this
    section.firstFrameAt = block.position
    if (!memory.run.hasOrphans || splitPoints.length - 1 !== section.firstSplitPoint) return
    const { startTicks } = memory.run
    splitPoints.dropFrom(section.firstSplitPoint)
    memory.run = createRun(startTicks, false)
    splitPoints.open(block, startTicks, section.firstSplitPoint > 0 ? SPLIT_DISCONTINUITY : 0)
  }

  #dropTentative(): void {
    this.splitPoints.dropFrom(this.memory.tentativeFrom)
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
    else if (!block.isKey && (splitPoints.lastFlags & SPLIT_FORCED) !== 0)
      splitPoints.lowerStart(ticks - shiftOf(run, section))
  }

  /** Ticks since the start of the last split point. */
  #elapsed(section: Section, ticks: number): number {
    const { run } = this.memory
    if (run.isSettled) return ticks - section.shiftTicks - this.splitPoints.lastStartTicks
    return run.originTicks === Infinity ? 0 : ticks - run.originTicks
  }

  /** Opens a cut that is not the first of its section. */
  #openSplitPoint(block: WalkedBlock, ticks: number, flags: number): void {
    const section = this.#settle()
    this.splitPoints.open(block, ticks - (section?.shiftTicks ?? 0), flags)
  }

  /** With its first cut over, a section's place on the timeline stays as it is. */
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
      audio === 0 || memory.awaitsSection
        ? this.#sectionAt(block, 'audio', ticks)
        : this.sections.at(-1)
    if (section === undefined) return
    const { run } = memory
    if (audio === 0) this.#splitAtAudio(block, section, ticks)
    const start = snapped(stream, run.expected[audio] ?? NaN, { ticks: block.ticks, nsPerTick })
    splitPoints.noteAudio(audio, start)
    const length = block.sizes.reduce((sum, size) => sum + frameTicks(stream, block, size), 0)
    for (let i = run.expected.length; i <= audio; i += 1) run.expected.push(NaN)
    run.expected[audio] = start + length
    if (!run.isSettled) run.originTicks = Math.min(run.originTicks, ticks)
    const told = clockTicks(block.durationTicks ?? 0, nsPerTick)
    const counted = Math.round((length / stream.timescale) * CLOCK_RATE)
    const own = Math.round((start / stream.timescale) * CLOCK_RATE)
    run.audioEndTicks = Math.max(run.audioEndTicks, own + (counted || told))
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
    // Audio beside lost frames is removed with them at the next key frame.
    const isOrphaned = section.firstFrameAt === Infinity && run.hasOrphans
    if ((isFinal || !isOrphaned) && isAudioSplit({ ...distances, toVideo })) {
      memory.tentativeFrom = Math.min(memory.tentativeFrom, splitPoints.length)
      this.#openSplitPoint(block, ticks, 0)
    }
    if (isFinal) memory.tentativeFrom = Infinity
  }

  #note(flaw: Flaw): void {
    if (this.memory.flaws.length < MAX_LIMITATIONS - 1) this.memory.flaws.push(flaw)
  }

  #text(block: WalkedBlock, text: number, ticks: number): void {
    const stream = this.sets[this.memory.set]?.subtitles[text]
    if (stream === undefined || block.payload === undefined) return
    const { run, awaitsSection, nsPerTick } = this.memory
    const section = this.sections.at(-1)
    const isSettled = !awaitsSection && run.isSettled && section !== undefined
    this.cues.add({
      stream,
      text,
      payload: block.payload,
      startTicks: ticks,
      durationTicks: clockTicks(block.durationTicks ?? 0, nsPerTick),
      ...(isSettled && { shiftTicks: section.shiftTicks }),
    })
  }
}

function createMemory(): Omit<ScanMemory, 'place'> {
  return {
    nsPerTick: DEFAULT_SCALE_NS,
    set: -1,
    tracksHash: '',
    hasSegment: false,
    awaitsSection: true,
    hasOrphans: false,
    run: createRun(0, false),
    tentativeFrom: Infinity,
    firstClusterEnd: Infinity,
    hasSeenFrame: false,
    hasSeenOrphan: false,
    pendingCues: [],
    settledCues: [],
    cueCount: 0,
    cueCharacters: 0,
    flaws: [],
  }
}
