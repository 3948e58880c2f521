// The index of a recording that could be sent as MPEG-TS, for a session whose other parts are fMP4.
import type { AudioTrack, MediaIndex } from '../../media-index.ts'
import { describeAudio } from '../packets/audio-config.ts'
import { stableSamples } from './growth.ts'
import { withByteLimits } from './segment-costs.ts'
import type { TsSamples, TsSection, TsSource } from '../ts-source.ts'

/**
 * The same recording with segments of fMP4. Undefined if they are fMP4 already, if a section has
 * video without parameter sets, or if the audio changes its codec.
 */
export function sampledIndex(index: MediaIndex, source: TsSource): MediaIndex | undefined {
  if (source.form === 'fmp4') return undefined
  const { sections: listed, resume: _, ...places } = source
  const sections = listed.flatMap((section) => sampledSection(section) ?? [])
  const audio = describeOnlyAudio(sections)
  if (audio === 'several' || !sections.every(hasItsVideo)) return undefined
  const { growth, ...kept } = index
  const frames = index.tracks.filter(({ kind }) => kind === 'video')
  const sampled: TsSource = { ...places, form: 'fmp4', sections }
  const tracks = [...frames, ...(audio === undefined ? [] : [audio])]
  const limited = withByteLimits({ ...kept, tracks, source: sampled }, sampled)
  if (growth === undefined) return limited
  const stableSplitPoints = stableSamples(growth.stableSplitPoints)
  return { ...limited, growth: { ...growth, stableSplitPoints } }
}

type SampledSection = TsSection & { samples: TsSamples }

/** Undefined if only the tables differ from those of the previous section: samples have none. */
function sampledSection({ samples, ...section }: TsSection): SampledSection | undefined {
  if (samples === undefined) return undefined
  const none = new Uint8Array(0)
  return { ...section, tables: 'own', pat: none, pmt: none, samples }
}

function hasItsVideo({ videoPid, samples }: SampledSection): boolean {
  return videoPid === undefined || samples.video !== undefined
}

function describeOnlyAudio(
  sections: readonly SampledSection[],
): AudioTrack | 'several' | undefined {
  const [first, ...others] = sections.flatMap(({ samples }) => samples.audioTracks)
  if (first === undefined) return undefined
  return others.every(({ codec }) => codec === first.codec)
    ? describeAudio(first, undefined)
    : 'several'
}
