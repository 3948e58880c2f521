// Video codecs that browsers play, by their names in containers.
import { av1 } from './av1.ts'
import { h264 } from './h264.ts'
import { hevc } from './hevc.ts'
import type { VideoFormat } from './video-format.ts'
import { vp9 } from './vp9.ts'

export type SampledVideoCodec = 'h264' | 'hevc' | 'av1' | 'vp9'

export const VIDEO_FORMATS: Readonly<Record<SampledVideoCodec, VideoFormat>> = {
  h264,
  hevc,
  av1,
  vp9,
}
export const SAMPLED_CODECS = ['h264', 'hevc', 'av1', 'vp9'] as const

/** The codecs of a container by their names there. */
export function videoCodecsIn(
  container: keyof ReturnType<typeof namesOf>,
): ReadonlyMap<string | number, SampledVideoCodec> {
  const rows = SAMPLED_CODECS.flatMap((codec) =>
    namesOf(VIDEO_FORMATS[codec])[container].map((name) => [name, codec] as const),
  )
  return new Map<string | number, SampledVideoCodec>(rows)
}

function namesOf({ entries, matroska, flv }: VideoFormat) {
  return { mp4: Object.keys(entries), matroska, flv }
}

/** The served codecs of MPEG-TS, by stream type or registration. */
export const TS_VIDEO_CODECS: ReadonlyMap<string | number, 'h264' | 'hevc'> = new Map(
  (['h264', 'hevc'] as const).flatMap((codec) =>
    VIDEO_FORMATS[codec].ts.map((name) => [name, codec] as const),
  ),
)
