// Indexes an MPEG-TS file, and later the bytes added to it.
import { UnplayableError } from '../../../base/errors.ts'
import type { UnplayableReason } from '../../../base/problem.ts'
import type { OpenFile } from '../../../storage/recordings/storage.ts'
import { SPLIT_DISCONTINUITY } from '../../media-index.ts'
import type { MediaIndex, Track, VideoTrack } from '../../media-index.ts'
import { finishSets } from '../../codec/parameter-sets.ts'
import { parseVideoParameters } from '../../codec/video-parameters.ts'
import { measureGrowth, settleAudioTracks } from './growth.ts'
import type { TsFile } from '../packets/packet-walk.ts'
import { PES_TIMESCALE } from '../packets/pes.ts'
import { probeFile } from './probe.ts'
import { beginScan, continueScan, endScan } from './scan.ts'
import type { Scan } from './scan.ts'
import { sampleAudioStreams, sampleAudioTracks, sectionSamples } from './sample-index.ts'
import type { SampleAudio } from './sample-index.ts'
import { buildOwnTables, formOf } from './served-program.ts'
import type { ServedStreams } from './served-program.ts'
import type { TsForm, TsResume, TsSection, TsSource } from '../ts-source.ts'
import { describeFlaws, layTimeline } from './timeline.ts'
import { verbatimTrack } from '../packets/audio-config.ts'
import type { ScanOptions, ScanRun, ScanSection, SectionState } from './scan-state.ts'
import { restoreScan, storeScan } from './scan-store.ts'
import { withSegmentLimits } from '../../timeline/segment-limits.ts'

/** An index in progress: the result of the probe, and the scans. */
interface Indexing {
  tsFile: TsFile
  options: ScanOptions
  isSettled: boolean
  main: ScanRun
  alone: ScanRun | undefined
}

/** Builds the index; with `previous`, reads only the bytes added since. */
export async function readTsIndex(
  file: OpenFile,
  signal: AbortSignal,
  previous?: MediaIndex,
): Promise<MediaIndex> {
  const indexing = resume(file, previous) ?? (await begin(file, signal))
  const { tsFile, main } = indexing
  await continueScan(tsFile, main, signal)
  let run = main
  let scan = await endScan(tsFile, main, signal)
  if (lacksVideo(scan, indexing)) {
    // Tables may list video that never comes. The audio is served, and the result stays open: video
    // may still come.
    const { video: _, ...served } = indexing.options.served
    run = indexing.alone ??= beginScan({ ...indexing.options, served })
    await continueScan(tsFile, run, signal)
    scan = await endScan(tsFile, run, signal)
  } else {
    indexing.alone = undefined
  }
  const { sections, points } = scan.state.sections
  if (points.splitPoints.offsets.length === 0) {
    throw new UnplayableError(noSplitPointReason(scan, indexing.options.served))
  }
  const isOpen = run !== main || !indexing.isSettled
  const form = formOf(run.state.options.served)
  const growth = measureGrowth(run.state.sections, { isOpen, form })
  await settleAudioTracks(
    tsFile,
    { run, scan, stableSplitPoints: growth.stableSplitPoints },
    signal,
  )
  const { shifts, ...timeline } = layTimeline(points.splitPoints, sections)
  const limitations = describeFlaws(tsFile, scan, timeline.startTicks)
  if (run !== main) {
    limitations.push({ code: 'video-not-served', cause: { code: 'track-empty' } })
  }
  const audioTracks = sampleAudioStreams(run.state.options, sections)
  const source: TsSource = {
    ...createSource(tsFile, scan, form),
    sections: sections.flatMap((section, i) =>
      finishSection(section, form, {
        audioTracks: form === 'fmp4' || section.promise === 'kept' ? audioTracks : [],
        shiftTicks: shifts[i] ?? 0,
      }),
    ),
    ...(indexing.isSettled && { resume: storeScans(indexing, run, shifts) }),
  }
  const index: MediaIndex = {
    tracks: describeTracks(sections, { form, audioTracks }),
    splitPoints: {
      timescale: PES_TIMESCALE,
      ...timeline,
      flags: splitPointFlags(scan.state.sections),
    },
    ...(limitations.length > 0 && { limitations }),
    growth,
    source,
  }
  return withByteLimits(index, source)
}

async function begin(file: OpenFile, signal: AbortSignal): Promise<Indexing> {
  const { tsFile, program, served, audioTracks, isSettled } = await probeFile(file, signal)
  const { packetBytes, start } = tsFile.layout
  const options = { packetBytes, start, program, served, audioTracks }
  return { tsFile, options, isSettled, main: beginScan(options), alone: undefined }
}

function resume(file: OpenFile, previous: MediaIndex | undefined): Indexing | undefined {
  if (previous?.source.container !== 'ts' || previous.source.resume === undefined) return undefined
  const { offsets, carryBytes, tableCounters: counters } = previous.source
  const { layout, options, main, alone } = previous.source.resume
  if (file.stat.sizeBytes < main.position) return undefined
  const known = { offsets, carryBytes, counters, splitPoints: previous.splitPoints }
  return {
    tsFile: { file, layout },
    options,
    isSettled: true,
    main: restoreScan(main, known),
    alone: alone && restoreScan(alone, known),
  }
}

/** Only the scan of the index has split points; the other one has none yet. */
function storeScans(
  { tsFile, options, main, alone }: Indexing,
  run: ScanRun,
  shifts: number[],
): TsResume {
  return {
    layout: tsFile.layout,
    options,
    main: storeScan(main, main === run ? shifts : []),
    ...(alone && { alone: storeScan(alone, alone === run ? shifts : []) }),
  }
}

function lacksVideo({ state }: Scan, { options }: Indexing): boolean {
  const { counts } = state
  const { video, audio } = options.served
  return counts.frames === 0 && counts.scrambled === 0 && video !== undefined && audio !== undefined
}

function noSplitPointReason(
  { state: { counts } }: Scan,
  { video }: ServedStreams,
): UnplayableReason {
  if (counts.frames === 0 && counts.scrambled > 0) return { code: 'encrypted' }
  if (video === undefined || counts.frames === 0) return { code: 'tracks-missing' }
  return { code: 'key-frame-missing' }
}

function describeTracks(
  sections: ScanSection[],
  { form, audioTracks }: { form: TsForm; audioTracks: readonly SampleAudio[] },
): Track[] {
  const tracks: Track[] = []
  if (sections.some(({ served }) => served.video !== undefined)) {
    tracks.push(describeVideo(sections))
  }
  const audio = sections.find(({ promise }) => promise === 'kept')?.track
  if (form === 'fmp4') tracks.push(...sampleAudioTracks(audioTracks))
  else if (audio !== undefined) tracks.push(verbatimTrack(audio))
  if (tracks.length === 0) throw new UnplayableError({ code: 'audio-config-invalid' })
  return tracks
}

function describeVideo(sections: ScanSection[]): VideoTrack {
  let codec = 'H.264'
  for (const { served, parameterSets } of sections) {
    if (served.video === undefined) continue
    const codecName = served.video.codec === 'h264' ? 'H.264' : 'HEVC'
    codec = codecName
    if (parameterSets === undefined) continue
    const parameters = parseVideoParameters(served.video.codec, parameterSets)
    if (parameters !== undefined) {
      return { kind: 'video', codecName, rotationDegrees: 0, ...parameters }
    }
  }
  throw new UnplayableError({ code: 'video-config-invalid', codec })
}

function splitPointFlags({ points, sections }: SectionState): Uint8Array {
  const flags = Uint8Array.from(points.splitPoints.flags)
  for (const { firstSplitPoint } of sections.slice(1))
    flags[firstSplitPoint] = (flags[firstSplitPoint] ?? 0) | SPLIT_DISCONTINUITY
  return flags
}

function createSource(
  tsFile: TsFile,
  { state, endOffset }: Scan,
  form: TsForm,
): Omit<TsSource, 'sections'> {
  const { points, holes } = state.sections
  const { splitPoints } = points
  const sets = finishSets(state.sections.sets)
  return {
    container: 'ts',
    form,
    packetBytes: tsFile.layout.packetBytes,
    offsets: Float64Array.from(splitPoints.offsets),
    endOffset,
    carryBytes: Uint32Array.from(splitPoints.carryBytes),
    tableCounters: Uint8Array.from(splitPoints.counters),
    holes: Float64Array.from(holes),
    ...(sets && { sets }),
  }
}

/** fMP4 segments contain no tables. */
const NO_TABLES = { tables: 'own', pat: new Uint8Array(0), pmt: new Uint8Array(0) } as const

interface SectionStreams {
  audioTracks: readonly SampleAudio[]
  shiftTicks: number
}

/** The section as segments need it. The tables do not list missing audio. */
function finishSection(section: ScanSection, form: TsForm, streams: SectionStreams): TsSection[] {
  const { program, firstSplitPoint, parameterSets, ownFromSplitPoint, promise } = section
  const samples = sectionSamples(section, streams)
  const { video, audio } = section.served
  const isListed = form === 'fmp4' || audio === undefined || promise === 'kept'
  const served: ServedStreams = { ...(video && { video }), ...(audio && isListed && { audio }) }
  const common = {
    pmtPid: program.pmtPid,
    ...(video && { videoPid: video.pid, videoCodec: video.codec }),
    ...(served.audio && { audioPid: served.audio.pid }),
    ...(parameterSets && { parameterSets }),
  }
  if (form === 'fmp4') return [{ firstSplitPoint, ...NO_TABLES, ...common, samples }]
  const { pat, pmt } = program
  const recorded: TsSection = { firstSplitPoint, tables: 'verbatim', pat, pmt, ...common }
  const own: TsSection = {
    firstSplitPoint,
    tables: 'own',
    ...buildOwnTables(program, served),
    ...common,
  }
  if (!isListed || ownFromSplitPoint === firstSplitPoint) return [{ ...own, samples }]
  const first = { ...recorded, samples }
  return ownFromSplitPoint === undefined
    ? [first]
    : [first, { ...own, firstSplitPoint: ownFromSplitPoint }]
}

/**
 * Bytes that cost as much as a sample. Recorded packets are sent as they are: at most 300 MB of
 * them are searched for tables. In fMP4 form, at most 64 MB are in memory.
 */
const BYTES_PER_SAMPLE: Record<TsForm, number> = { verbatim: 16 * 188, fmp4: 640 }

/** As `withSegmentLimits`. */
export function withByteLimits(index: MediaIndex, source: TsSource): MediaIndex {
  const { offsets, endOffset, form } = source
  const samples = (bytes: number) => Math.ceil(bytes / BYTES_PER_SAMPLE[form])
  const [start = 0] = offsets
  return withSegmentLimits(index, {
    before: offsets.map((offset) => samples(offset - start)),
    total: samples(endOffset - start),
  })
}
