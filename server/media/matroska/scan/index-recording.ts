// Indexes a Matroska file, from its start or from the index of a shorter file.
import { readAhead } from '../../../storage/recordings/read-ahead.ts'
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import { durationSeconds, type Growth, type MediaIndex } from '../../media-index.ts'
import { describeGrowth } from '../../timeline/split-points.ts'
import { withSegmentLimits } from '../../timeline/segment-limits.ts'
import { TRACKS } from '../elements/element-ids.ts'
import { ElementWalk } from '../elements/element-walk.ts'
import { NO_OP_VISITOR, type WalkState } from '../elements/walk-visitor.ts'
import { readVideoConfig } from '../tracks/key-frame.ts'
import { WINDOW_BYTES } from '../matroska-limits.ts'
import type { MatroskaSource, Section, TrackSet } from '../matroska-source.ts'
import { UnplayableError } from '../../../base/errors.ts'
import type { Limitation } from '../../../base/problem.ts'
import { Scan } from './scan.ts'
import { delayOf, shiftOf } from './scan-memory.ts'
import { describeTracks } from '../tracks/track-set.ts'
import { withVideoConfig } from '../tracks/video-stream.ts'
import { walkFile } from '../elements/walk-file.ts'

const INITIAL_STATE: WalkState = {
  position: 0,
  clusterTicks: 0,
  clusterEnd: Infinity,
  corruptFrom: -1,
}

/**
 * Indexes the file; with `previous`, only the appended bytes. Throws UnplayableError with the
 * reason.
 */
export async function indexMatroska(
  file: OpenFile,
  signal: AbortSignal,
  previous?: MediaIndex,
): Promise<MediaIndex> {
  const known = resumableIndex(file, previous)
  const scan = new Scan(known, known ? undefined : await findTracks(file, signal))
  const start = known?.source.scan.walkState ?? INITIAL_STATE
  const walk = new ElementWalk(start, { end: file.stat.sizeBytes }, scan)
  await walkFile(readAhead(file), walk, { windowBytes: WINDOW_BYTES, signal })
  const walkState = walk.walkState()
  const index = await buildIndex(file, scan, walkState)
  const end = describeEnd(walkState, file.stat.sizeBytes, durationSeconds(index))
  const limitations: Limitation[] = end
    ? [...scan.memory.limitations, end]
    : scan.memory.limitations
  const described = limitations.length > 0 ? { ...index, limitations } : index
  return withSegmentLimits(described, {
    before: scan.splitPoints.sampleCounts,
    total: scan.memory.sampleCount,
  })
}

/** The limitation for a walk that did not reach the end of the file. */
function describeEnd(
  { corruptFrom, position }: WalkState,
  sizeBytes: number,
  seconds: number,
): Limitation | undefined {
  if (corruptFrom >= 0) {
    const lengthBytes = sizeBytes - corruptFrom
    return { code: 'corrupt', lengthBytes, offsetBytes: corruptFrom, seconds }
  }
  if (position >= sizeBytes) return undefined
  return { code: 'truncated', unit: 'element', offsetBytes: position }
}

/** The previous index, unless the file became shorter. */
function resumableIndex(
  file: OpenFile,
  previous: MediaIndex | undefined,
): { index: MediaIndex; source: MatroskaSource } | undefined {
  if (previous?.source.container !== 'matroska') return undefined
  const { source } = previous
  return source.scan.walkState.position <= file.stat.sizeBytes
    ? { index: previous, source }
    : undefined
}

/** The first Tracks element if it is after the clusters; the scan itself finds one before them. */
async function findTracks(file: OpenFile, signal: AbortSignal): Promise<Uint8Array | undefined> {
  let tracks: Uint8Array | undefined
  let hasCluster = false
  const walk = new ElementWalk(
    INITIAL_STATE,
    { end: file.stat.sizeBytes, clusters: 'skip' },
    {
      ...NO_OP_VISITOR,
      header(id, content) {
        if (id !== TRACKS) return
        if (hasCluster) tracks = content.slice()
        walk.stop()
      },
      cluster: () => {
        hasCluster = true
      },
    },
  )
  await walkFile(file, walk, { windowBytes: WINDOW_BYTES, signal })
  return tracks
}

async function buildIndex(file: OpenFile, scan: Scan, walkState: WalkState): Promise<MediaIndex> {
  const { memory, splitPoints } = scan
  const [first] = scan.sets
  if (first === undefined) throw new UnplayableError({ code: 'track-list-missing' })
  const isWithoutKey = memory.hasSeenUndecodable && !memory.hasSeenFrame
  if (isWithoutKey) throw new UnplayableError({ code: 'key-frame-missing' })
  if (splitPoints.length === 0) throw new UnplayableError({ code: 'tracks-missing' })
  const sections = finishSections(scan)
  const source: MatroskaSource = {
    container: 'matroska',
    sets: scan.sets,
    sections,
    splitPoints: splitPoints.locations(),
    endOffset: walkState.position,
    scan: { ...memory, walkState },
  }
  await addVideoConfigs(file, source)
  const video = memory.hasSeenFrame ? source.sets[0]?.video : undefined
  const subtitles = scan.cues.tracks(first.subtitles, sections.at(-1)?.shiftTicks ?? 0)
  source.scan.settledCues = memory.settledCues
  return {
    tracks: describeTracks(video, first),
    ...(subtitles.length > 0 && { subtitles }),
    splitPoints: splitPoints.table(scan.endTicks()),
    growth: growthOf(scan, source),
    source,
  }
}

/** All sections, the last one with its provisional times. */
function finishSections({ sections, memory }: Scan): Section[] {
  const { run } = memory
  return sections.map((section) => {
    if (section !== sections.at(-1)) return section
    const delayTicks = run.isDelaySettled ? section.delayTicks : delayOf(run)
    return { ...section, shiftTicks: shiftOf(run, section), delayTicks }
  })
}

/** Adds the codec configurations that only the first key frames contain. */
async function addVideoConfigs(file: OpenFile, source: MatroskaSource): Promise<void> {
  for (const [i, set] of source.sets.entries()) {
    const { video } = set
    if (video === undefined || video.config !== undefined) continue
    const section = source.sections.find(
      ({ set: used, firstFrameAt }) => used === i && firstFrameAt !== Infinity,
    )
    if (section === undefined) continue
    const config = await readVideoConfig(file, source, { section, video })
    const complete = config && withVideoConfig(video, config)
    if (complete === undefined) {
      const { codecName } = video.described
      throw new UnplayableError({ code: 'video-config-invalid', codec: codecName })
    }
    source.sets[i] = { ...set, video: complete } satisfies TrackSet
  }
}

/**
 * The last split point, and those that the next frame may remove, are not stable, nor is anything
 * while listed video is missing.
 */
function growthOf(
  { memory, splitPoints }: Scan,
  { splitPoints: locations, sets }: MatroskaSource,
): Growth {
  const isOpen = sets[0]?.video !== undefined && !memory.hasSeenFrame
  const known = Math.max(0, Math.min(splitPoints.length, memory.tentativeFrom) - 1)
  const stableSplitPoints = isOpen ? 0 : known
  const [from = 0, second = 0] = locations.offsets
  // The size of a cluster is written when the cluster is complete.
  const to = Math.min(second, memory.firstClusterEnd)
  return describeGrowth(stableSplitPoints, { from, to })
}
