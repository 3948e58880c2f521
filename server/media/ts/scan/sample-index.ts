// The index of a recording that is served as fMP4: its audio tracks, and the streams of each
// section.
import { avcConfig, hevcConfig } from '../../codec/decoder-config.ts'
import { splitNals } from '../../codec/nal-unit.ts'
import type { VideoCodec } from '../../codec/nal-unit.ts'
import { parseVideoParameters } from '../../codec/video-parameters.ts'
import type { AudioTrack } from '../../media-index.ts'
import { servedAudioTracks } from './served-program.ts'
import type { AudioStream } from './served-program.ts'
import type { AudioConfig } from '../packets/audio-frame.ts'
import { describeAudio } from '../packets/audio-config.ts'
import type { TsSamples, TsVideo } from '../ts-source.ts'
import type { ScanOptions, ScanSection } from './scan-state.ts'

const MAX_PARAMETER_SETS = 64

/** An audio stream of the recording, and its configuration. */
export interface SampleAudio {
  stream: AudioStream
  config: AudioConfig
}

/** The audio of the recording, the default track first. */
export function sampleAudioStreams(
  { served, audioTracks }: ScanOptions,
  sections: readonly ScanSection[],
): SampleAudio[] {
  return servedAudioTracks(served).flatMap((stream) => {
    const config = audioTracks.get(stream.pid) ?? sections.find(({ track }) => track)?.track
    return config === undefined ? [] : [{ stream, config }]
  })
}

export function sampleAudioTracks(audioTracks: readonly SampleAudio[]): AudioTrack[] {
  return audioTracks.map(({ config, stream }) => describeAudio(config, stream.language))
}

/** The streams of a section. `shiftTicks` is the time on its clock at which the session begins. */
export function sectionSamples(
  section: ScanSection,
  { audioTracks, shiftTicks }: { audioTracks: readonly SampleAudio[]; shiftTicks: number },
): TsSamples {
  const { served, parameterSets, continues } = section
  const video = served.video && parameterSets && describeVideo(served.video, parameterSets)
  const streams = servedAudioTracks(served).flatMap((stream) => {
    const own = stream.pid === served.audio?.pid ? section.track : undefined
    const config = own ?? audioTracks.find((known) => known.stream.audio === stream.audio)?.config
    return config === undefined ? [] : [{ ...config, pid: stream.pid, audio: stream.audio }]
  })
  return { shiftTicks, continues, ...(video && { video }), audioTracks: streams }
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
