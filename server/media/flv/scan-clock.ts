// Maps timestamps to the session: they continue, wrap, or jump.
import { checkSections } from '../timeline/split-points.ts'
import { MAX_BACK_SECONDS, timelineRules } from '../timeline/timeline-rules.ts'
import { AUDIO_TOLERANCE_MS } from './flv-limits.ts'
import type { ScanState } from './flv-source.ts'
import type { Scan } from './scan-state.ts'

export const flvRules = timelineRules('flv', 1000)
const { follows, isNear, videoFollows } = flvRules

/** Where writers wrap timestamps to 0: 32 bits, 31 with a sign, 24 without the extension byte. */
const WRAPS_MS = [2 ** 32, 2 ** 31, 2 ** 24]

/** The shift of a video frame; undefined if its time has jumped. */
export function placeFrame({ video, audio }: ScanState, rawMs: number): number | undefined {
  const ms = rawMs + video.shiftMs
  if (video.lastMs === undefined || videoFollows(ms, video.lastMs, audio.lastMs))
    return video.shiftMs
  return unwrap(ms, video.lastMs, video.shiftMs)
}

/** The shift of audio; undefined if its time has jumped. */
export function placeAudio({ video, audio }: ScanState, rawMs: number): number | undefined {
  const ms = rawMs + audio.shiftMs
  if (audio.lastMs === undefined) {
    if (video.lastMs === undefined || isNear(ms, video.lastMs)) return audio.shiftMs
  } else {
    if (follows(ms, audio.lastMs)) return audio.shiftMs
    const wrapped = unwrap(ms, audio.lastMs, audio.shiftMs)
    if (wrapped !== undefined) return wrapped
  }
  // The clock of the video keeps both together.
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

/** Sets the clock of a track from a position on. */
export function setClock(
  scan: Scan,
  kind: 'video' | 'audio',
  { position, shiftMs }: { position: number; shiftMs: number },
): void {
  const track = scan.state[kind]
  const list = kind === 'video' ? scan.videoClock : scan.audioClock
  if (list.length > 0 && track.shiftMs === shiftMs) return
  checkSections(list.length / 2)
  track.shiftMs = shiftMs
  list.push(position, shiftMs)
}

/**
 * When an audio frame begins, in samples: at the end of the last one if the timestamp agrees
 * except for its rounding, which avoids drift; else at its timestamp.
 */
export function snapAudio(endTicks: number, ms: number, timescale: number): number {
  const ticks = (ms * timescale) / 1000
  const tolerance = (AUDIO_TOLERANCE_MS * timescale) / 1000
  return Math.abs(endTicks - ticks) <= tolerance ? endTicks : Math.max(0, Math.round(ticks))
}
