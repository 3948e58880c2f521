// Reads an MPEG-TS file once, and makes the index that playlists and segments are cut by.
import { AppError } from '../../errors.ts'
import type { OpenFile } from '../../storage/storage.ts'
import { CUT_BREAK, CUT_KEY } from '../media-index.ts'
import type { AudioTrack, MediaIndex, Track, VideoTrack } from '../media-index.ts'
import { findAudioFrame, framesSeconds } from '../codec/audio-frame.ts'
import type { AudioFraming } from '../codec/audio-frame.ts'
import type { TsFile } from './packet-walk.ts'
import { PES_TIMESCALE } from './pes.ts'
import { readPesPayload } from './pes-read.ts'
import { probeFile } from './probe.ts'
import type { Probe } from './probe.ts'
import { scanFile } from './scan.ts'
import type { Scan } from './scan.ts'
import type { ScanSection } from './scan-state.ts'
import { buildOwnTables } from './served-program.ts'
import type { AudioStream, ServedStreams } from './served-program.ts'
import { layTimeline } from './timeline.ts'
import type { TsSection, TsSource } from './ts-source.ts'
import { parseVideoParameters } from '../codec/video-parameters.ts'

/** Recovery points become cuts where no key frame comes for so long. */
const MAX_KEY_WAIT_TICKS = 30 * PES_TIMESCALE
/** A PES packet of sound is a few kilobytes; one larger is not read in whole. */
const MAX_SOUND_PES_BYTES = 1024 * 1024

/** Reads the index. Throws AppError `unplayable` with a reason that a person understands. */
export async function readTsIndex(file: OpenFile, signal: AbortSignal): Promise<MediaIndex> {
  const probe = await probeFile(file, signal)
  const scan = await scanForCuts(probe, signal)
  const sounds = await readSounds(probe.tsFile, scan, signal)
  const sections = scan.sections.map((section, i) => finishSection(section, sounds[i]))
  const timeline = layTimeline(
    scan.cuts,
    scan.sections,
    sounds.map((sound) => sound?.endPts),
  )
  return {
    tracks: describeTracks(scan, sounds),
    cuts: { timescale: PES_TIMESCALE, ...timeline, flags: cutFlags(scan) },
    source: createSource(probe.tsFile, scan, sections),
  }
}

/** Scans with what the probe found, and once more where that turns out not to be there. */
async function scanForCuts(probe: Probe, signal: AbortSignal): Promise<Scan> {
  const { tsFile, program, framesOf } = probe
  const run = (served: ServedStreams, recoveryPoints: 'cut' | 'pass') =>
    scanFile(tsFile, { program, served, framesOf, recoveryPoints }, signal)
  let scan = await run(probe.served, 'pass')
  const { keys, recoveryPoints, longestWaitTicks, pictures, scrambled } = scan.counts
  if (recoveryPoints > 0 && (keys === 0 || longestWaitTicks > MAX_KEY_WAIT_TICKS)) {
    scan = await run(probe.served, 'cut')
  }
  if (pictures === 0 && scrambled === 0 && probe.served.audio !== undefined) {
    // A table may promise pictures that never come; what is there is served as sound.
    if (probe.served.video !== undefined) scan = await run({ audio: probe.served.audio }, 'pass')
  }
  if (scan.cuts.offsets.length === 0) throw new AppError('unplayable', noCutReason(scan, probe))
  return scan
}

function noCutReason({ counts }: Scan, { served }: Probe): string {
  if (counts.pictures === 0 && counts.scrambled > 0) return 'the recording is encrypted'
  if (served.video === undefined || counts.pictures === 0) return 'the file has no video or sound'
  return 'the video has no key frame'
}

/** Sound at the end of a section. */
interface SectionSound {
  track: AudioTrack
  /** When the sound ends, in ticks of the recording's clock. */
  endPts: number
}

/** Per section its sound; undefined where there is none that can be read. */
async function readSounds(
  tsFile: TsFile,
  scan: Scan,
  signal: AbortSignal,
): Promise<(SectionSound | undefined)[]> {
  const sounds: (SectionSound | undefined)[] = []
  for (const section of scan.sections) {
    signal.throwIfAborted()
    const { audio } = section.served
    sounds.push(audio && (await readSound(tsFile, section, { audio, to: scan.endOffset })))
  }
  return sounds
}

async function readSound(
  tsFile: TsFile,
  { sound }: ScanSection,
  { audio, to }: { audio: AudioStream; to: number },
): Promise<SectionSound | undefined> {
  if (sound === undefined) return undefined
  const payload = await readPesPayload(tsFile, {
    pid: audio.pid,
    from: sound.position,
    to,
    limitBytes: MAX_SOUND_PES_BYTES,
  })
  const framing: AudioFraming = audio.codec === 'aac' ? 'aac' : 'mpeg'
  const frame = payload && findAudioFrame(framing, payload)
  if (payload === undefined || frame === undefined || frame === 'other') return undefined
  const { codec, channels, sampleRate } = frame
  const codecName = audio.codec === 'aac' ? 'AAC' : 'MP3'
  const seconds = framesSeconds(framing, payload)
  return {
    track: { kind: 'audio', codec, codecName, channels, sampleRate },
    endPts: sound.pts + Math.round(seconds * PES_TIMESCALE),
  }
}

/** The section as segments need it. Where promised sound never comes, the tables do not list it. */
function finishSection(section: ScanSection, sound: SectionSound | undefined): TsSection {
  const { program, firstCut, parameterSets } = section
  const { video, audio } = section.served
  const served: ServedStreams = { ...(video && { video }), ...(audio && sound && { audio }) }
  const isVerbatim = section.isVerbatim && served.audio === audio
  const { pat, pmt } = isVerbatim ? program : buildOwnTables(program, served)
  return {
    firstCut,
    tables: isVerbatim ? 'verbatim' : 'own',
    pat,
    pmt,
    pmtPid: program.pmtPid,
    ...(video && { videoPid: video.pid, videoCodec: video.codec }),
    ...(served.audio && { audioPid: served.audio.pid }),
    ...(parameterSets && { parameterSets }),
  }
}

function describeTracks(scan: Scan, sounds: (SectionSound | undefined)[]): Track[] {
  const tracks: Track[] = []
  if (scan.sections.some(({ served }) => served.video !== undefined)) {
    tracks.push(describeVideo(scan.sections))
  }
  const sound = sounds.find((candidate) => candidate !== undefined)
  if (sound !== undefined) tracks.push(sound.track)
  if (tracks.length === 0) throw new AppError('unplayable', 'the sound cannot be read')
  return tracks
}

function describeVideo(sections: ScanSection[]): VideoTrack {
  for (const { served, parameterSets } of sections) {
    if (served.video === undefined || parameterSets === undefined) continue
    const codecName = served.video.codec === 'h264' ? 'H.264' : 'HEVC'
    const parameters = parseVideoParameters(served.video.codec, parameterSets)
    if (parameters !== undefined) {
      return { kind: 'video', codecName, rotationDegrees: 0, ...parameters }
    }
  }
  throw new AppError('unplayable', 'the video has no readable parameters (SPS)')
}

function cutFlags({ cuts, sections }: Scan): Uint8Array {
  const flags = Uint8Array.from(cuts.isKey, (isKey) => (isKey ? CUT_KEY : 0))
  for (const { firstCut } of sections.slice(1)) flags[firstCut] = (flags[firstCut] ?? 0) | CUT_BREAK
  return flags
}

function createSource(tsFile: TsFile, scan: Scan, sections: TsSection[]): TsSource {
  const { cuts, holes, endOffset } = scan
  return {
    container: 'ts',
    packetBytes: tsFile.layout.packetBytes,
    offsets: Float64Array.from(cuts.offsets),
    endOffset,
    carryBytes: Uint32Array.from(cuts.carryBytes),
    tableCounters: Uint8Array.from(cuts.counters),
    holes: Float64Array.from(holes),
    sections,
  }
}
