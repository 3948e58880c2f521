// What the index says of a recording that goes through fMP4: its sounds, and the streams of each section.
import { avcConfig, hevcConfig } from '../codec/decoder-config.ts'
import { splitNals } from '../codec/nal-unit.ts'
import type { VideoCodec } from '../codec/nal-unit.ts'
import { parseVideoParameters } from '../codec/video-parameters.ts'
import type { AudioTrack } from '../media-index.ts'
import type { ScanOptions, ScanSection } from './scan-state.ts'
import { servedSounds } from './served-program.ts'
import type { AudioStream } from './served-program.ts'
import type { SoundSetUp } from './sound-frame.ts'
import { describeSound } from './sound-set-up.ts'
import type { TsSamples, TsVideo } from './ts-source.ts'

const MAX_PARAMETER_SETS = 64

/** A sound of the recording, and what its frames are. */
export interface SampleSound {
  stream: AudioStream
  setUp: SoundSetUp
}

/** The recording's sounds, first the one that plays unasked. */
export function sampleSounds(
  { served, sounds }: ScanOptions,
  sections: readonly ScanSection[],
): SampleSound[] {
  return servedSounds(served).flatMap((stream) => {
    const setUp = sounds.get(stream.pid) ?? sections.find(({ track }) => track)?.track
    return setUp === undefined ? [] : [{ stream, setUp }]
  })
}

export function sampleSoundTracks(sounds: readonly SampleSound[]): AudioTrack[] {
  return sounds.map(({ setUp, stream }) => describeSound(setUp, stream.language))
}

/** The streams of a section. `shiftTicks` is the time on its clock at which the session begins. */
export function sectionSamples(
  section: ScanSection,
  { sounds, shiftTicks }: { sounds: readonly SampleSound[]; shiftTicks: number },
): TsSamples {
  const { served, parameterSets, continues } = section
  const video = served.video && parameterSets && describeVideo(served.video, parameterSets)
  const streams = servedSounds(served).flatMap((stream) => {
    const own = stream.pid === served.audio?.pid ? section.track : undefined
    const setUp = own ?? sounds.find((known) => known.stream.sound === stream.sound)?.setUp
    return setUp === undefined ? [] : [{ ...setUp, pid: stream.pid, sound: stream.sound }]
  })
  return { shiftTicks, continues, ...(video && { video }), sounds: streams }
}

function describeVideo(
  { pid, codec }: { pid: number; codec: VideoCodec },
  parameterSets: Uint8Array,
): TsVideo | undefined {
  const parameters = parseVideoParameters(codec, parameterSets)
  const nals = splitNals(parameterSets, MAX_PARAMETER_SETS)
  const config = codec === 'h264' ? joinAvc(nals) : joinHevc(nals)
  if (parameters === undefined || config === undefined) return undefined
  const { width, height } = parameters
  return { pid, codec, config, width, height }
}

function joinAvc(nals: readonly Uint8Array[]): Uint8Array | undefined {
  const ofType = (type: number) => nals.filter((nal) => ((nal[0] ?? 0) & 0x1f) === type)
  return avcConfig(ofType(7), ofType(8))
}

function joinHevc(nals: readonly Uint8Array[]): Uint8Array | undefined {
  const ofType = (type: number) => nals.filter((nal) => (((nal[0] ?? 0) >>> 1) & 0x3f) === type)
  return hevcConfig({ vps: ofType(32), sps: ofType(33), pps: ofType(34) })
}
