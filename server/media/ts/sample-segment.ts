// Makes a segment of fMP4 samples out of the packets of an MPEG-TS file, and the tracks of its init segment.
import { AppError } from '../../errors.ts'
import type { OpenFile } from '../../storage/storage.ts'
import { videoSetUp } from '../codec/sample-entry.ts'
import { CUT_KEY } from '../media-index.ts'
import type { CutRange, MediaIndex } from '../media-index.ts'
import type { InitTrack, SampleRun, SegmentRange } from '../media-reader.ts'
import { gatherSegment } from './gather-segment.ts'
import type { Gathered } from './gather-segment.ts'
import { PES_TIMESCALE } from './pes.ts'
import { pictureRun } from './picture-samples.ts'
import { createSessionClock } from './session-clock.ts'
import type { SessionClock } from './session-clock.ts'
import { soundRun } from './sound-samples.ts'
import { isPlayed } from './sound-frame.ts'
import { soundEntry } from './sound-set-up.ts'
import type { TsSamples, TsSection, TsSound, TsSource, TsVideo } from './ts-source.ts'

/** Samples of the cuts, a run for each track that has any. Throws AppError `failed` where the file has become shorter. */
export async function readSampleRuns(
  file: OpenFile,
  { index, source }: { index: MediaIndex; source: TsSource },
  range: SegmentRange,
): Promise<SampleRun[]> {
  if (file.stat.sizeBytes < source.endOffset) {
    throw new AppError('failed', 'the recording is not the one that was indexed')
  }
  if (range.from < 0 || range.from >= range.to || range.to > source.offsets.length) {
    throw new RangeError(`no cuts from ${range.from} to ${range.to}`)
  }
  const runs: SampleRun[] = []
  for (const piece of splitAtSections(source, range)) {
    const streams = chooseStreams(index, piece.samples, range.tracks)
    const gathered = await gatherSegment(file, source, {
      ...piece,
      videoPid: streams.video?.pid,
      soundPids: streams.sounds.map(({ pid }) => pid),
    })
    runs.push(...makeRuns(index, piece, { streams, gathered }))
  }
  return runs
}

/** Cuts of one section. */
interface Piece extends CutRange {
  section: TsSection
  samples: TsSamples
  /** Whether cuts of the same section lie behind. */
  goesOn: boolean
}

function splitAtSections({ sections, offsets }: TsSource, { from, to }: CutRange): Piece[] {
  return sections.flatMap((section, i) => {
    const end = sections[i + 1]?.firstCut ?? offsets.length
    const { samples } = section
    const piece = { from: Math.max(from, section.firstCut), to: Math.min(to, end) }
    if (samples === undefined || piece.from >= piece.to) return []
    return [{ ...piece, section, samples, goesOn: piece.to < end }]
  })
}

interface Streams {
  video: TsVideo | undefined
  sounds: TsSound[]
}

/** The streams of a section for the tracks asked for; those that it lacks are left out. */
function chooseStreams(
  index: MediaIndex,
  { video, sounds }: TsSamples,
  tracks: readonly number[] | undefined,
): Streams {
  const firstSound = index.tracks.findIndex(({ kind }) => kind === 'audio')
  const hasVideo = index.tracks[0]?.kind === 'video'
  const wanted = tracks ?? [...(hasVideo ? [0] : []), firstSound]
  return {
    video: hasVideo && wanted.includes(0) ? video : undefined,
    sounds: wanted.flatMap(
      (track) => sounds.find(({ sound }) => sound === track - firstSound) ?? [],
    ),
  }
}

function makeRuns(
  index: MediaIndex,
  piece: Piece,
  { streams, gathered }: { streams: Streams; gathered: Gathered },
): SampleRun[] {
  const clock = clockOf(index, piece)
  const { end } = gathered
  const { video } = streams
  const pictures =
    video &&
    gathered.video &&
    pictureRun(
      {
        codec: video.codec,
        bytes: gathered.video.bytes,
        units: gathered.video.units,
        end,
        beginsWithKey: ((index.cuts.flags[piece.from] ?? 0) & CUT_KEY) !== 0,
        parameterSets: piece.section.parameterSets ?? new Uint8Array(0),
      },
      clock,
    )
  const sounds = streams.sounds.map((sound, i) => {
    const stream = gathered.sounds[i]
    return stream && soundRun(sound, { bytes: stream.bytes, units: stream.units, end }, clock)
  })
  return [pictures, ...sounds].filter((run) => run !== undefined)
}

function clockOf({ cuts }: MediaIndex, { from, to, section, samples }: Piece): SessionClock {
  return createSessionClock({
    shiftTicks: samples.shiftTicks,
    startTicks: cuts.startTicks[from] ?? 0,
    endTicks: cuts.startTicks[to] ?? cuts.endTicks,
    opensAtTicks: samples.continues ? -Infinity : (cuts.startTicks[section.firstCut] ?? 0),
  })
}

/** Tracks of the init segment at a cut, but for sound that is transcoded. */
export function sampleTracks(
  index: MediaIndex,
  { sections }: TsSource,
  { cut, tracks }: { cut: number; tracks: readonly number[] | undefined },
): InitTrack[] {
  const samples = sections.findLast(({ firstCut }) => firstCut <= cut)?.samples
  if (samples === undefined) return []
  const { video, sounds } = chooseStreams(index, samples, tracks)
  const pictures = video && videoTrack(video)
  return [...(pictures ? [pictures] : []), ...sounds.filter(isPlayed).flatMap(soundTrack)]
}

function videoTrack({ codec, config, width, height }: TsVideo): InitTrack | undefined {
  const entry = videoSetUp(codec, { config, width, height })
  return (
    entry && {
      kind: 'video',
      timescale: PES_TIMESCALE,
      sampleEntry: entry.sampleEntry,
      width,
      height,
    }
  )
}

function soundTrack(sound: TsSound): InitTrack[] {
  const entry = soundEntry(sound)
  if (entry === undefined) return []
  const { timescale } = sound
  return [{ kind: 'audio', timescale, sampleEntry: entry.sampleEntry, width: 0, height: 0 }]
}
