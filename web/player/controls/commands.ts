// Runs the commands that concern only the video element. Its events bring the result back.
import type { Playback } from '../playback/playback.ts'
import type { Command } from './shortcuts/shortcuts.ts'
import { toggleSubtitles } from './tracks/subtitle-choice.ts'

/** The speeds on offer. */
export const RATES: readonly number[] = [0.5, 0.75, 1, 1.25, 1.5, 1.75, 2]
/** Most recordings have 30 or 60 frames per second. */
const FRAME_SECONDS = 1 / 30
/** What is listed last is not loaded yet. */
const EDGE_MARGIN_SECONDS = 6

/** Returns false if the command does not concern the video. */
export function runCommand(command: Command, playback: Playback): boolean {
  const { video } = playback
  switch (command.name) {
    case 'toggle':
      if (video.paused) play(video)
      else video.pause()
      return true
    case 'seek by':
      seekTo(playback, video.currentTime + command.seconds)
      return true
    case 'seek to':
      seekTo(playback, ((playback.read().durationSeconds ?? 0) * command.tenth) / 10)
      return true
    case 'step':
      if (video.paused) seekTo(playback, video.currentTime + command.frames * FRAME_SECONDS)
      return true
    case 'faster':
    case 'slower':
      setRate(video, nextRate(video.playbackRate, command.name))
      return true
    case 'mute':
      video.muted = !video.muted
      return true
    case 'fullscreen':
      toggleFullscreen(video)
      return true
    case 'subtitles':
      toggleSubtitles(video)
      return true
    case 'theatre':
    case 'help':
    case 'next':
    case 'previous':
      return false
  }
}

/** Seeks within the session; nothing before its duration is known. */
export function seekTo({ video, read, report }: Playback, seconds: number): void {
  const { durationSeconds } = read()
  if (durationSeconds === undefined) return
  const target = Math.min(Math.max(seconds, 0), durationSeconds)
  video.currentTime = target
  report({ type: 'moved', seconds: target })
}

/** Plays from a moment that the visitor chose in a text, and shows the video. */
export function playFrom(playback: Playback, seconds: number): void {
  seekTo(playback, seconds)
  play(playback.video)
  playback.video.scrollIntoView({ block: 'nearest' })
}

/** Plays what was listed last of a growing session. */
export function jumpToLive(playback: Playback): void {
  const { liveEdgeSeconds } = playback.read()
  if (liveEdgeSeconds === undefined) return
  seekTo(playback, liveEdgeSeconds - EDGE_MARGIN_SECONDS)
  play(playback.video)
}

/** Sets the speed, also for sources that the element gets later. */
export function setRate(video: HTMLVideoElement, rate: number): void {
  video.defaultPlaybackRate = rate
  video.playbackRate = rate
}

/** The next speed on offer in this direction; the last one stays. */
export function nextRate(rate: number, direction: 'faster' | 'slower'): number {
  const next =
    direction === 'faster'
      ? RATES.find((other) => other > rate)
      : RATES.findLast((other) => other < rate)
  return next ?? rate
}

/** Starts playback, unless the browser blocks it. */
export function play(video: HTMLVideoElement): void {
  // If it is blocked, the visitor has the controls.
  void video.play().catch(() => undefined)
}

function toggleFullscreen(video: HTMLVideoElement): void {
  // iPhones have no fullscreen of pages, and an embedding page may forbid it.
  if (!document.fullscreenEnabled) return
  const change = document.fullscreenElement ? document.exitFullscreen() : video.requestFullscreen()
  void change.catch(() => undefined)
}
