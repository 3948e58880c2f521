// Reads an MPEG-TS file once, and later what was added to it, and makes the index that playlists and segments are cut by.
import { AppError } from '../../errors.ts'
import type { OpenFile } from '../../storage/storage.ts'
import { CUT_BREAK } from '../media-index.ts'
import type { MediaIndex, Track, VideoTrack } from '../media-index.ts'
import { parseVideoParameters } from '../codec/video-parameters.ts'
import { measureGrowth, settleSounds } from './growth.ts'
import type { TsFile } from './packet-walk.ts'
import { PES_TIMESCALE } from './pes.ts'
import { probeFile } from './probe.ts'
import { beginScan, continueScan, endScan } from './scan.ts'
import type { Scan, ScanRun } from './scan.ts'
import type { ScanOptions, ScanSection } from './scan-state.ts'
import { createScanState } from './scan-state.ts'
import { restoreScan, storeScan } from './scan-store.ts'
import { sampleSounds, sampleSoundTracks, sectionSamples } from './sample-index.ts'
import type { SampleSound } from './sample-index.ts'
import { buildOwnTables, formOf } from './served-program.ts'
import type { ServedStreams } from './served-program.ts'
import { describeFlaws } from './scan-notes.ts'
import { layTimeline } from './timeline.ts'
import { verbatimTrack } from './sound-track.ts'
import type { TsForm, TsResume, TsSection, TsSource } from './ts-source.ts'

const NO_PICTURES = 'the pictures that the tables promise do not come'

/** A recording under index: what the beginning says it is, and the scans that go on. */
interface Indexing {
  tsFile: TsFile
  options: ScanOptions
  isSettled: boolean
  main: ScanRun
  alone: ScanRun | undefined
}

/**
 * Reads the index; where `previous` is there, only what was added since. Throws AppError `unplayable` with a reason that
 * a person understands.
 */
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
  if (lacksPictures(scan, indexing)) {
    // Tables may promise pictures that never come. What is there is served as sound, and stays open: they may still come.
    const { video: _, ...served } = indexing.options.served
    run = indexing.alone ??= beginScan({ ...indexing.options, served })
    await continueScan(tsFile, run, signal)
    scan = await endScan(tsFile, run, signal)
  } else {
    indexing.alone = undefined
  }
  if (scan.state.cuts.offsets.length === 0) {
    throw new AppError('unplayable', noCutReason(scan, indexing.options.served))
  }
  const isOpen = run !== main || !indexing.isSettled
  const form = formOf(run.state.options.served)
  const growth = measureGrowth(run.state, { isOpen, form })
  await settleSounds(tsFile, { run, scan, stableCuts: growth.stableCuts }, signal)
  const { shifts, ...timeline } = layTimeline(scan.state.cuts, scan.state.sections)
  const notes = describeFlaws(tsFile, scan, timeline.startTicks)
  if (run !== main) notes.push({ kind: 'pictures-left-out', message: NO_PICTURES })
  const sounds = sampleSounds(run.state.options, scan.state.sections)
  return {
    tracks: describeTracks(scan.state.sections, { form, sounds }),
    cuts: { timescale: PES_TIMESCALE, ...timeline, flags: cutFlags(scan) },
    ...(notes.length > 0 && { notes }),
    growth,
    source: {
      ...createSource(tsFile, scan, form),
      sections: scan.state.sections.flatMap((section, i) =>
        finishSection(section, form, {
          sounds: form === 'fmp4' || section.promise === 'kept' ? sounds : [],
          shiftTicks: shifts[i] ?? 0,
        }),
      ),
      ...(indexing.isSettled && { resume: storeScans(indexing, run, shifts) }),
    },
  }
}

async function begin(file: OpenFile, signal: AbortSignal): Promise<Indexing> {
  const { tsFile, program, served, sounds, isSettled } = await probeFile(file, signal)
  const { packetBytes, start } = tsFile.layout
  const options = { packetBytes, start, program, served, sounds }
  return { tsFile, options, isSettled, main: beginScan(options), alone: undefined }
}

function resume(file: OpenFile, previous: MediaIndex | undefined): Indexing | undefined {
  if (previous?.source.container !== 'ts' || previous.source.resume === undefined) return undefined
  const { offsets, carryBytes, tableCounters: counters } = previous.source
  const { layout, options, main, alone } = previous.source.resume
  if (file.stat.sizeBytes < main.position) return undefined
  const known = { offsets, carryBytes, counters, cuts: previous.cuts }
  return {
    tsFile: { file, layout },
    options,
    isSettled: true,
    main: restoreScan(main, known, createScanState(options)),
    alone: alone && restoreScan(alone, known, createScanState(options)),
  }
}

/** Only the scan that the index was made of has cuts; the other one has none yet. */
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

function lacksPictures({ state }: Scan, { options }: Indexing): boolean {
  const { counts } = state
  const { video, audio } = options.served
  return (
    counts.pictures === 0 && counts.scrambled === 0 && video !== undefined && audio !== undefined
  )
}

function noCutReason({ state: { counts } }: Scan, { video }: ServedStreams): string {
  if (counts.pictures === 0 && counts.scrambled > 0) return 'the recording is encrypted'
  if (video === undefined || counts.pictures === 0) return 'the file has no video or sound'
  return 'the video has no key frame'
}

function describeTracks(
  sections: ScanSection[],
  { form, sounds }: { form: TsForm; sounds: readonly SampleSound[] },
): Track[] {
  const tracks: Track[] = []
  if (sections.some(({ served }) => served.video !== undefined)) {
    tracks.push(describeVideo(sections))
  }
  const sound = sections.find(({ promise }) => promise === 'kept')?.track
  if (form === 'fmp4') tracks.push(...sampleSoundTracks(sounds))
  else if (sound !== undefined) tracks.push(verbatimTrack(sound))
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

function cutFlags({ state: { cuts, sections } }: Scan): Uint8Array {
  const flags = Uint8Array.from(cuts.flags)
  for (const { firstCut } of sections.slice(1)) flags[firstCut] = (flags[firstCut] ?? 0) | CUT_BREAK
  return flags
}

function createSource(
  tsFile: TsFile,
  { state, endOffset }: Scan,
  form: TsForm,
): Omit<TsSource, 'sections'> {
  const { cuts, holes } = state
  return {
    container: 'ts',
    form,
    packetBytes: tsFile.layout.packetBytes,
    offsets: Float64Array.from(cuts.offsets),
    endOffset,
    carryBytes: Uint32Array.from(cuts.carryBytes),
    tableCounters: Uint8Array.from(cuts.counters),
    holes: Float64Array.from(holes),
  }
}

/** Where segments are fMP4, no tables are sent. */
const NO_TABLES = { tables: 'own', pat: new Uint8Array(0), pmt: new Uint8Array(0) } as const

interface SectionStreams {
  sounds: readonly SampleSound[]
  shiftTicks: number
}

/** The section as segments need it. Where promised sound does not come, the tables do not list it. */
function finishSection(section: ScanSection, form: TsForm, streams: SectionStreams): TsSection[] {
  const { program, firstCut, parameterSets, ownFromCut, promise } = section
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
  if (form === 'fmp4') return [{ firstCut, ...NO_TABLES, ...common, samples }]
  const { pat, pmt } = program
  const recorded: TsSection = { firstCut, tables: 'verbatim', pat, pmt, ...common }
  const own: TsSection = { firstCut, tables: 'own', ...buildOwnTables(program, served), ...common }
  if (!isListed || ownFromCut === firstCut) return [{ ...own, samples }]
  const first = { ...recorded, samples }
  return ownFromCut === undefined ? [first] : [first, { ...own, firstCut: ownFromCut }]
}
