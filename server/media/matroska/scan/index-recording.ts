// Reads a Matroska file, or what was added to it, and makes the index that playlists and segments are cut by.
import { AppError } from '../../../errors.ts'
import { readAhead } from '../../../storage/read-ahead.ts'
import type { OpenFile } from '../../../storage/storage.ts'
import { durationSeconds } from '../../media-index.ts'
import type { Growth, MediaIndex, RecordingLimitation } from '../../media-index.ts'
import { describeGrowth } from '../../timeline/growth.ts'
import { TRACKS } from '../elements/element-ids.ts'
import { ElementWalk, IDLE_VISITOR, type WalkPlace } from '../elements/element-walk.ts'
import { readVideoConfig } from '../tracks/key-frame.ts'
import { WINDOW_BYTES } from '../matroska-limits.ts'
import type { MatroskaSource, Section, TrackSet } from '../matroska-source.ts'
import { Scan } from './scan.ts'
import { delayOf, shiftOf } from './section-run.ts'
import { describeTracks } from '../tracks/track-set.ts'
import { withVideoConfig } from '../tracks/video-stream.ts'
import { walkFile } from '../elements/walk-file.ts'

const START: WalkPlace = { position: 0, clusterTicks: 0, clusterEnd: Infinity, lostFrom: -1 }
const TRUNCATED = 'the file ends in the middle of an element'

/** Reads the index; with `previous` only what was added. Throws AppError `unplayable` with its reason. */
export async function indexMatroska(
  file: OpenFile,
  signal: AbortSignal,
  previous?: MediaIndex,
): Promise<MediaIndex> {
  const known = knownPart(file, previous)
  const scan = new Scan(known, known ? undefined : await findTracks(file, signal))
  const start = known?.source.scan.place ?? START
  const walk = new ElementWalk(start, { end: file.stat.sizeBytes }, scan)
  await walkFile(readAhead(file), walk, { windowBytes: WINDOW_BYTES, signal })
  const place = walk.place()
  const index = await finishIndex(file, scan, place)
  const end = describeEnd(place, file.stat.sizeBytes, durationSeconds(index))
  const limitations: RecordingLimitation[] = end ? [...scan.memory.flaws, end] : scan.memory.flaws
  return limitations.length > 0 ? { ...index, limitations } : index
}

/** Where the walk did not come to the end of the file. */
function describeEnd(
  { lostFrom, position }: WalkPlace,
  sizeBytes: number,
  seconds: number,
): RecordingLimitation | undefined {
  if (lostFrom >= 0) {
    const message = `${sizeBytes - lostFrom} bytes at the end are no Matroska`
    return { kind: 'damaged', message, offsetBytes: lostFrom, seconds }
  }
  if (position >= sizeBytes) return undefined
  return { kind: 'cut-off', message: TRUNCATED, offsetBytes: position }
}

/** The previous index, where the file is as long as it was or longer. */
function knownPart(
  file: OpenFile,
  previous: MediaIndex | undefined,
): { index: MediaIndex; source: MatroskaSource } | undefined {
  if (previous?.source.container !== 'matroska') return undefined
  const { source } = previous
  return source.scan.place.position <= file.stat.sizeBytes ? { index: previous, source } : undefined
}

/** The first Tracks, where it lies behind the clusters; those in front the scan meets itself. */
async function findTracks(file: OpenFile, signal: AbortSignal): Promise<Uint8Array | undefined> {
  let tracks: Uint8Array | undefined
  let hasCluster = false
  const walk = new ElementWalk(
    START,
    { end: file.stat.sizeBytes, clusters: 'skip' },
    {
      ...IDLE_VISITOR,
      head(id, content) {
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

async function finishIndex(file: OpenFile, scan: Scan, place: WalkPlace): Promise<MediaIndex> {
  const { memory, splitPoints } = scan
  const [first] = scan.sets
  if (first === undefined)
    throw new AppError('unplayable', 'the file ends before its list of tracks')
  const isWithoutKey = memory.hasSeenOrphan && !memory.hasSeenFrame
  if (isWithoutKey) throw new AppError('unplayable', 'the video has no key frame')
  if (splitPoints.length === 0)
    throw new AppError('unplayable', 'the file has no pictures and no sound')
  const sections = finishSections(scan)
  const source: MatroskaSource = {
    container: 'matroska',
    sets: scan.sets,
    sections,
    splitPoints: splitPoints.places(),
    endOffset: place.position,
    scan: { ...memory, place },
  }
  await completeSets(file, source)
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

/** The sections with what holds of the last one so far. */
function finishSections({ sections, memory }: Scan): Section[] {
  const { run } = memory
  return sections.map((section) => {
    if (section !== sections.at(-1)) return section
    const delayTicks = run.isDelaySettled ? section.delayTicks : delayOf(run)
    return { ...section, shiftTicks: shiftOf(run, section), delayTicks }
  })
}

/** Makes the set-ups that only the first key frames tell. */
async function completeSets(file: OpenFile, source: MatroskaSource): Promise<void> {
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
      const reason = `the video (${codecName}) has no readable set-up in its first key frame`
      throw new AppError('unplayable', reason)
    }
    source.sets[i] = { ...set, video: complete } satisfies TrackSet
  }
}

/** The last split point, and those that the next frame may remove, are not stable. */
function growthOf({ memory, splitPoints }: Scan, { splitPoints: places }: MatroskaSource): Growth {
  const stableSplitPoints = Math.max(0, Math.min(splitPoints.length, memory.tentativeFrom) - 1)
  const [from = 0, second = 0] = places.offsets
  // The size of a cluster is written when the cluster is complete.
  const to = Math.min(second, memory.firstClusterEnd)
  return describeGrowth(stableSplitPoints, { from, to })
}
