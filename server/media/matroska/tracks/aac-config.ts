// AudioSpecificConfig for AAC tracks of old Matroska files, whose codec ID contains the
// configuration.
import { audioSpecificConfig } from '../../codec/audio-specific-config.ts'
import type { TrackEntry } from './track-entry.ts'

const OBJECT_TYPES = new Map<string, number>([
  ['MAIN', 1],
  ['LC', 2],
  ['SSR', 3],
  ['LTP', 4],
])

/**
 * The configuration for `A_AAC/MPEG4/LC/SBR` and similar; undefined if AAC does not support the
 * rate.
 */
export function aacConfig({ codec, audio }: TrackEntry): Uint8Array | undefined {
  const { sampleRate, channels } = audio
  const [, , profile = 'LC', extension] = codec.split('/')
  if (channels > 7 || channels < 1) return undefined
  const objectType = OBJECT_TYPES.get(profile)
  return audioSpecificConfig({
    sampleRate,
    channels,
    ...(objectType !== undefined && { objectType }),
    ...(extension === 'SBR' && { outputRate: audio.outputRate || sampleRate * 2 }),
  })
}
