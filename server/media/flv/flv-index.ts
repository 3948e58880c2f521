// Indexes an FLV file, or the bytes added to it.
import { UnplayableError } from '../../base/errors.ts'
import type { UnplayableReason } from '../../base/problem.ts'
import { withReadHints } from '../../storage/recordings/read-ahead.ts'
import type { OpenFile } from '../../storage/recordings/storage.ts'
import { finishSets } from '../codec/parameter-sets.ts'
import { videoConfig } from '../codec/sample-entry.ts'
import { VIDEO_FORMATS } from '../codec/video-codecs.ts'
import type { Growth, MediaIndex, Track } from '../media-index.ts'
import { ReadWindow } from '../../storage/recordings/read-window.ts'
import { describeGrowth, tableOf } from '../timeline/split-points.ts'
import { withSegmentLimits } from '../timeline/segment-limits.ts'
import { WINDOW_BYTES } from './flv-limits.ts'
import { findKeyFrame, VIDEO_TIMESCALE } from './flv-segment.ts'
import type {
  FlvConfig,
  FlvSection,
  FlvSource,
  ScanState,
  VideoConfigRecord,
} from './flv-source.ts'
import { readFrameSize } from './video-config.ts'
import { isOpen } from './scan-section.ts'
import { resumeScan, startScan } from './scan-state.ts'
import type { Scan } from './scan-state.ts'
import { scanTags } from './scan.ts'
import { describeAudio } from './audio-config.ts'

/** Builds the index; with `previous`, reads only the bytes after it. */
export async function readFlvIndex(
  file: OpenFile,
  signal: AbortSignal,
  previous?: MediaIndex,
): Promise<MediaIndex> {
  signal.throwIfAborted()
  const { sizeBytes } = file.stat
  const known = previous?.source.container === 'flv' ? previous.source : undefined
  const isLonger = known !== undefined && known.sizeBytes <= sizeBytes
  const scan = isLonger && previous ? resumeScan(known, previous.splitPoints) : startScan()
  const window = new ReadWindow(withReadHints(file), { readBytes: WINDOW_BYTES, signal })
  const resume = await scanTags(window, scan)
  checkPlayable(scan)
  const source = createSource(scan, sizeBytes, resume)
  const { startMs: startTicks, flags } = scan.splitPoints
  const splitPoints = tableOf(
    { startTicks, flags },
    { timescale: VIDEO_TIMESCALE, endTicks: scan.state.endMs },
  )
  await findSizes(file, source, splitPoints)
  const { flaws, counts } = scan.state
  const index: MediaIndex = {
    tracks: describeTracks(source),
    splitPoints,
    ...(flaws.length > 0 && { limitations: flaws }),
    growth: growthOf(source, splitPoints.flags),
    source,
  }
  return withSegmentLimits(index, { before: source.sampleCounts, total: counts.samples })
}

function checkPlayable({ state, sections }: Scan): void {
  const { counts } = state
  const hasVideo = sections.some(({ video }) => video !== undefined)
  if (counts.otherVideo !== undefined && !hasVideo) {
    throw new UnplayableError({ code: 'video-codec-unsupported', codec: counts.otherVideo })
  }
  if (sections.length > 0) return
  throw new UnplayableError(noSplitPointReason(state))
}

function noSplitPointReason({ counts }: ScanState): UnplayableReason {
  const { frames, encrypted, bareVideo, otherAudio } = counts
  if (encrypted > 0) return { code: 'encrypted' }
  if (frames > 0) return { code: 'key-frame-missing' }
  if (bareVideo !== undefined) {
    const codec = VIDEO_FORMATS[bareVideo].codecName
    return { code: 'video-config-missing', codec, box: 'sequence header' }
  }
  if (otherAudio !== undefined) return { code: 'audio-codec-unsupported', codec: otherAudio }
  return { code: 'tracks-missing' }
}

function createSource(scan: Scan, sizeBytes: number, resume: ScanState): FlvSource {
  const sets = finishSets(scan.sets)
  return {
    container: 'flv',
    sizeBytes,
    offsets: Float64Array.from(scan.splitPoints.offsets),
    leadMs: Int32Array.from(scan.splitPoints.leadMs),
    audioEnds: Float64Array.from(scan.splitPoints.audioEnds),
    sampleCounts: Float64Array.from(scan.splitPoints.sampleCounts),
    sections: scan.sections,
    configs: scan.configs,
    videoClock: Float64Array.from(scan.videoClock),
    audioClock: Float64Array.from(scan.audioClock),
    trackIds: { video: scan.state.video.trackId, audio: scan.state.audio.trackId },
    ...(sets && { sets }),
    resume,
  }
}

/** Fills in the sizes that only key frames contain. */
async function findSizes(
  file: OpenFile,
  source: FlvSource,
  splitPoints: MediaIndex['splitPoints'],
): Promise<void> {
  for (const [number, config] of source.configs.entries()) {
    const section = source.sections.find(({ video }) => video === number)
    if (section === undefined || !needsSize(config)) continue
    const frame = await findKeyFrame(file, { source, splitPoints }, section.firstSplitPoint)
    const size = frame && readFrameSize(config.codec, frame)
    if (size !== undefined) source.configs[number] = { ...config, ...size }
  }
}

function needsSize(config: FlvConfig): config is VideoConfigRecord & { codec: 'av1' | 'vp9' } {
  if (config.kind !== 'video' || config.width > 0) return false
  return config.codec === 'av1' || config.codec === 'vp9'
}

/** The first configurations of video and audio. */
function describeTracks({ sections, configs }: FlvSource): Track[] {
  const used = (key: 'video' | 'audio') => {
    const number = sections.find((section: FlvSection) => section[key] !== undefined)?.[key]
    return number === undefined ? undefined : configs[number]
  }
  const video = used('video')
  const audio = used('audio')
  const tracks: Track[] = []
  const frame = video?.kind === 'video' ? videoConfig(video.codec, video) : undefined
  if (frame !== undefined) {
    const { codec, codecName, width, height } = frame
    tracks.push({ kind: 'video', codec, codecName, width, height, rotationDegrees: 0 })
  }
  if (audio?.kind === 'audio') tracks.push(describeAudio(audio))
  return tracks
}

function growthOf({ offsets, resume }: FlvSource, flags: Uint8Array): Growth {
  const [from = 0, to = from] = offsets
  const count = resume.lengths.splitPoints
  const stable = isOpen(flags[count - 1], resume) ? count - 1 : count
  return describeGrowth(stable, { from, to })
}
