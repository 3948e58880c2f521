// Measures what the visitor experiences: startup, stalls, playback and errors. Reports differences,
// because a hidden page may never run again.
import type { QualityEvent } from '../../../shared/contract.ts'
import type { Failure } from './recovery.ts'

type Report = Extract<QualityEvent, { name: 'playback' }>

/** `starting`: the visitor waits for the first frame. `stalled`: the buffer is empty. */
type Mode = 'idle' | 'starting' | 'playing' | 'stalled'

const NOTHING: Report = {
  name: 'playback',
  abandonedStarts: 0,
  playedSeconds: 0,
  stalls: 0,
  stalledSeconds: 0,
  networkErrors: 0,
  mediaErrors: 0,
  otherErrors: 0,
}

/**
 * Reports to the window whenever the page is hidden, and when the signal aborts. Returns the
 * function that takes failures.
 */
export function measurePlayback(
  video: HTMLVideoElement,
  signal: AbortSignal,
): (kind: Failure['kind']) => void {
  let report = { ...NOTHING }
  let mode: Mode = 'idle'
  let sinceMs = 0
  let hasPlayed = false

  function enter(next: Mode): void {
    const nowMs = performance.now()
    const seconds = (nowMs - sinceMs) / 1000
    if (mode === 'playing') report.playedSeconds += seconds
    if (mode === 'stalled') report.stalledSeconds += seconds
    if (mode === 'starting' && next === 'playing') report.startupSeconds = seconds
    if (mode !== 'stalled' && next === 'stalled') report.stalls += 1
    if (next === 'playing') hasPlayed = true
    mode = next
    sinceMs = nowMs
  }

  function send(): void {
    enter(mode)
    const { playedSeconds, stalledSeconds, ...rest } = report
    const hasNews = Object.values(rest).some((value) => typeof value === 'number' && value > 0)
    if (!hasNews && playedSeconds + stalledSeconds === 0) return
    window.dispatchEvent(new CustomEvent('quality', { detail: report }))
    report = { ...NOTHING }
  }

  const stop = (): void => enter('idle')
  const resume = (): void => {
    const hasData = video.readyState >= HTMLMediaElement.HAVE_FUTURE_DATA
    if (!video.paused && hasData) enter('playing')
  }
  const listen = (type: string, listener: () => void): void =>
    video.addEventListener(type, listener, { signal })
  listen('play', () => enter(hasPlayed ? mode : 'starting'))
  listen('playing', () => enter('playing'))
  listen('waiting', () => mode === 'playing' && !video.seeking && enter('stalled'))
  for (const type of ['pause', 'ended', 'seeking']) listen(type, stop)
  // The engine loads the source again, and resumes.
  listen('emptied', () => mode === 'playing' && enter('stalled'))
  listen('seeked', resume)
  if (!video.paused) enter('starting')

  document.addEventListener('visibilitychange', () => document.hidden && send(), { signal })
  window.addEventListener('pagehide', send, { signal })
  signal.addEventListener('abort', () => {
    if (mode === 'starting') report.abandonedStarts = 1
    send()
  })
  return (kind) => {
    report[`${kind}Errors`] += 1
  }
}
