// Reads an FLV file once, or what was added to it, and makes the index that playlists and segments are cut by.
import { AppError } from '../../errors.ts'
import { tellAhead } from '../../storage/read-ahead.ts'
import type { OpenFile } from '../../storage/storage.ts'
import { videoSetUp } from '../codec/sample-entry.ts'
import type { Growth, MediaIndex, Track } from '../media-index.ts'
import { ByteWindow } from './byte-window.ts'
import { findKeyPicture, VIDEO_TIMESCALE } from './flv-segment.ts'
import type { FlvSection, FlvSetUp, FlvSource, VideoSetUpRecord } from './flv-source.ts'
import { readPictureSize, SIZE_SEARCH_BYTES } from './picture-size.ts'
import { resumeScan, startScan } from './scan-state.ts'
import type { ScanState } from './scan-progress.ts'
import type { Scan } from './scan-state.ts'
import { scanTags } from './scan.ts'
import { describeSound } from './sound-set-up.ts'

/** Bytes that tell a recording from others; see Growth. */
const MAX_STABLE_BYTES = 64 * 1024
const CODEC_NAMES = new Map([
  ['h264', 'H.264'],
  ['hevc', 'HEVC'],
  ['av1', 'AV1'],
  ['vp9', 'VP9'],
])

/**
 * Reads the index; with `previous` only what lies behind what that one has read. Throws AppError `unplayable` with a
 * reason that a person understands.
 */
export async function readFlvIndex(
  file: OpenFile,
  signal: AbortSignal,
  previous?: MediaIndex,
): Promise<MediaIndex> {
  signal.throwIfAborted()
  const { sizeBytes } = file.stat
  const known = previous?.source.container === 'flv' ? previous.source : undefined
  const isLonger = known !== undefined && known.sizeBytes <= sizeBytes
  const scan = isLonger && previous ? resumeScan(known, previous.cuts) : startScan()
  const window = new ByteWindow(tellAhead(file), { limit: sizeBytes, signal })
  const resume = await scanTags(window, scan)
  checkPlayable(scan)
  const source = createSource(scan, sizeBytes, resume)
  const cuts = {
    timescale: VIDEO_TIMESCALE,
    startTicks: Float64Array.from(scan.cuts.startMs),
    endTicks: Math.max(scan.state.endMs, scan.state.lastCutMs + 1),
    flags: Uint8Array.from(scan.cuts.flags),
  }
  await findSizes(file, source, cuts)
  const { flaws } = scan.state
  return {
    tracks: describeTracks(source),
    cuts,
    ...(flaws.length > 0 && { notes: flaws }),
    growth: findGrowth(source),
    source,
  }
}

function checkPlayable({ state, sections }: Scan): void {
  const { counts } = state
  const hasPictures = sections.some(({ video }) => video !== undefined)
  if (counts.otherVideo !== undefined && !hasPictures) {
    const reason = `the video is ${counts.otherVideo}, which no browser plays in HLS`
    throw new AppError('unplayable', reason)
  }
  if (sections.length > 0) return
  throw new AppError('unplayable', noCutReason(state))
}

function noCutReason({ counts }: ScanState): string {
  const { pictures, encrypted, bareVideo, otherSound } = counts
  if (encrypted > 0) return 'the recording is encrypted'
  if (pictures > 0) return 'the video has no key frame'
  if (bareVideo !== undefined) {
    const name = CODEC_NAMES.get(bareVideo) ?? bareVideo
    return `the video (${name}) lacks its decoder set-up (sequence header)`
  }
  if (otherSound !== undefined) return `the sound is ${otherSound}, which no browser plays in HLS`
  return 'the file has no video or sound'
}

function createSource(scan: Scan, sizeBytes: number, resume: ScanState): FlvSource {
  return {
    container: 'flv',
    sizeBytes,
    offsets: Float64Array.from(scan.cuts.offsets),
    leadMs: Int32Array.from(scan.cuts.leadMs),
    soundEnds: Float64Array.from(scan.cuts.soundEnds),
    sections: scan.sections,
    setUps: scan.setUps,
    videoClock: Float64Array.from(scan.videoClock),
    soundClock: Float64Array.from(scan.soundClock),
    trackIds: { video: scan.state.video.trackId, sound: scan.state.sound.trackId },
    resume,
  }
}

/** Fills in the sizes that only key frames tell. */
async function findSizes(
  file: OpenFile,
  source: FlvSource,
  cuts: MediaIndex['cuts'],
): Promise<void> {
  for (const [number, setUp] of source.setUps.entries()) {
    const section = source.sections.find(({ video }) => video === number)
    if (section === undefined || !needsSize(setUp)) continue
    const picture = await findKeyPicture(file, { source, cuts }, section.firstCut)
    const size = picture && readPictureSize(setUp.codec, picture.subarray(0, SIZE_SEARCH_BYTES))
    if (size !== undefined) source.setUps[number] = { ...setUp, ...size }
  }
}

function needsSize(setUp: FlvSetUp): setUp is VideoSetUpRecord & { codec: 'av1' | 'vp9' } {
  if (setUp.kind !== 'video' || setUp.width > 0) return false
  return setUp.codec === 'av1' || setUp.codec === 'vp9'
}

/** The first set-up of pictures, and of sound. */
function describeTracks({ sections, setUps }: FlvSource): Track[] {
  const used = (key: 'video' | 'sound') => {
    const number = sections.find((section: FlvSection) => section[key] !== undefined)?.[key]
    return number === undefined ? undefined : setUps[number]
  }
  const video = used('video')
  const sound = used('sound')
  const tracks: Track[] = []
  const picture = video?.kind === 'video' ? videoSetUp(video.codec, video) : undefined
  if (picture !== undefined) {
    const { codec, codecName, width, height } = picture
    tracks.push({ kind: 'video', codec, codecName, width, height, rotationDegrees: 0 })
  }
  if (sound?.kind === 'sound') tracks.push(describeSound(sound))
  return tracks
}

function findGrowth({ offsets, resume }: FlvSource): Growth {
  const stableCuts = resume.lengths.cuts
  const offset = offsets[0] ?? 0
  const length = Math.min(MAX_STABLE_BYTES, (offsets[1] ?? offset) - offset)
  return { stableCuts, stableRange: { offset, length: stableCuts < 2 ? 0 : length } }
}
