// Decides whether a time stamp goes on from the last one, has wrapped, or has jumped; and notes where clocks are set anew.
import { UnplayableError } from '../../errors.ts'
import { MAX_BACK_SECONDS, MAX_SECTIONS, timelineRules } from '../timeline/timeline-rules.ts'
import { AUDIO_TOLERANCE_MS } from './flv-limits.ts'
import type { ScanState } from './scan-progress.ts'
import type { Scan } from './scan-state.ts'

export const flvRules = timelineRules('flv', 1000)
const { follows, isNear, videoFollows } = flvRules

/** Where clocks begin anew from 0: 32 bits, 31 with writers that mind the sign, 24 with those that know no more. */
const WRAPS_MS = [2 ** 32, 2 ** 31, 2 ** 24]

/** What a picture's time is shifted by; undefined where it has jumped. */
export function placeFrame({ video, audio }: ScanState, rawMs: number): number | undefined {
  const ms = rawMs + video.shiftMs
  if (video.lastMs === undefined || videoFollows(ms, video.lastMs, audio.lastMs))
    return video.shiftMs
  return unwrap(ms, video.lastMs, video.shiftMs)
}

/** What the time of sound is shifted by; undefined where it has jumped. */
export function placeAudio({ video, audio }: ScanState, rawMs: number): number | undefined {
  const ms = rawMs + audio.shiftMs
  if (audio.lastMs === undefined) {
    if (video.lastMs === undefined || isNear(ms, video.lastMs)) return audio.shiftMs
  } else {
    if (follows(ms, audio.lastMs)) return audio.shiftMs
    const wrapped = unwrap(ms, audio.lastMs, audio.shiftMs)
    if (wrapped !== undefined) return wrapped
  }
  // The pictures' clock is the one that keeps both together.
  const besideMs = rawMs + video.shiftMs
  const isBeside = video.lastMs !== undefined && isNear(besideMs, video.lastMs)
  const isBehind = besideMs >= (audio.lastMs ?? -Infinity) - MAX_BACK_SECONDS * 1000
  return isBeside && isBehind ? video.shiftMs : undefined
}

function unwrap(ms: number, lastMs: number, shiftMs: number): number | undefined {
  for (const wrap of WRAPS_MS) {
    if (follows(ms + wrap, lastMs)) return shiftMs + wrap
    if (follows(ms - wrap, lastMs)) return shiftMs - wrap
  }
  return undefined
}

/** Sets a track's clock from a position on. */
export function setClock(
  scan: Scan,
  kind: 'video' | 'audio',
  { position, shiftMs }: { position: number; shiftMs: number },
): void {
  const track = scan.state[kind]
  const list = kind === 'video' ? scan.videoClock : scan.audioClock
  if (list.length > 0 && track.shiftMs === shiftMs) return
  if (list.length >= 2 * MAX_SECTIONS) {
    throw new UnplayableError({
      code: 'limit-exceeded',
      limit: 'discontinuities',
      max: MAX_SECTIONS,
    })
  }
  track.shiftMs = shiftMs
  list.push(position, shiftMs)
}

/**
 * When a frame of sound begins, in samples: where the last one ended, if the time stamp agrees with that but for its
 * rounding, so that nothing drifts; else when the time stamp says.
 */
export function snapAudio(endTicks: number, ms: number, timescale: number): number {
  const ticks = (ms * timescale) / 1000
  const tolerance = (AUDIO_TOLERANCE_MS * timescale) / 1000
  return Math.abs(endTicks - ticks) <= tolerance ? endTicks : Math.max(0, Math.round(ticks))
}
